import Basics
import Crypto
import Nostr
import Wire
import XCTest

@testable import Gateway

/// Chapter 06 §4.8, §4.11, §4.12.
final class BridgeTests: XCTestCase {
    private let radioTime = WallTime(milliseconds: UInt64(Clock.start) * 1_000 + 123)

    // MARK: Relay ingress

    /// Remote message is shown counted and downlinked.
    func testRemoteMessageInjectedAndAfterJitterDownlinked() throws {
        let rig = Rig()
        let event = try Author(1).bridgeMessage("hello")
        rig.relayBridge(event)
        XCTAssertEqual(rig.shown.map(\.text), ["hello"])
        XCTAssertEqual(rig.shown.map(\.origin), [.bridge(cell: "u4pruy")])
        XCTAssertEqual(rig.status.participants.map(\.nickname), ["zed"])
        rig.run(.seconds(2))
        XCTAssertEqual(rig.broadcasts, [event.carrier(.fromBridge, "u4pruy")])
    }

    /// Own event is ignored even after a restart.
    func testOwnEventIgnoredInclAfterRestart() throws {
        let key = try XCTUnwrap(Rig.seed).bridge(cell: "u4pruy")
        var random = SeededRandom(seed: 1)
        let event = try XCTUnwrap(
            VerifiedEvent.signed(
                kind: 20_000, tags: [["r", "u4pruy"]], content: "mine", createdAt: Clock.start, key: key,
                using: &random))
        let rig = Rig()
        rig.relayBridge(event)
        rig.receive(event.carrier(.fromBridge, "u4pruy"))
        rig.run(.seconds(10))
        XCTAssertTrue(rig.shown.isEmpty && rig.broadcasts.isEmpty && rig.status.participants.isEmpty)
        XCTAssertEqual(rig.counters.bridgeDownlinks[.ownEvent], 1)
        XCTAssertEqual(rig.counters.bridgeBroadcasts[.repeated], 1)

        // What this run says itself, and what a run before said, whose random numbers were others.
        let before = Rig(.console(cell: RendezvousCell("u4pruy")))
        _ = before.gateway.bridgeOwnMessage(
            "said", sender: .us, radioTime: radioTime, nickname: "us", bridgePeer: nil, at: before.now)
        before.drain()
        let said = try XCTUnwrap(before.published.first?.event)
        for rig in [before, Rig(random: 99)] {
            rig.relayBridge(said)
            rig.run(.seconds(10))
            XCTAssertTrue(rig.shown.isEmpty && rig.broadcasts.isEmpty && rig.status.participants.isEmpty)
        }
        let stranger = Rig(seed: DeviceSeed([UInt8](repeating: 7, count: 32)))
        stranger.relayBridge(said)
        XCTAssertEqual(stranger.shown.count, 1, "whoever has another seed shows it")
    }

    /// Only the first cell tag decides the cell.
    func testNeighbourCellAcceptedOutOfRingRefused() throws {
        let author = try Author(1)
        let rig = Rig()
        rig.relayBridge(author.event(tags: [["r", "zzzzzz"], ["r", "u4pruy"]], "outside"))
        rig.relayBridge(author.event(tags: [["r"], ["r", "u4pruy"]], "no value"))
        rig.relayBridge(author.event(tags: [["r", "u4prvn"], ["r", "zzzzzz"]], "neighbour"))
        XCTAssertEqual(rig.shown.map(\.origin), [.bridge(cell: "u4prvn")])
        XCTAssertEqual(rig.counters.bridgeDownlinks[.outsideRing], 2)
    }

    /// Presence counts and is never downlinked.
    func testPresenceCounts() throws {
        let rig = Rig()
        rig.relayBridge(try Author(1).presence())
        rig.relayBridge(try Author(1).presence(at: Clock.start - 1))
        rig.relayBridge(try Author(1).bridgeMessage())
        XCTAssertEqual(rig.status.participants.count, 1, "one who says twice that he is there is one")
        rig.relayBridge(try Author(2).presence())
        rig.relayBridge(try Author(3).presence(at: Clock.start - 901))
        rig.relayBridge(try Author(4).presence(in: "9q8yyk"))
        rig.run(.seconds(60))
        XCTAssertEqual(rig.status.participants.count, 2)
        XCTAssertEqual(rig.shown.count, 1, "presence is not shown")
        XCTAssertEqual(rig.broadcasts.count, 1, "nor sent down")
        rig.run(.minutes(20))
        XCTAssertEqual(rig.status.participants.count, 0, "it ends by itself")
    }

    /// Repeated event is taken once.
    func testDuplicateOnce() throws {
        let rig = Rig()
        let event = try Author(1).bridgeMessage()
        for _ in 0..<5 { rig.relayBridge(event) }
        rig.receive(event.carrier(.fromBridge, "u4pruy"))
        XCTAssertEqual(rig.shown.count, 1)
        XCTAssertEqual(rig.counters.bridgeDownlinks[.repeated], 4)
        let other = try Author(2).bridgeMessage("other")
        rig.relayBridge(other)
        rig.run(.seconds(2))
        for _ in 0..<5 { rig.relayBridge(other) }
        rig.run(.minutes(2))
        XCTAssertEqual(rig.broadcasts, [other.carrier(.fromBridge, "u4pruy")], "each once on the air, whoever sends it")
        XCTAssertEqual(rig.shown.count, 2)
        XCTAssertEqual(rig.counters.bridgeDownlinks[.repeated], 9)
    }

    // MARK: Radio copies

    /// Bridged copy of a heard radio message is neither shown nor sent nor counted.
    func testRadioCopyPresentNeitherShownNorSentNorCounted() throws {
        let rig = Rig()
        let event = try Author(1).bridgeMessage("hi", radio: (.alice, radioTime))
        rig.radioSeen(StableMessageID.make(sender: .alice, timestamp: radioTime, content: " hi\u{200b}"))
        rig.relayBridge(event)
        rig.receive(event.carrier(.fromBridge, "u4pruy"))
        rig.run(.seconds(10))
        XCTAssertTrue(rig.shown.isEmpty && rig.broadcasts.isEmpty && rig.status.participants.isEmpty)
        XCTAssertEqual(rig.counters.bridgeDownlinks[.radioCopy], 1)
    }

    /// Later radio copy replaces the shown one and cancels the downlink.
    func testBridgeFirstThenRadioRowReplacedDownlinkCancelled() throws {
        let rig = Rig()
        let event = try Author(1).bridgeMessage("hi", radio: (.alice, radioTime))
        rig.relayBridge(event)
        XCTAssertEqual(rig.shown.map(\.id), [event.id])
        rig.radioSeen(StableMessageID.make(sender: .alice, timestamp: radioTime, content: "hi"))
        XCTAssertEqual(rig.retracted, [event.id])
        rig.run(.seconds(10))
        XCTAssertTrue(rig.broadcasts.isEmpty)
        XCTAssertEqual(rig.counters.bridgeDownlinks[.radioCopy], 1)
    }

    /// The coordinates are public: a stranger's event that claims them hides nothing but itself.
    /// Copied coordinates suppress nobody else.
    func testSpoofedCoordinatesDoNotSuppress() throws {
        let rig = Rig()
        let claimed = try Author(1).bridgeMessage("hi", radio: (.alice, radioTime))
        let genuine = try Author(2).bridgeMessage("hi", radio: (.alice, radioTime))
        rig.relayBridge(claimed)
        rig.relayBridge(genuine)
        XCTAssertEqual(rig.shown.map(\.id), [claimed.id, genuine.id])
        rig.run(.seconds(2))
        XCTAssertEqual(rig.broadcasts.count, 2)
        rig.radioSeen(StableMessageID.make(sender: .alice, timestamp: radioTime, content: "hi"))
        XCTAssertEqual(Set(rig.retracted), [claimed.id, genuine.id])
    }

    func testClaimedStableIDIsNeverTrusted() throws {
        let rig = Rig()
        let victim = StableMessageID.make(sender: .bob, timestamp: radioTime, content: "victim")
        rig.radioSeen(victim)
        let event = try Author(1).event(
            tags: [["r", "u4pruy"], ["m", victim, PeerID.alice.hex, "5"]], "another text")
        rig.relayBridge(event)
        XCTAssertEqual(rig.shown.count, 1)
        XCTAssertEqual(
            rig.shown.first?.radioHint,
            StableMessageID.make(sender: .alice, timestamp: WallTime(milliseconds: 5), content: "another text"))
    }

    func testLegacyMAccepted() throws {
        let rig = Rig()
        let event = try Author(1).event(
            tags: [["r", "u4pruy"], ["m", "0B8E6F9C-6D3D-4C2A-9C1E-6B1E5D3F7A10"]], "old")
        rig.relayBridge(event)
        rig.run(.seconds(2))
        XCTAssertEqual(rig.shown.map(\.text), ["old"])
        XCTAssertEqual(rig.broadcasts.count, 1)
    }

    func testStaleRefused() throws {
        let rig = Rig()
        for time in [Clock.start - 901, Clock.start + 901] {
            rig.relayBridge(try Author(1).bridgeMessage("stale", at: time))
            rig.receive(try Author(2).bridgeMessage("stale", at: time).carrier(.fromBridge, "u4pruy"))
            rig.bridgeDeposit(try Author(3).bridgeMessage("stale", at: time))
        }
        rig.run(.seconds(2))
        XCTAssertTrue(rig.shown.isEmpty && rig.broadcasts.isEmpty && rig.published.isEmpty)
        XCTAssertEqual(rig.counters.bridgeDownlinks[.stale], 2)
        XCTAssertEqual(rig.counters.bridgeBroadcasts[.stale], 2)
        XCTAssertEqual(rig.counters.bridgeDeposits[.stale], 2)
        for time in [Clock.start - 898, Clock.start + 902] {
            rig.relayBridge(try Author(1).bridgeMessage("just in time", at: time))
        }
        XCTAssertEqual(rig.shown.count, 2)
    }

    func testDirectedFromBridgeDropped() throws {
        let rig = Rig()
        let event = try Author(1).bridgeMessage()
        rig.receive(event.carrier(.fromBridge, "u4pruy"), addressedToUs: true, from: .alice)
        XCTAssertTrue(rig.shown.isEmpty)
        XCTAssertEqual(rig.counters.bridgeBroadcasts[.misaddressed], 1)
        rig.receive(event.carrier(.fromBridge, "u4pruy"))
        XCTAssertEqual(rig.shown.count, 1, "no ID was marked")
    }

    func testHintTolerates() throws {
        let author = try Author(1)
        let expected = StableMessageID.make(sender: .alice, timestamp: WallTime(milliseconds: 7), content: "x")
        let cases: [([String], String?)] = [
            (["m", "", PeerID.alice.hex.uppercased(), "+007"], expected),
            (["m", "a", PeerID.alice.hex, "7", "more"], expected),
            (["m", "a", PeerID.alice.hex, " 7"], nil), (["m", "a", PeerID.alice.hex, "18446744073709551616"], nil),
            (["m", "a", "0x" + PeerID.alice.hex.dropFirst(2), "7"], nil), (["m", "2-element legacy"], nil),
        ]
        for (tag, hint) in cases {
            let event = author.event(tags: [["r", "u4pruy"], tag], "x")
            XCTAssertEqual(try RendezvousMessage(event.event).radioHint, hint, "\(tag)")
        }
    }

    func testRadioMessagesAreRememberedTwentyMinutes() {
        var memory = RadioMemory()
        let start = Instant(nanoseconds: 0)
        memory.insert("first", at: start)
        memory.insert("other", at: start + .minutes(20))
        XCTAssertTrue(memory.contains("first"))
        memory.insert("third", at: start + .minutes(20) + .milliseconds(1))
        XCTAssertFalse(memory.contains("first"))
        XCTAssertTrue(memory.contains("other"))
        XCTAssertEqual(memory.forgottenEarly, 0)
    }

    func testRadioMemoryHoldsFourThousandAndCountsWhatItForgetsEarly() {
        var memory = RadioMemory()
        let now = Instant(nanoseconds: 0)
        for index in 0..<(3 * GatewayLimits.radioMemory) { memory.insert("\(index)", at: now) }
        XCTAssertEqual(memory.count, 4_096)
        XCTAssertEqual(memory.forgottenEarly, 8_192)
        XCTAssertTrue(memory.contains("\(3 * GatewayLimits.radioMemory - 1)"))
        XCTAssertTrue(memory.contains("8192"))
        XCTAssertFalse(memory.contains("8191"))
    }

    // MARK: Mesh side

    func testBroadcastOfAnyCellIsShown() throws {
        let rig = Rig()
        rig.receive(try Author(1).bridgeMessage(in: "zzzzzz").carrier(.fromBridge, "zzzzzz"))
        XCTAssertEqual(rig.shown.map(\.origin), [.bridge(cell: "zzzzzz")])
        XCTAssertEqual(rig.status.participants.count, 1)
    }

    func testPendingCopyStandsDownEvenWhenTheBroadcastIsKnownOrOverLimit() throws {
        let rig = Rig()
        let event = try Author(1).bridgeMessage()
        rig.relayBridge(event)
        rig.receive(event.carrier(.fromBridge, "u4pruy"))
        rig.run(.seconds(10))
        XCTAssertTrue(rig.broadcasts.isEmpty)
        XCTAssertEqual(rig.counters.bridgeDownlinks[.heardMeanwhile], 1)
    }

    // MARK: Limits

    /// Inbound limits per key and in total.
    func testPerSigner120() throws {
        var limits = InboundRates()
        let keys = (0..<1_000).map {
            NostrPublicKey([UInt8](repeating: 0, count: 30) + [UInt8($0 / 256), UInt8($0 % 256)])
        }
        let now = Instant(nanoseconds: 0)
        let one = try XCTUnwrap(keys[0])
        XCTAssertEqual((0..<200).filter { _ in limits.admit(one, at: now) }.count, 120)
        XCTAssertEqual(keys[1...].compactMap { $0 }.filter { limits.admit($0, at: now) }.count, 480)
        XCTAssertLessThanOrEqual(limits.keys, GatewayLimits.inboundEvents)
        let later = now + .milliseconds(60_001)
        XCTAssertEqual(keys.compactMap { $0 }.filter { limits.admit($0, at: later) }.count, 600)
        XCTAssertLessThanOrEqual(limits.keys, GatewayLimits.inboundEvents + GatewayLimits.trackedKeys)

        let (loud, quiet) = (try Author(1), try Author(2))
        let rig = Rig()
        for index in 0..<150 { rig.relayBridge(loud.bridgeMessage("\(index)")) }
        XCTAssertEqual(rig.counters.bridgeDownlinks[.held], 120)
        XCTAssertEqual(rig.counters.bridgeDownlinks[.keyOrTotalLimit], 30)
        rig.relayBridge(quiet.bridgeMessage("heard all the same"))
        XCTAssertEqual(rig.counters.bridgeDownlinks[.held], 121)
        rig.run(.milliseconds(60_001))
        rig.relayBridge(loud.bridgeMessage("later"))
        XCTAssertEqual(rig.counters.bridgeDownlinks[.held], 122)
    }

    func testEventRefusedByLimitsStaysReceived() throws {
        let author = try Author(1)
        let rig = Rig()
        let events = (0..<121).map { author.event(kind: 20_001, tags: [["r", "u4pruy"], ["x", "\($0)"]], "") }
        for event in events { rig.relayBridge(event) }
        XCTAssertEqual(rig.counters.bridgeDownlinks[.keyOrTotalLimit], 1)
        rig.relayBridge(events[120])
        XCTAssertEqual(rig.counters.bridgeDownlinks[.repeated], 1)
    }

    /// Verifications are bounded and refill twelve a second.
    func test720VerificationAttemptsThenRefill() throws {
        let forged = try Author(1).bridgeMessage().forged
        let rig = Rig()
        for _ in 0..<721 { rig.receive(NostrCarrier(.fromBridge, "u4pruy", forged)) }
        XCTAssertEqual(rig.counters.bridgeBroadcasts[.forged], 720)
        XCTAssertEqual(rig.counters.bridgeBroadcasts[.verificationLimit], 1)
        rig.now = rig.now.advanced(by: .seconds(1))
        for _ in 0..<13 { rig.receive(NostrCarrier(.fromBridge, "u4pruy", forged)) }
        XCTAssertEqual(rig.counters.bridgeBroadcasts[.forged], 732)
        XCTAssertTrue(rig.status.participants.isEmpty)
    }

    func testRelayEventsTakeVerificationTokensToo() throws {
        let rig = Rig()
        let event = try Author(1).bridgeMessage()
        for _ in 0..<721 { rig.relayBridge(event) }
        XCTAssertEqual(rig.counters.bridgeDownlinks[.held], 1)
        XCTAssertEqual(rig.counters.bridgeDownlinks[.repeated], 719)
        XCTAssertEqual(rig.counters.bridgeDownlinks[.verificationLimit], 1)
    }

    func testSwitchingOffClearsTheInboundWindows() throws {
        let author = try Author(1)
        let rig = Rig()
        for index in 0..<121 {
            rig.relayBridge(author.event(kind: 20_001, tags: [["r", "u4pruy"], ["x", "\(index)"]], ""))
        }
        XCTAssertEqual(rig.counters.bridgeDownlinks[.keyOrTotalLimit], 1)
        rig.gateway.stop(at: rig.now)
        rig.gateway.start(at: rig.now)
        rig.relayBridge(author.presence())
        XCTAssertEqual(rig.status.participants.count, 1)
    }

    /// Participants are bounded fresh and keep their nickname.
    func test128ParticipantsCap() throws {
        var participants = Participants()
        let start = Instant(nanoseconds: 0)
        func key(_ number: Int) throws -> NostrPublicKey {
            try XCTUnwrap(NostrPublicKey([UInt8](repeating: 1, count: 31) + [UInt8(number)]))
        }
        for number in 0..<200 {
            participants.record(try key(number), nickname: "n\(number)", at: start + .seconds(number))
        }
        let now = start + .seconds(200)
        XCTAssertEqual(participants.list(at: now).count, 128)
        XCTAssertEqual(participants.list(at: now).first?.nickname, "n199")
        participants.record(try key(199), nickname: nil, at: now)
        XCTAssertEqual(participants.list(at: now).first?.nickname, "n199")
        XCTAssertEqual(participants.list(at: start + .seconds(800)).count, 1)
        participants.prune(at: start + .seconds(801))
        XCTAssertEqual(participants.list(at: start + .seconds(200)).count, 0)

        let rig = Rig()
        for number in 1...200 as ClosedRange<UInt8> { rig.relayBridge(try Author(number).presence()) }
        XCTAssertEqual(rig.status.participants.count, 128)
        rig.relayBridge(try Author(201).bridgeMessage("one more"))
        XCTAssertEqual(rig.status.participants.count, 128)
        XCTAssertEqual(rig.shown.map(\.text), ["one more"], "who is not counted is heard")
    }

    func testRowsToReplaceAreBounded() {
        var rows = ReplaceableRows()
        for index in 0..<2_000 {
            rows.add(EventID(hashing: [UInt8(index % 256), UInt8(index / 256)]), hint: "\(index)")
        }
        XCTAssertEqual(rows.count, 1_337)
        XCTAssertTrue(rows.take(hint: "0").isEmpty)
        XCTAssertEqual(rows.take(hint: "1999").count, 1)
        XCTAssertEqual(rows.count, 1_336)
    }
}
