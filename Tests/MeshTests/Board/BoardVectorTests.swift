import Basics
import Crypto
import TestSupport
import Wire
import XCTest

@testable import Mesh

final class BoardVectorTests: XCTestCase {
    func testTheBoardTakesRefusesAndForgetsAsTheReferenceDoes() throws {
        try Vectors("board_store.json").run { v in
            switch v.kind {
            case "script": try run(v)
            default: throw v.unknownKind
            }
        }
    }

    private func run(_ v: VectorCase) throws {
        var now = WallTime(milliseconds: try v.uint64("startMs"))
        var store = BoardStore(.reference)
        for (index, step) in try v.objects("ops").enumerated() {
            let name = "\(v.name) step \(index)"
            switch try step.string("op") {
            case "ingest":
                let payload = try XCTUnwrap(BoardPayload(payload: step.bytes("payload")), name)
                XCTAssertEqual("\(try store.ingest(payload, at: now))", try step.string("result"), name)
            case "list":
                store.expire(at: now)
                let geohash = try step.string("geohash")
                let listed = store.posts.map(\.post).filter { $0.geohash == geohash }.map { Hex.encode($0.postID) }
                XCTAssertEqual(listed.sorted(), try step.strings("postIDs").sorted(), name)
            case "sync":
                store.expire(at: now)
                XCTAssertEqual(store.offered.count, try step.int("count"), name)
            case "advance": now = now + Int64(try step.uint64("ms"))
            default: throw VectorError.unknownKind(try step.string("op"))
            }
        }
    }
}
