import Basics
import Wire
import XCTest

@testable import Mesh

/// Chapter 04 §6.2, §6.3, worked examples W1, W2, W4, W5 and W7, traps T2, T13, T15.
final class SyncRequestBuilderTests: XCTestCase {
    private let now = GossipSamples.now

    private func payload(
        _ types: SyncTypes, _ store: GossipStore = GossipStore(), fragmentFilter: String? = nil
    ) throws -> String {
        let request = SyncRequestBuilder.request(
            for: types, SyncInventory(store: store, board: []), fragmentFilter: fragmentFilter, at: now.wall)
        return Hex.encode(try XCTUnwrap(request.encoded()))
    }

    /// W1: five messages, all within the last 12 s before they are put in.
    private func exampleStore() throws -> (GossipStore, Now) {
        let messages: [(UInt64, UInt64, String)] = [
            (0x1122_3344_5566_7788, 1_700_000_000_000, "hello mesh"),
            (0x1122_3344_5566_7788, 1_700_000_001_500, "water at the gate"),
            (0xa1b2_c3d4_e5f6_0718, 1_700_000_004_000, "café open"),
            (0x1122_3344_5566_7788, 1_700_000_009_000, "ok"), (0xa1b2_c3d4_e5f6_0718, 1_700_000_012_000, "bye"),
        ]
        let ids = [
            "f7a08cd87a5da6be1a60625b7ec647f1", "a76baea589e5317e8731f064241273cd", "5cbf1533ebddcdb74771e2f797160e4c",
            "e66283709ec98f71ad86cdc762db58f8", "6a4c21c828181de5f54509938fa6147d",
        ]
        let now = Now(monotonic: .zero, wall: WallTime(milliseconds: 1_700_000_030_000))
        var store = GossipStore()
        for (message, id) in zip(messages, ids) {
            let packet = Packet(
                type: .message, timestamp: WallTime(milliseconds: message.1), senderID: PeerID(value: message.0),
                payload: Array(message.2.utf8), signature: [UInt8](repeating: 0xee, count: 64))
            let frame = try Frame(packet.encoded())
            XCTAssertEqual(frame.id?.hex, id)
            XCTAssertEqual(store.insert(frame, at: now), .stored)
        }
        return (store, now)
    }

    func testW2AndW3FilterOverFiveMessages() throws {
        let (store, now) = try exampleStore()
        let request = SyncRequestBuilder.request(
            for: SyncRound.history.types, SyncInventory(store: store, board: []), at: now.wall)
        XCTAssertEqual(
            Hex.encode(try XCTUnwrap(request.encoded())),
            "0100010702000400000280030006a0a85ac1cf000400020304")
    }

    func testW2AnswerIsWhatTheFilterDoesNotName() throws {
        var (store, now) = try exampleStore()
        let request = SyncRequestBuilder.request(
            for: SyncRound.history.types, SyncInventory(store: store, board: []), at: now.wall)
        XCTAssertTrue(
            SyncAnswer.entries(for: request, SyncInventory(store: store, board: []), at: now.wall).isEmpty)
        let packet = Packet(
            type: .message, timestamp: WallTime(milliseconds: 1_700_000_020_000),
            senderID: PeerID(value: 0x1122_3344_5566_7788), payload: Array("anyone there?".utf8))
        let frame = try Frame(packet.encoded())
        XCTAssertEqual(frame.id?.hex, "2a79fd1242ac680763f08e024cd3e456")
        now = now.advanced(by: .seconds(1))
        _ = store.insert(frame, at: now)
        let answer = SyncAnswer.entries(for: request, SyncInventory(store: store, board: []), at: now.wall)
        XCTAssertEqual(answer.map(\.frame), [frame])
    }

    func testW4EmptyStoreRequests() throws {
        let expected: [SyncRound: String] = [
            .history: "01000107020004000000010300000400020304", .fragments: "010001070200040000000103000004000120",
            .files: "010001070200040000000103000004000180", .prekeys: "01000107020004000000010300000400020002",
            .board: "01000107020004000000010300000400020001",
        ]
        for round in SyncRound.allCases { XCTAssertEqual(try payload(round.types), expected[round], "\(round)") }
        let everything = SyncRound.allCases.reduce(into: SyncTypes()) { $0.formUnion($1.types) }
        XCTAssertEqual(try payload(everything), "0100010702000400000001030000040002a307")
        XCTAssertEqual(
            try payload(everything.subtracting(.boardPost)), "0100010702000400000001030000040002a306")
        XCTAssertEqual(GossipStore(.reference).carriedTypes, everything.subtracting(.boardPost))
        XCTAssertEqual(GossipStore().carriedTypes, everything.subtracting([.boardPost, .fileTransfer]))
    }

    func testW7TargetedRequestWithoutFragments() throws {
        let streams: [UInt64] = [0x0011_2233_4455_66aa, 0xffee_ddcc_bbaa_9988]
        let text = try XCTUnwrap(FragmentFilter.text(streams.map { FragmentStreamID(value: $0) }))
        XCTAssertEqual(
            try payload(.fragment, fragmentFilter: text),
            "010001070200040000000103000004000120060021303031313232333334343535363661612c666665656464"
                + "63636262616139393838")
    }

    // MARK: The cursor (T13)

    private func store(messages count: Int) throws -> GossipStore {
        var store = GossipStore()
        // Arrival is the reverse of time, so that the two orders differ.
        for number in 0..<count {
            let frame = try GossipSamples.frame(age: Int64(number), payload: GossipSamples.numbered(number))
            XCTAssertEqual(store.insert(frame, at: now), .stored)
        }
        return store
    }

    private func request(_ store: GossipStore, _ types: SyncTypes = SyncRound.history.types) -> RequestSync {
        SyncRequestBuilder.request(for: types, SyncInventory(store: store, board: []), at: now.wall)
    }

    func testCursorOnlyWhenTheFilterDoesNotCoverEverything() throws {
        XCTAssertNil(request(try store(messages: 0)).since)
        XCTAssertNil(request(try store(messages: 355)).since)
        let partial = request(try store(messages: 356))
        XCTAssertEqual(partial.since, WallTime(milliseconds: now.wall.milliseconds - 354))
        XCTAssertEqual(partial.filter.modulus, 45_440)
        XCTAssertEqual(partial.filter.data.count <= 400, true)
    }

    func testRepeatedRoundsOfATruncatedFilterDrawNothing() throws {
        let store = try store(messages: 1_000)
        let inventory = SyncInventory(store: store, board: [])
        let answer = SyncAnswer.entries(for: request(store), inventory, at: now.wall)
        XCTAssertTrue(answer.isEmpty)
    }

    func testFamiliesOfTheirOwnHaveSmallerFilters() throws {
        var store = GossipStore()
        for owner in 0..<200 {
            let payload = try GossipSamples.bundle(owner: UInt8(owner)).payload
            _ = store.insert(try GossipSamples.frame(.prekeyBundle, age: Int64(owner), payload: payload), at: now)
        }
        XCTAssertEqual(request(store, .prekeyBundle).filter.modulus, 200 * 128)
        XCTAssertNil(request(store, .prekeyBundle).since)
    }

    func testNewestPacketsOfAllFamiliesShareTheFilter() throws {
        var store = try store(messages: 300)
        for number in 0..<100 {
            _ = store.insert(
                try GossipSamples.frame(
                    .groupMessage, sender: UInt64(number), age: 1_000 + Int64(number), payload: [1]), at: now)
        }
        let request = request(store)
        XCTAssertEqual(request.since, WallTime(milliseconds: now.wall.milliseconds - 1_054))
        let members = request.filter.members()
        XCTAssertTrue(store.messages.inOrder.allSatisfy { members.contains($0.hash) })
    }

    // MARK: Seen, not held (T15)

    func testFilterNamesWhatTheShareOfASenderPushedOut() throws {
        var store = GossipStore()
        var frames: [Frame] = []
        for number in 0..<160 {
            let fragment = GossipSamples.fragment(index: UInt16(number))
            frames.append(try GossipSamples.frame(.fragment, age: Int64(number), payload: fragment))
            _ = store.insert(frames[number], at: now)
        }
        XCTAssertEqual(store.fragments.count, 150)
        let members = request(store, .fragment).filter.members()
        for frame in frames { XCTAssertTrue(members.contains(try XCTUnwrap(frame.id))) }
    }

    func testStaleAnnounceIsNoCandidate() throws {
        var store = GossipStore(me: PeerID(value: 0xa1))
        _ = store.insert(try GossipSamples.frame(.announce, age: 0), at: now)
        let later = now.advanced(by: .seconds(901))
        let inventory = SyncInventory(store: store, board: [])
        XCTAssertEqual(SyncRequestBuilder.newest(9, of: .announce, inventory, at: later.wall).count, 0)
        XCTAssertEqual(SyncRequestBuilder.newest(9, of: .announce, inventory, at: now.wall).count, 1)
    }

    func testBoardIsNamedWithoutRegardToAge() throws {
        let post = try GossipSamples.entry(GossipSamples.frame(.boardPost, age: 6 * 86_400_000))
        let request = SyncRequestBuilder.request(
            for: .boardPost, SyncInventory(store: GossipStore(), board: [post]), at: now.wall)
        XCTAssertTrue(request.filter.members().contains(post.hash))
    }
}
