import Basics
import Nostr
import Wire
import XCTest

@testable import Gateway

/// The operator's own words and screen: chapter 06 §3.6, §3.7, §4.6, chapter 05 §8.
final class OperatorTests: XCTestCase {
    private func event(of carrier: NostrCarrier) throws -> VerifiedEvent {
        try XCTUnwrap(VerifiedEvent(verifying: NostrEvent(json: carrier.event)))
    }

    // MARK: Location channels

    func testChannelMessageGoesToTheGatewayPeerWhileNoRelayIsConnected() throws {
        let rig = Rig(.console(), relays: false)
        let outcome = rig.gateway.say(
            " hello ", inChannel: "u4pruy", nickname: "ann", isTeleported: true, gateway: .bob, at: rig.now)
        rig.drain()
        XCTAssertEqual(outcome, .deposited)
        XCTAssertEqual(rig.deposited.map(\.to), [.bob])
        let carrier = try XCTUnwrap(rig.deposited.first?.carrier)
        XCTAssertEqual(carrier.direction, .toGateway)
        XCTAssertEqual(carrier.geohash, "u4pruy")
        let event = try event(of: carrier)
        XCTAssertEqual(event.author.hex, "c4607abb02b2f7fb2b775f7137fde98182397684ca00c993793f574178977c66")
        XCTAssertEqual(event.event.content, "hello")
        XCTAssertEqual(Array(event.event.tags.prefix(3)), [["g", "u4pruy"], ["n", "ann"], ["t", "teleport"]])
        XCTAssertEqual(event.proofOfWork, 8)
        XCTAssertEqual(rig.published.map(\.event), [event], "and waits for the relays as well")
        let gateway = Rig()
        gateway.receive(carrier, addressedToUs: true, from: .us)
        XCTAssertEqual(gateway.published.map(\.event), [event], "a gateway accepts it")
    }

    func testConnectedRelayNeedsNoGatewayPeer() {
        let rig = Rig(.console())
        XCTAssertEqual(
            rig.gateway.say("hi", inChannel: "u4pru", nickname: nil, gateway: .bob, at: rig.now), .published)
        rig.drain()
        XCTAssertEqual(rig.published.count, 1)
        XCTAssertTrue(rig.deposited.isEmpty)
    }

    func testNothingIsSaidWithoutTextPlaceOrIdentity() {
        let rig = Rig(.console(), relays: false)
        let long = String(repeating: "a", count: 16_001)
        for (text, geohash) in [(" \u{200b}\n", "u4pru"), ("hi", "U4PRU"), ("hi", ""), (long, "u4pru")] {
            XCTAssertEqual(
                rig.gateway.say(text, inChannel: geohash, nickname: nil, gateway: .bob, at: rig.now), .invalid)
        }
        XCTAssertEqual(rig.gateway.say("hi", inChannel: "u4pru", nickname: nil, gateway: nil, at: rig.now), .noWayOut)
        let mute = Rig(.console(), seed: nil)
        XCTAssertEqual(mute.gateway.say("hi", inChannel: "u4pru", nickname: nil, gateway: .bob, at: mute.now), .invalid)
    }

    func testOwnMessageIsNotShownAgainWhenItComesBack() throws {
        let rig = Rig(.console(), relays: false)
        rig.gateway.view("u4pru", at: rig.now)
        _ = rig.gateway.say("hi", inChannel: "u4pru", nickname: nil, gateway: .bob, at: rig.now)
        rig.drain()
        let own = try event(of: XCTUnwrap(rig.deposited.first?.carrier))
        rig.receive(own.carrier(.fromGateway, "u4pru"))
        rig.relay(own)
        XCTAssertTrue(rig.shown.isEmpty)
    }

    func testAGatewaysOwnMessageIsToldToItsIsland() throws {
        let rig = Rig()
        _ = rig.gateway.say("hi", inChannel: "u4pru", nickname: nil, gateway: nil, at: rig.now)
        rig.drain()
        rig.relay(try XCTUnwrap(rig.published.first?.event))
        rig.run(.seconds(10))
        XCTAssertEqual(rig.broadcasts.map(\.direction), [.fromGateway])
    }

    /// Only the viewed channel is shown and only once over both paths.
    func testCarriedEventInjectedOnceOverTwoPaths() throws {
        let rig = Rig(.console())
        rig.gateway.view("u4pru", at: rig.now)
        rig.drain()
        XCTAssertEqual(rig.subscribed.map(\.id), ["geo-u4pru"])
        let event = try Author(1).channelMessage("seen")
        rig.receive(event.carrier(.fromGateway, "u4pru"))
        rig.relay(event)
        let other = try Author(1).channelMessage("relay first")
        rig.relay(other)
        rig.receive(other.carrier(.fromGateway, "u4pru"))
        rig.relay(other)
        rig.receive(try Author(1).channelMessage("elsewhere", in: "9q8yy").carrier(.fromGateway, "9q8yy"))
        XCTAssertEqual(rig.shown.map(\.text), ["seen", "relay first"])
        XCTAssertEqual(rig.shown.first?.displayName, "zed#\(event.author.hex.suffix(4))")
        rig.gateway.view(nil, at: rig.now)
        rig.drain()
        XCTAssertEqual(rig.unsubscribed, ["geo-u4pru"])
        rig.run(.seconds(60))
        XCTAssertTrue(rig.broadcasts.isEmpty, "a console carries nothing")
    }

    func testAConsoleAdvertisesNothingAndAcceptsNoDeposits() throws {
        let rig = Rig(.console(cell: RendezvousCell("u4pruy")))
        rig.deposit(try Author(1).channelMessage())
        rig.bridgeDeposit(try Author(1).bridgeMessage())
        rig.run(.minutes(10))
        XCTAssertTrue(rig.advertised.isEmpty && rig.published.isEmpty && rig.subscribed.isEmpty)
    }

    // MARK: Bridge

    /// Own radio message goes to the bridge peer while no relay is connected.
    func testOfflineToBridge() throws {
        let rig = Rig(.console(cell: RendezvousCell("u4pruy")), relays: false)
        let radioTime = WallTime(milliseconds: UInt64(Clock.start) * 1_000 + 123)
        let outcome = rig.gateway.bridgeOwnMessage(
            "hello mesh", sender: .us, radioTime: radioTime, nickname: "alice", bridgePeer: .bob, at: rig.now)
        rig.drain()
        XCTAssertEqual(outcome, .deposited)
        XCTAssertEqual(rig.deposited.map(\.carrier.direction), [.toBridge])
        let event = try event(of: XCTUnwrap(rig.deposited.first?.carrier))
        XCTAssertEqual(event.author.hex, "94ea4d35fb35a3487b07f4465f77e902411be809d0960ce104b1ad1b98412f2d")
        XCTAssertNil(event.event.tags.first { $0.first == "nonce" }, "bridge events are not mined")
        XCTAssertTrue(rig.published.isEmpty, "own bridged copies are not queued")
        rig.receive(event.carrier(.fromBridge, "u4pruy"))
        XCTAssertTrue(rig.shown.isEmpty)

        rig.setRelays(true)
        XCTAssertEqual(
            rig.gateway.bridgeOwnMessage(
                "again", sender: .us, radioTime: radioTime, nickname: nil, bridgePeer: .bob, at: rig.now),
            .published)
        rig.drain()
        XCTAssertEqual(rig.published.map(\.geohash), ["u4pruy"])
        XCTAssertEqual(rig.deposited.count, 1)
    }

    func testM1UniquePerMessage() throws {
        let rig = Rig(.console(cell: RendezvousCell("u4pruy")))
        for (index, text) in ["one", "two", "one"].enumerated() {
            let time = WallTime(milliseconds: UInt64(Clock.start) * 1_000 + UInt64(index))
            _ = rig.gateway.bridgeOwnMessage(
                text, sender: .us, radioTime: time, nickname: nil, bridgePeer: nil, at: rig.now)
        }
        rig.drain()
        let ids = rig.published.compactMap { $0.event.event.tags.first { $0.first == "m" } }.map { $0[1] }
        XCTAssertEqual(ids.count, 3)
        XCTAssertEqual(Set(ids).count, 3)
        XCTAssertTrue(ids.allSatisfy { $0.count == 32 })
    }

    func testOwnBridgedCopyIsLostWithoutAWayAndRefusedWithoutACell() {
        let rig = Rig(.console(cell: RendezvousCell("u4pruy")), relays: false)
        XCTAssertEqual(bridge("hi", rig), .noWayOut)
        XCTAssertEqual(bridge(String(repeating: "a", count: 16_001), rig), .invalid)
        XCTAssertEqual(bridge("hi", Rig(.console(), relays: false)), .invalid)
    }

    private func bridge(_ text: String, _ rig: Rig) -> SpeechOutcome {
        rig.gateway.bridgeOwnMessage(
            text, sender: .us, radioTime: rig.now.wall, nickname: nil, bridgePeer: nil, at: rig.now)
    }

    // MARK: Screen

    func testOneSenderMayFillFiveLinesAndProvenWorkSparesIt() throws {
        let author = try Author(1)
        var display = MessageDisplay()
        let now = Clock.now()
        let shown = (0..<10).compactMap {
            display.channelMessage(author.channelMessage("text \($0)"), geohash: "u4pru", at: now)
        }
        XCTAssertEqual(shown.count, 5)
        var limits = DisplayBuckets()
        let admitted = (0..<10).filter {
            limits.admit(sender: "s", text: "\($0)", provenWork: 8, at: now.monotonic)
        }
        XCTAssertEqual(admitted.count, 10)
    }

    func testOneTextMayBeShownThreeTimesWhoeverSaysIt() {
        var limits = DisplayBuckets()
        let now = Instant(nanoseconds: 0)
        let texts = ["Buy  now https://a.example/x?1", "buy now https://a.example/x#2", "BUY NOW\thttps://a.example/x"]
        let admitted = (0..<9).filter {
            limits.admit(sender: "s\($0)", text: texts[$0 % 3], provenWork: 0, at: now)
        }
        XCTAssertEqual(admitted, [0, 1, 2])
        XCTAssertTrue(limits.admit(sender: "late", text: texts[0], provenWork: 0, at: now + .seconds(2)))
    }

    /// What strangers write does not lie in memory for the sake of the limit.
    func testContentsAreKnownByAHashOfFixedSize() {
        let marks = "words " + String(repeating: "\u{301}", count: 100_000)
        for text in ["", "words", marks] { XCTAssertEqual(ContentKey.name(of: text).utf8.count, 32) }
        XCTAssertEqual(ContentKey.name(of: "Some  Words"), ContentKey.name(of: "some words"))
        XCTAssertNotEqual(ContentKey.name(of: "some words"), ContentKey.name(of: "words"))
        XCTAssertFalse(ContentKey.name(of: "words").contains("words"))
    }

    func testDisplayBucketsAreBounded() {
        var table = DisplayBuckets.table(1, perSecond: 1)
        for index in 0..<5_000 {
            XCTAssertTrue(table.take("\(index)", at: Instant(nanoseconds: Int64(index))))
            XCTAssertLessThanOrEqual(table.count, GatewayLimits.displayBuckets)
        }
        XCTAssertTrue(table.take("new", at: Instant(nanoseconds: 0) + .minutes(11)))
        XCTAssertEqual(table.count, 1, "idle ones go first")
    }

    func testTextAndNameAreCutToBounds() throws {
        let author = try Author(1)
        var display = MessageDisplay()
        let now = Clock.now()
        XCTAssertNil(display.channelMessage(author.channelMessage(" \n"), geohash: "u4pru", at: now))
        let long = String(repeating: "a", count: 16_001)
        XCTAssertNil(display.channelMessage(author.channelMessage(long), geohash: "u4pru", at: now))
        let nickname = "\u{1b}[31m" + String(repeating: "n", count: 300)
        let event = author.event(tags: [["g", "u4pru"], ["n", nickname]], "hi", at: Clock.start + 500)
        let message = try XCTUnwrap(display.channelMessage(event, geohash: "u4pru", at: now))
        XCTAssertEqual(message.nickname?.count, 50)
        XCTAssertEqual(message.nickname?.hasPrefix("[31mnnn"), true)
        XCTAssertEqual(message.time, Clock.start, "never in the future")
        let blank = author.event(tags: [["g", "u4pru"], ["n", " \u{7} "]], "hi")
        XCTAssertEqual(
            display.channelMessage(blank, geohash: "u4pru", at: now)?.displayName,
            "anon#\(blank.author.hex.suffix(4))")
    }
}
