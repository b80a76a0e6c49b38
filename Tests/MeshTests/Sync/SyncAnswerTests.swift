import Basics
import Crypto
import Wire
import XCTest

@testable import Mesh

/// Chapter 04 §7.2, worked examples W5 and W8, traps T1, T3, T4, T6, T7.
final class SyncAnswerTests: XCTestCase {
    private let now = GossipSamples.now
    private let nothing = GCSFilter(parameter: 7, modulus: 1, data: [])

    private func answer(
        _ request: RequestSync, _ store: GossipStore, board: [GossipEntry] = [], policy: SyncAnswer.Policy = .gateway
    ) -> [GossipEntry] {
        SyncAnswer.entries(for: request, SyncInventory(store: store, board: board), policy: policy, at: now.wall)
    }

    private func fullStore() throws -> (GossipStore, [GossipEntry]) {
        var store = GossipStore(.reference)
        let bundle = try GossipSamples.bundle(owner: 3).payload
        for (index, type) in [MessageType.groupMessage, .prekeyBundle, .fileTransfer, .fragment, .message, .announce]
            .enumerated()
        {
            let payload =
                type == .prekeyBundle ? bundle : type == .fragment ? GossipSamples.fragment() : [UInt8(index)]
            XCTAssertEqual(
                store.insert(try GossipSamples.frame(type, age: 1_000, payload: payload), at: now), .stored)
        }
        return (store, [try GossipSamples.entry(GossipSamples.frame(.boardPost, age: 1_000))])
    }

    func testFamiliesComeInTheirFixedOrder() throws {
        let (store, board) = try fullStore()
        let all = SyncTypes(rawValue: 0x7ff)
        let answer = answer(RequestSync(filter: nothing, types: all), store, board: board)
        XCTAssertEqual(
            answer.map(\.type),
            [.announce, .message, .fragment, .fileTransfer, .groupMessage, .prekeyBundle, .boardPost])
    }

    func testTypesAbsentMeanAnnouncesAndMessagesAndTypesEmptyMeanNothing() throws {
        let (store, board) = try fullStore()
        XCTAssertEqual(
            answer(RequestSync(filter: nothing), store, board: board).map(\.type), [.announce, .message])
        XCTAssertTrue(answer(RequestSync(filter: nothing, types: []), store, board: board).isEmpty)
        let neverServed: SyncTypes = [.leave, .noiseHandshake, .noiseEncrypted, .requestSync]
        XCTAssertTrue(answer(RequestSync(filter: nothing, types: neverServed), store, board: board).isEmpty)
    }

    func testMessagesComeInOrderOfArrival() throws {
        var store = GossipStore()
        for number in 0..<5 {
            let age = Int64(number % 2 == 0 ? number : 100 - number)
            _ = store.insert(try GossipSamples.frame(age: age, payload: [UInt8(number)]), at: now)
        }
        let payloads = answer(RequestSync(filter: nothing, types: .message), store).compactMap { $0.frame.payload() }
        XCTAssertEqual(payloads, [[0], [1], [2], [3], [4]])
    }

    func testCursorSuppressesOlderPacketsButNeitherAnnouncesNorBundles() throws {
        let (store, board) = try fullStore()
        let since = WallTime(milliseconds: now.wall.milliseconds - 999)
        let all = SyncTypes(rawValue: 0x7ff)
        let later = answer(RequestSync(filter: nothing, types: all, since: since), store, board: board)
        XCTAssertEqual(later.map(\.type), [.announce, .prekeyBundle])
        let same = WallTime(milliseconds: now.wall.milliseconds - 1_000)
        XCTAssertEqual(
            answer(RequestSync(filter: nothing, types: all, since: same), store, board: board).count, 7)
    }

    func testNamedStreamsIgnoreTheCursor() throws {
        var store = GossipStore()
        for stream: UInt64 in 1...3 {
            _ = store.insert(
                try GossipSamples.frame(.fragment, age: 5_000, payload: GossipSamples.fragment(stream: stream)), at: now
            )
        }
        let text = FragmentFilter.text([FragmentStreamID(value: 2)])
        let request = RequestSync(filter: nothing, types: .fragment, since: now.wall, fragmentFilterText: text)
        XCTAssertEqual(answer(request, store).map(\.fragmentStream), [FragmentStreamID(value: 2)])
        let malformed = RequestSync(filter: nothing, types: .fragment, since: now.wall, fragmentFilterText: "what")
        XCTAssertTrue(answer(malformed, store).isEmpty, "an invalid list counts as absent")
    }

    func testFilterIsReadWithItsOwnParameters() throws {
        var store = GossipStore()
        let frame = try GossipSamples.frame()
        _ = store.insert(frame, at: now)
        let hash = GCSHash(try XCTUnwrap(frame.id))
        for parameter in [UInt8(5), 10, 32] {
            let (filter, _) = GCSFilter.build(newestFirst: [hash], budget: 128, parameter: parameter)
            XCTAssertTrue(answer(RequestSync(filter: filter, types: .message), store).isEmpty)
        }
        // Everything maps to bucket 1 of M = 2: P = 1, so the code word is "0" and a remainder of 0.
        let everything = GCSFilter(parameter: 1, modulus: 2, data: [0])
        XCTAssertTrue(answer(RequestSync(filter: everything, types: .message), store).isEmpty)
        let undecodable = GCSFilter(parameter: 1, modulus: 1_000, data: [0xff, 0xff])
        XCTAssertEqual(answer(RequestSync(filter: undecodable, types: .message), store).count, 1)
    }

    func testRequesterGetsItsOwnPacketsBack() throws {
        var store = GossipStore()
        let own = try GossipSamples.frame(sender: 0x77)
        _ = store.insert(own, at: now)
        XCTAssertEqual(answer(RequestSync(filter: nothing, types: .message), store).map(\.frame), [own])
    }

    // MARK: What is served less than the reference serves

    func testAnnounceOlderThanAMinuteIsNotServed() throws {
        var store = GossipStore(me: PeerID(value: 0xa1))
        _ = store.insert(try GossipSamples.frame(.announce, age: 0), at: now)
        let request = RequestSync(filter: nothing, types: .announce)
        let inventory = SyncInventory(store: store, board: [])
        let minute = now.advanced(by: .seconds(60)).wall
        XCTAssertEqual(SyncAnswer.entries(for: request, inventory, at: minute).count, 1)
        let beyond = now.advanced(by: .milliseconds(60_001)).wall
        XCTAssertEqual(SyncAnswer.entries(for: request, inventory, at: beyond).count, 0)
        XCTAssertEqual(SyncAnswer.entries(for: request, inventory, policy: .reference, at: beyond).count, 1)
    }

    func testFragmentsOlderThanTwoMinutesAreNotServed() throws {
        var store = GossipStore()
        for (stream, age) in [(UInt64(1), Int64(120_000)), (2, 120_001)] {
            _ = store.insert(
                try GossipSamples.frame(.fragment, age: age, payload: GossipSamples.fragment(stream: stream)), at: now)
        }
        let request = RequestSync(filter: nothing, types: .fragment)
        XCTAssertEqual(answer(request, store).map(\.fragmentStream), [FragmentStreamID(value: 1)])
        XCTAssertEqual(answer(request, store, policy: .reference).count, 2)
    }

    func testRequesterWithoutTypesGetsMessagesOnlyOfAuthorsItIsToldOf() throws {
        var store = GossipStore()
        _ = store.insert(try GossipSamples.frame(.announce, sender: 1), at: now)
        for sender: UInt64 in [1, 2] {
            _ = store.insert(try GossipSamples.frame(sender: sender, payload: [UInt8(sender)]), at: now)
        }
        let android = answer(RequestSync(filter: nothing), store)
        XCTAssertEqual(android.map(\.sender), [PeerID(value: 1), PeerID(value: 1)])
        let typed = answer(RequestSync(filter: nothing, types: [.announce, .message]), store)
        XCTAssertEqual(typed.count, 3)
    }

    // MARK: Marking

    func testW8OnlyTTLAndFlagChangeInEitherVersion() throws {
        let received =
            "0102050000018bcfe5680002000a112233445566778868656c6c6f206d657368"
            + String(repeating: "ee", count: 64)
        let served =
            "0102000000018bcfe5680012000a112233445566778868656c6c6f206d657368"
            + String(repeating: "ee", count: 64)
        let frame = try Frame(try XCTUnwrap(Hex.decode(received)))
        let entry = try GossipSamples.entry(frame)
        XCTAssertEqual(Hex.encode(entry.answer().bytes), served)
        XCTAssertEqual(entry.frame, frame, "the stored frame survives as received")

        var packet = try XCTUnwrap(frame.packet())
        packet.version = 2
        packet.route = [PeerID(value: 5)]
        let routed = try Frame(packet.encoded())
        let answer = try GossipSamples.entry(routed).answer()
        let changed = routed.bytes.indices.filter { routed.bytes[$0] != answer.bytes[$0] }
        XCTAssertEqual(changed, [2, 11])
        XCTAssertEqual(answer.bytes[2], 0)
        XCTAssertEqual(answer.bytes[11], routed.bytes[11] | 0x10)
    }

    func testCompressedFrameIsServedByteForByteAndStillVerifies() throws {
        var random = SeededRandom(seed: 2)
        let author = NodeIdentity.generate(using: &random)
        var packet = Packet(
            type: .message, timestamp: now.wall, senderID: author.peerID,
            payload: Array(String(repeating: "the gate is open ", count: 20).utf8))
        try author.sign(&packet)
        let frame = try Frame(packet.encoded())
        XCTAssertTrue(frame.layout.isCompressed)
        var store = GossipStore()
        _ = store.insert(frame, at: now)
        let served = try XCTUnwrap(answer(RequestSync(filter: nothing), store, policy: .reference).first).answer()
        XCTAssertNotNil(VerifiedFrame(verifying: served, under: author.signing.publicKey))
        XCTAssertEqual(served.bytes[12...], frame.bytes[12...])
        XCTAssertEqual(served.id, frame.id)
    }
}
