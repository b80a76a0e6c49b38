import Basics
import Nostr
import Wire
import XCTest

@testable import Gateway

/// Chapter 06 §3.8: what keeps an island, a gateway and the relays from feeding each other.
final class LoopRuleTests: XCTestCase {
    // MARK: Rule 1: learned from a verified broadcast

    /// Heard broadcast is never published queued rebroadcast or uplinked again.
    func testMeshCarriedNeverPublishedRebroadcastReUplinked() throws {
        for isOnline in [true, false] {
            let rig = Rig(.reference(echo: true), relays: isOnline)
            let event = try Author(1).channelMessage()
            rig.receive(event.carrier(.fromGateway, "u4pru"))
            rig.deposit(event)
            rig.relay(event)
            rig.run(.seconds(5))
            rig.setRelays(true)
            rig.run(.seconds(120))
            XCTAssertTrue(rig.published.isEmpty)
            XCTAssertTrue(rig.broadcasts.isEmpty)
            XCTAssertEqual(rig.counters.channelDeposits[.repeated], 1)
            XCTAssertEqual(rig.counters.channelDownlinks[.repeated], 1)
        }
    }

    func testDepositHeardOnTheMeshWhileItWaitedIsNotPublished() throws {
        let rig = Rig(relays: false)
        let event = try Author(1).channelMessage()
        rig.deposit(event)
        rig.receive(event.carrier(.fromGateway, "u4pru"))
        rig.setRelays(true)
        XCTAssertTrue(rig.published.isEmpty)
        XCTAssertEqual(rig.counters.channelDeposits[.repeated], 1)
    }

    func testOwnMessageHeardOnTheMeshIsNotDepositedByUs() throws {
        let rig = Rig(.console(), relays: false)
        let outcome = rig.gateway.say("hi", inChannel: "u4pru", nickname: nil, gateway: .bob, at: rig.now)
        rig.drain()
        XCTAssertEqual(outcome, .deposited)
        let carrier = try XCTUnwrap(rig.deposited.first?.carrier)
        let event = try XCTUnwrap(VerifiedEvent(verifying: NostrEvent(json: carrier.event)))
        rig.receive(event.carrier(.fromGateway, "u4pru"))
        rig.run(.seconds(10))
        XCTAssertEqual(rig.deposited.count, 1)
        XCTAssertTrue(rig.broadcasts.isEmpty)
    }

    // MARK: Rule 2: once each way

    /// Deposit is published once whatever the depositors.
    func testRepeatDepositOnce() throws {
        let rig = Rig()
        let event = try Author(1).channelMessage()
        for depositor in [PeerID.alice, .bob, .alice] { rig.deposit(event, from: depositor) }
        XCTAssertEqual(rig.published.count, 1)
        XCTAssertEqual(rig.counters.channelDeposits[.repeated], 2)
    }

    func testQueuedDepositIsQueuedOnce() throws {
        let rig = Rig(relays: false)
        let event = try Author(1).channelMessage()
        rig.deposit(event)
        rig.deposit(event, from: .bob)
        rig.setRelays(true)
        rig.setRelays(true)
        XCTAssertEqual(rig.published.count, 1)
    }

    func testFlushedDepositIsNotDownlinkedWhenTheRelayReturnsIt() throws {
        let rig = Rig(relays: false)
        let event = try Author(1).channelMessage()
        rig.deposit(event)
        rig.setRelays(true)
        rig.relay(event)
        rig.deposit(event)
        rig.run(.seconds(10))
        XCTAssertEqual(rig.published.count, 1)
        XCTAssertTrue(rig.broadcasts.isEmpty)
    }

    func testDepositThatWasDownlinkedBeforeIsNotEchoed() throws {
        let rig = Rig(.reference(echo: true))
        let event = try Author(1).channelMessage()
        rig.relay(event)
        rig.run(.seconds(2))
        rig.deposit(event)
        rig.run(.seconds(10))
        XCTAssertEqual(rig.broadcasts.count, 1)
        XCTAssertEqual(rig.published.count, 1)
    }

    /// Relay event is broadcast once.
    func testRelayEventRebroadcastOnce() throws {
        let rig = Rig()
        let event = try Author(1).channelMessage()
        rig.relay(event)
        rig.relay(event)
        rig.run(.seconds(2))
        rig.relay(event)
        rig.run(.seconds(120))
        XCTAssertEqual(rig.broadcasts.count, 1)
        XCTAssertEqual(rig.counters.channelDownlinks[.repeated], 2)
    }

    func testRelayEventIsMarkedOnlyAfterItWasSent() throws {
        let rig = Rig()
        let event = try Author(1).channelMessage()
        rig.relay(event)
        rig.gateway.stop(at: rig.now)
        rig.gateway.start(at: rig.now)
        rig.relay(event)
        rig.run(.seconds(2))
        XCTAssertEqual(rig.broadcasts.count, 1, "the one that switching off cleared was not marked")
    }

    /// Uplinked event is never downlinked.
    func testUplinkedEventNotEchoed() throws {
        let rig = Rig()
        let event = try Author(1).channelMessage()
        rig.deposit(event)
        rig.relay(event)
        rig.run(.seconds(120))
        XCTAssertTrue(rig.broadcasts.isEmpty)
    }

    /// Its tags make the same event eligible for both services.
    func testWhatOneServiceUplinkedTheOtherDoesNotDownlink() throws {
        for isBridged in [false, true] {
            let rig = Rig()
            let event = try Author(1).event(tags: [["g", "u4pru"], ["r", "u4pruy"]])
            if isBridged { rig.bridgeDeposit(event) } else { rig.deposit(event) }
            rig.relay(event)
            rig.relayBridge(event)
            rig.run(.seconds(120))
            XCTAssertEqual(rig.published.count, 1)
            XCTAssertTrue(rig.broadcasts.isEmpty)
            XCTAssertEqual(rig.counters.channelDownlinks[.repeated], 1)
            XCTAssertEqual(rig.counters.bridgeDownlinks[.repeated], 1)
        }
    }

    func testEventUplinkedWhileItsRelayCopyIsHeldIsNotDownlinked() throws {
        let rig = Rig()
        let event = try Author(1).channelMessage()
        rig.relay(event)
        rig.deposit(event)
        rig.run(.seconds(120))
        XCTAssertTrue(rig.broadcasts.isEmpty)
        XCTAssertEqual(rig.counters.channelDownlinks[.repeated], 1)
    }

    /// Bridge deposit is never downlinked.
    func testDepositedEventNeverDownlinked() throws {
        let rig = Rig()
        let event = try Author(1).bridgeMessage()
        rig.bridgeDeposit(event)
        rig.relayBridge(event)
        rig.run(.seconds(120))
        XCTAssertEqual(rig.published.count, 1)
        XCTAssertTrue(rig.broadcasts.isEmpty && rig.shown.isEmpty)
    }

    func testDepositOfAnEarlierRunIsNotDownlinked() throws {
        let before = Rig()
        let channel = try Author(1).channelMessage()
        let bridge = try Author(1).bridgeMessage()
        before.deposit(channel)
        before.bridgeDeposit(bridge)
        let rig = Rig(start: false)
        rig.gateway.remember(published: before.published.map(\.event.id))
        rig.gateway.setClockTrusted(true, at: rig.now)
        rig.gateway.start(at: rig.now)
        rig.relay(channel)
        rig.relayBridge(bridge)
        rig.run(.seconds(10))
        XCTAssertTrue(rig.broadcasts.isEmpty && rig.shown.isEmpty)
    }

    // MARK: Rule 3: only fresh words go up

    func testNothingThatCameDownGoesUp() throws {
        let rig = Rig(.reference(echo: true))
        rig.gateway.view("u4pru", at: rig.now)
        rig.relay(try Author(1).channelMessage("down"))
        rig.receive(try Author(2).channelMessage("heard").carrier(.fromGateway, "u4pru"))
        rig.receive(try Author(3).bridgeMessage("across").carrier(.fromBridge, "u4pruy"))
        rig.relayBridge(try Author(4).bridgeMessage("from afar"))
        rig.run(.seconds(300))
        XCTAssertTrue(rig.published.isEmpty && rig.deposited.isEmpty)
    }

    /// Chapter 06 §4.1: the gateway learns of a plain radio message by its ID alone, and does nothing with it but
    /// keep quiet.
    func testPlainRadioMessageIsNeverPublished() {
        let rig = Rig(.reference(echo: true))
        for index in 0..<100 {
            let time = WallTime(milliseconds: UInt64(Clock.start) * 1_000 + UInt64(index))
            rig.radioSeen(StableMessageID.make(sender: .alice, timestamp: time, content: "only for this room"))
        }
        rig.run(.seconds(600))
        XCTAssertTrue(rig.published.isEmpty && rig.broadcasts.isEmpty && rig.deposited.isEmpty && rig.shown.isEmpty)
    }

    // MARK: Verify before mark

    /// Forged copy with genuine id poisons nothing.
    func testForgedBroadcastDoesNotPoison() throws {
        let rig = Rig()
        let event = try Author(1).channelMessage()
        rig.receive(NostrCarrier(.fromGateway, "u4pru", event.forged))
        XCTAssertEqual(rig.counters.channelBroadcasts[.forged], 1)
        rig.receive(NostrCarrier(.toGateway, "u4pru", event.forged), addressedToUs: true, from: .bob)
        XCTAssertEqual(rig.counters.channelDeposits[.forged], 1)
        rig.relay(event)
        rig.run(.seconds(2))
        XCTAssertEqual(rig.broadcasts.count, 1)

        let other = try Author(1).channelMessage("another")
        rig.receive(NostrCarrier(.fromGateway, "u4pru", other.forged))
        rig.deposit(other)
        XCTAssertEqual(rig.published.map(\.event), [other])
    }

    /// Forged bridge copy with genuine id poisons nothing.
    func testTamperedRefused() throws {
        let rig = Rig()
        let event = try Author(1).bridgeMessage()
        rig.receive(NostrCarrier(.fromBridge, "u4pruy", event.forged))
        rig.receive(NostrCarrier(.toBridge, "u4pruy", event.forged), addressedToUs: true, from: .bob)
        XCTAssertEqual(rig.counters.bridgeBroadcasts[.forged], 1)
        XCTAssertEqual(rig.counters.bridgeDeposits[.forged], 1)
        rig.relayBridge(event)
        rig.run(.seconds(2))
        XCTAssertEqual(rig.broadcasts.count, 1)
        XCTAssertEqual(rig.shown.map(\.id), [event.id])
    }
}
