import Basics
import Crypto
import Wire
import XCTest

@testable import Mesh

/// The board over a restart (chapter 04 §11.4, T14).
final class BoardArchiveTests: XCTestCase {
    private let author = BoardAuthor(1)
    private let carrier = ScriptedPeer(seed: 7)

    private func send(_ payload: BoardPayload, to node: NodeHarness, on link: LinkID) throws {
        let frame = try carrier.frame(
            .boardPost, XCTUnwrap(payload.encoded()), at: node.now, ttl: 5, isSigned: false)
        node.receive(frame, on: link)
    }

    /// What storage would hold.
    private func records(_ node: NodeHarness) -> [BoardRecord] {
        var stored: [PacketID: BoardRecord] = [:]
        for (_, batch) in node.boardBatches {
            for id in batch.deletes { stored[id] = nil }
            for record in batch.puts { stored[record.id] = record }
        }
        return stored.values.sorted { $0.id < $1.id }
    }

    private func filled() throws -> NodeHarness {
        let node = NodeHarness()
        let link = try node.meet(carrier)
        let now = node.now.wall
        try send(author.post(1, created: now), to: node, on: link)
        try send(author.post(2, created: now), to: node, on: link)
        try send(author.tombstone(2, deleted: now), to: node, on: link)
        try send(BoardAuthor(2).tombstone(3, deleted: now), to: node, on: link)
        node.advance(by: .seconds(20))
        return node
    }

    func testBoardComesBackWithItsOrderAndItsOrphanMarks() throws {
        let node = try filled()
        let again = NodeHarness(board: records(node))
        let (old, new) = (node.node.board.store, again.node.board.store)
        XCTAssertEqual(new.offered.map(\.frame), old.offered.map(\.frame))
        XCTAssertEqual(new.offered.count, 3)
        XCTAssertEqual(new.tombstones.map(\.retention), old.tombstones.map(\.retention))
        XCTAssertEqual(new.tombstones.map(\.retention.isOrphan), [false, true])
        again.advance(by: .minutes(1))
        XCTAssertTrue(again.boardBatches.isEmpty, "storage knows it all")
    }

    func testWritesAreTenSecondsApartAndOnceMoreWhenStopping() throws {
        let node = NodeHarness()
        let link = try node.meet(carrier)
        for number in 0..<5 {
            try send(author.post(number, created: node.now.wall), to: node, on: link)
            node.advance(by: .seconds(3))
        }
        XCTAssertEqual(node.boardBatches.map(\.batch.puts.count), [1, 3])
        XCTAssertEqual(node.boardBatches[1].at - node.boardBatches[0].at, .seconds(10))
        node.call { $0.stop(at: $1) }
        XCTAssertEqual(node.boardBatches.map(\.batch.puts.count), [1, 3, 1])
    }

    func testWhatThisNodePinsOrTakesDownIsWrittenAtOnceAndSaysSo() throws {
        let node = NodeHarness()
        let link = try node.meet(carrier)
        try send(author.post(1, created: node.now.wall), to: node, on: link)
        node.advance(by: .seconds(1))
        let post = try node.node.post(onBoard: "x", days: 1, isUrgent: false, at: node.now)
        node.advance(by: .zero)
        _ = try node.node.remove(fromBoard: post.postID, at: node.now)
        node.advance(by: .zero)
        try send(author.post(2, created: node.now.wall), to: node, on: link)
        node.advance(by: .seconds(20))
        XCTAssertEqual(node.boardBatches.map(\.batch.isOwn), [false, true, true, false])
        XCTAssertEqual(node.boardBatches.map(\.batch.puts.count), [1, 1, 1, 1])
        XCTAssertEqual(node.boardBatches.map(\.batch.deletes.count), [0, 0, 1, 0])
        XCTAssertEqual(node.boardBatches[3].at - node.boardBatches[2].at, .seconds(10))
    }

    func testExpiredPostsLeaveStorage() throws {
        let node = NodeHarness()
        let link = try node.meet(carrier)
        try send(author.post(1, created: node.now.wall), to: node, on: link)
        node.advance(by: .minutes(59))
        XCTAssertEqual(records(node).count, 1)
        node.advance(by: .seconds(90))
        XCTAssertTrue(node.node.board.store.offered.isEmpty)
        XCTAssertTrue(records(node).isEmpty)
    }

    func testWhatExpiredWhileTheNodeWasOffDoesNotComeBackAndLeavesStorage() throws {
        let stored = records(try filled())
        let node = NodeHarness(isClockTrusted: false, board: stored)
        node.setWall(node.now.wall + 2 * 3_600_000)
        node.call { $0.setClockTrusted(true, at: $1) }
        node.advance(by: .seconds(1))
        XCTAssertEqual(node.node.board.store.offered.count, 1, "the orphan tombstone")
        XCTAssertEqual(node.boardBatches.flatMap(\.batch.deletes).count, 2)
    }

    func testRecordsWaitForTheClock() throws {
        let node = NodeHarness(isClockTrusted: false, board: records(try filled()))
        node.advance(by: .minutes(2))
        XCTAssertTrue(node.node.board.store.offered.isEmpty)
        XCTAssertTrue(node.boardBatches.isEmpty)
        node.call { $0.setClockTrusted(true, at: $1) }
        XCTAssertEqual(node.node.board.store.offered.count, 3)
    }

    func testSpoiledRecordsAreRefused() throws {
        let good = records(try filled())
        func altered(_ record: BoardRecord, _ frame: [UInt8], _ retention: BoardRecord.Retention?) -> BoardRecord {
            BoardRecord(id: record.id, arrival: record.arrival, frame: frame, retention: retention)
        }
        let post = try XCTUnwrap(good.first { $0.retention == nil })
        var unsigned = author.draft(4, created: NodeHarness().now.wall)
        unsigned.signature = [UInt8](repeating: 1, count: 64)
        let forged = try carrier.frame(.boardPost, XCTUnwrap(unsigned.encoded()), at: NodeHarness().now)
        let bad = [
            BoardRecord(id: try XCTUnwrap(forged.id), arrival: 0, frame: forged.bytes, retention: nil),
            altered(post, forged.bytes, nil), altered(post, [1, 2, 3], nil),
            altered(post, post.frame, .init(until: WallTime(milliseconds: .max), isOrphan: false)),
        ]
        for record in bad {
            let node = NodeHarness(board: [record])
            node.advance(by: .seconds(1))
            XCTAssertTrue(node.node.board.store.offered.isEmpty)
            XCTAssertEqual(node.drops(.boardRefused), 1)
            XCTAssertEqual(node.boardBatches.flatMap(\.batch.deletes), [record.id])
        }
    }

    func testRestoredRetentionIsCappedByWhatATombstoneMayHave() throws {
        let stored = records(try filled()).map {
            BoardRecord(
                id: $0.id, arrival: $0.arrival, frame: $0.frame,
                retention: $0.retention.map { .init(until: WallTime(milliseconds: .max), isOrphan: $0.isOrphan) })
        }
        let node = NodeHarness(board: stored)
        let limit = NodeHarness().now.wall + 604_800_000
        XCTAssertEqual(node.node.board.store.tombstones.map(\.retention.until), [limit, limit])
    }
}
