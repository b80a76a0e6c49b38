import Basics
import TestSupport
import Wire
import XCTest

@testable import Mesh

final class SyncVectorTests: XCTestCase {
    func testVectors() throws {
        let vectors = try Vectors("sync_responses.json")
        let messageAge = try XCTUnwrap(vectors.top["publicMessageMaxAgeSeconds"] as? Int)
        XCTAssertEqual(UInt64(messageAge) * 1_000, GossipPolicy.reference.messages.maxAge)
        vectors.run { v in
            switch v.kind {
            case "respond": try checkAnswer(v)
            case "request": try checkRequest(v)
            case "rate":
                var rate = SyncRateLimit(limit: SyncLimits.answersPerPeer, window: SyncLimits.answerWindow)
                let passed = (0..<12).filter { _ in rate.take(PeerID(value: 1), at: .zero) }
                XCTAssertEqual(passed.count, try v.int("responses"), v.name)
            default: throw v.unknownKind
            }
        }
    }

    private func now(_ v: VectorCase) throws -> Now {
        Now(monotonic: .zero + .hours(1), wall: WallTime(milliseconds: try v.uint64("nowMs")))
    }

    private func inventory(_ v: VectorCase, board: [[UInt8]] = []) throws -> SyncInventory {
        let now = try now(v)
        var store = GossipStore(.reference)
        for bytes in try v.bytesList("seen") { _ = store.insert(try Frame(bytes), at: now) }
        let offered = try board.compactMap { GossipEntry(try Frame($0), at: now.monotonic) }
        return SyncInventory(store: store, board: offered)
    }

    private func checkAnswer(_ v: VectorCase) throws {
        let request = try XCTUnwrap(RequestSync(payload: v.bytes("requestPayload")), v.name)
        let answer = SyncAnswer.entries(
            for: request, try inventory(v, board: v.bytesList("board")), policy: .reference, at: try now(v).wall)
        XCTAssertEqual(answer.map { Hex.encode($0.answer().bytes) }.sorted(), try v.strings("responses"), v.name)
    }

    private func checkRequest(_ v: VectorCase) throws {
        let expected = try v.object("packet")
        let types = SyncTypes(rawValue: try v.object("request").uint64("types"))
        let request = SyncRequestBuilder.request(for: types, try inventory(v), at: try now(v).wall)
        XCTAssertEqual(request.encoded(), try expected.bytes("payload"), v.name)
        XCTAssertEqual(
            types.messageTypes.map { Int($0.rawValue) }, try v.object("request").array("typeNames") as? [Int], v.name)
        XCTAssertEqual(try expected.int("ttl"), 0)
        XCTAssertEqual(try expected.string("recipientID"), try v.string("peer"))
    }
}
