import Basics
import Crypto
import TestSupport
import Wire
import XCTest

@testable import Mesh

final class BoardVectorTests: XCTestCase {
    func testVectors() throws {
        try Vectors("board_store.json").run { v in
            switch v.kind {
            case "script": try run(v)
            default: throw v.unknownKind
            }
        }
    }

    /// The reference tells posts apart by ID alone and rejects a stranger's tombstone for a post that it holds. Here it
    /// is about another post, one by the stranger, and is kept as an orphan (T8): "delete by someone else" is accepted,
    /// and the counts of "sync" are higher by it until it expires. All other steps are as in the reference.
    private func run(_ v: VectorCase) throws {
        var now = WallTime(milliseconds: try v.uint64("startMs"))
        var store = BoardStore()
        var strangers: [WallTime] = []
        for (index, step) in try v.objects("ops").enumerated() {
            let name = "\(v.name) step \(index)"
            switch try step.string("op") {
            case "ingest":
                let payload = try XCTUnwrap(BoardPayload(payload: step.bytes("payload")), name)
                let isStrangers = isTombstoneOfAStranger(payload, store)
                if isStrangers, case .tombstone(let tombstone) = payload { strangers.append(tombstone.deletedAt) }
                let expected = isStrangers ? "accepted" : try step.string("result")
                XCTAssertEqual("\(try store.ingest(payload, at: now))", expected, name)
            case "list":
                store.expire(at: now)
                let listed = store.posts(at: try step.string("geohash")).map { Hex.encode($0.postID) }
                XCTAssertEqual(listed.sorted(), try step.strings("postIDs"), name)
            case "sync":
                store.expire(at: now)
                let kept = strangers.filter { $0 + 604_800_000 > now }.count
                XCTAssertEqual(store.offered.count, try step.int("count") + kept, name)
            case "advance": now = now + Int64(try step.uint64("ms"))
            default: throw VectorError.unknownKind(try step.string("op"))
            }
        }
    }

    private func isTombstoneOfAStranger(_ payload: BoardPayload, _ store: BoardStore) -> Bool {
        guard case .tombstone(let tombstone) = payload else { return false }
        return store.posts.contains {
            $0.post.postID == tombstone.postID && $0.post.authorSigningKey != tombstone.authorSigningKey
        }
    }
}
