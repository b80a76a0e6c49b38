import Basics
import XCTest

@testable import Nostr

/// Who has one of the places for relays, and for how long (chapter 05 §6.3, §6.4).
final class RelayPlacesTests: XCTestCase {
    private func relays(_ numbers: Range<Int>) -> [NostrRelayURL] {
        numbers.map { ClientHarness.url("wss://r\($0).example.com") }
    }

    func testWhatADeadRelayIsOwedIsForgottenOnceItIsTooOldAndTheRelayWithIt() {
        let harness = ClientHarness()
        let relay = relays(0..<1)[0]
        harness.perform { $0.publish(harness.event(), to: [relay], at: $1) }
        for _ in 0..<3 where harness.socket(relay) != nil {
            harness.fail(relay)
            harness.advance(.seconds(1))
        }
        harness.advance(.minutes(3))
        XCTAssertEqual(harness.client.queuedEvents, 0)
        XCTAssertEqual(harness.client.drops[.publicationTooOld], 1)
        if harness.socket(relay) != nil { harness.fail(relay) }
        harness.advance(.minutes(3))
        XCTAssertTrue(harness.client.relays(at: harness.now).isEmpty)
    }

    func testARelayThatIsConnectedStillGetsWhatItsPaceHeldBack() {
        let harness = ClientHarness()
        let live = relays(0..<1)[0]
        harness.perform { $0.publish(harness.event(), to: self.relays(0..<2), at: $1) }
        harness.open(live)
        XCTAssertEqual(harness.takeSent().count, 1)
        harness.advance(.minutes(3))
        XCTAssertEqual(harness.client.queuedEvents, 0)
    }

    func testDeadRelaysOfEarlierPublicationsGiveUpTheirPlaces() {
        let harness = ClientHarness(defaults: [ClientHarness.relayA])
        harness.open(ClientHarness.relayA)
        let many = relays(0..<NostrLimits.relays - 1)
        for relay in many {
            harness.perform { $0.publish(harness.event(), to: [relay], at: $1) }
            harness.advance(.milliseconds(100))
        }
        XCTAssertEqual(harness.client.relays(at: harness.now).count, NostrLimits.relays)
        harness.dials.removeAll()
        let honest = relays(100..<105)
        harness.perform { $0.publish(harness.event(), to: honest, at: $1) }
        XCTAssertEqual(harness.dials.map(\.relay), honest)
        let known = harness.client.relays(at: harness.now).map(\.url)
        XCTAssertEqual(known.count, NostrLimits.relays)
        XCTAssertTrue(known.contains(ClientHarness.relayA))
        XCTAssertTrue(Set(known).isDisjoint(with: many.prefix(5)), "those longest unused went")
        XCTAssertEqual(harness.client.drops[.publicationRelayRemoved], 5)
        XCTAssertEqual(harness.client.drops[.publicationWithoutRelay], 0)
    }

    func testASubscriptionTakesThePlacesOfRelaysThatOnlyEventsWaitFor() {
        let harness = ClientHarness()
        harness.perform { $0.publish(harness.event(), to: self.relays(0..<NostrLimits.relays), at: $1) }
        harness.advance(.seconds(1))
        harness.dials.removeAll()
        harness.subscribe("s", to: relays(100..<105)[0], relays(100..<105)[1])
        XCTAssertEqual(harness.dials.map(\.relay), Array(relays(100..<102)))
    }

    func testWhatSubscriptionsWantIsNeverDisplacedAndTheRefusalIsCounted() {
        let harness = ClientHarness()
        let wanted = relays(0..<NostrLimits.relays)
        harness.perform {
            $0.subscribe("s", NostrFilter(kinds: [20_000]), to: .listed(wanted), at: $1)
        }
        harness.advance(.seconds(1))
        harness.perform { $0.publish(harness.event(), to: self.relays(100..<101), at: $1) }
        XCTAssertEqual(harness.client.relays(at: harness.now).map(\.url), wanted)
        XCTAssertEqual(harness.client.drops[.relayWithoutPlace], 1)
        XCTAssertEqual(harness.client.drops[.publicationWithoutRelay], 1)
    }
}
