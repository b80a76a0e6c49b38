import Basics
import XCTest

@testable import Nostr

/// NIP-42 as far as it costs no privacy: a key of its own for every answer (chapter 05 §5.2).
final class RelayAuthenticationTests: XCTestCase {
    private let a = ClientHarness.relayA

    private func subscribed() -> ClientHarness {
        let harness = ClientHarness(defaults: [a])
        harness.open(a)
        harness.subscribe("s", to: a)
        _ = harness.takeSent()
        return harness
    }

    /// The event of a sent AUTH.
    private func authentication(_ text: String?) throws -> NostrEvent {
        let text = try XCTUnwrap(text)
        XCTAssertTrue(text.hasPrefix("[\"AUTH\","), text)
        return try NostrEvent(json: Array(text.utf8.dropFirst(8).dropLast()))
    }

    func testAChallengeIsAnsweredOnlyOnceSomethingWasRefusedForItAndByAFreshKey() throws {
        let harness = subscribed()
        harness.say("[\"AUTH\",\"one\"]", from: a)
        XCTAssertEqual(harness.takeSent(), [], "nothing asked for it yet")
        harness.say("[\"CLOSED\",\"s\",\"auth-required: please\"]", from: a)
        let first = try authentication(harness.takeSent().first)
        XCTAssertEqual(first.kind, 22_242)
        XCTAssertEqual(first.tags, [["relay", "wss://a.example.com"], ["challenge", "one"]])
        XCTAssertNotNil(VerifiedEvent(verifying: first))
        XCTAssertNotEqual(first.pubkey, harness.key.publicKey.hex)

        harness.say("[\"AUTH\",\"two\"]", from: a)
        XCTAssertEqual(harness.takeSent(), [], "once per connection")
        harness.fail(a, .closedByRelay)
        _ = harness.advanceToDial(a)
        harness.open(a)
        _ = harness.takeSent()
        harness.say("[\"AUTH\",\"three\"]", from: a)
        let second = try authentication(harness.takeSent().first)
        XCTAssertEqual(second.tags.last, ["challenge", "three"])
        XCTAssertNotEqual(second.pubkey, first.pubkey)
    }

    func testWhatWasRefusedIsAskedForAgainAtOnceWhenTheRelayIsContent() throws {
        let harness = subscribed()
        harness.say("[\"CLOSED\",\"s\",\"auth-required: please\"]", from: a)
        XCTAssertEqual(harness.takeSent(), [], "there is no challenge yet")
        harness.say("[\"AUTH\",\"one\"]", from: a)
        let event = try authentication(harness.takeSent().first)
        harness.say("[\"OK\",\"\(event.id)\",true,\"\"]", from: a)
        XCTAssertTrue(harness.takeSent().first?.hasPrefix("[\"REQ\",\"s\"") ?? false)
        XCTAssertTrue(harness.status(a)?.isAuthenticated ?? false)
        XCTAssertEqual(harness.client.answers.total, 0, "this is no answer to a publication")
    }

    func testARelayThatRefusesTheKeyIsAskedAgainAsOthersAre() throws {
        let harness = subscribed()
        harness.say("[\"AUTH\",\"one\"]", from: a)
        harness.say("[\"CLOSED\",\"s\",\"auth-required: please\"]", from: a)
        let event = try authentication(harness.takeSent().first)
        harness.say("[\"OK\",\"\(event.id)\",false,\"restricted: not you\"]", from: a)
        harness.say("[\"OK\",\"\(event.id)\",false,\"auth-required: not you\"]", from: a)
        XCTAssertEqual(harness.takeSent(), [])
        XCTAssertFalse(harness.status(a)?.isAuthenticated ?? true)
        XCTAssertEqual(harness.status(a)?.subscriptions.first?.lastRefusal, .authRequired)
        harness.advance(.seconds(59))
        XCTAssertEqual(harness.takeSent(), [])
        harness.advance(.seconds(1))
        XCTAssertEqual(harness.takeSent().count, 1)
    }

    func testARefusedPublicationAsksForItToo() throws {
        let harness = subscribed()
        let event = harness.event()
        harness.perform { $0.publish(event, to: [self.a], at: $1) }
        harness.say("[\"AUTH\",\"one\"]", from: a)
        _ = harness.takeSent()
        harness.answer(event, false, "auth-required: who are you", from: a)
        XCTAssertNoThrow(try authentication(harness.takeSent().first))
    }

    func testOverlongChallengesAreNotAnswered() {
        let harness = subscribed()
        harness.say("[\"CLOSED\",\"s\",\"auth-required: please\"]", from: a)
        harness.say("[\"AUTH\",\"\(String(repeating: "c", count: 257))\"]", from: a)
        harness.say("[\"AUTH\",1]", from: a)
        XCTAssertEqual(harness.takeSent(), [])
        XCTAssertEqual(harness.client.drops[.authIgnored], 2)
    }
}
