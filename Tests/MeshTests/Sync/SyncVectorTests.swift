import Basics
import TestSupport
import Wire
import XCTest

@testable import Mesh

final class SyncVectorTests: XCTestCase {
    func testSyncRequestsAreAskedAndAnsweredAsTheReferenceDoes() throws {
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
        guard let request = RequestSync(payload: try v.bytes("requestPayload")) else {
            return XCTAssertEqual([], try v.strings("responses"), v.name)
        }
        let answer = SyncAnswer.entries(
            for: request, try inventory(v, board: v.bytesList("board")), policy: .reference, at: try now(v).wall)
        let sent = answer.map { Hex.encode($0.answer().bytes) }
        XCTAssertEqual(sent.sorted(), try v.strings("responses").sorted(), v.name)
    }

    private func checkRequest(_ v: VectorCase) throws {
        let fields = try v.object("request")
        let types = SyncTypes(rawValue: try fields.uint64("types"))
        let request = SyncRequestBuilder.request(
            for: types, try inventory(v), fragmentFilter: try fields.optionalString("fragmentIdFilter"),
            at: try now(v).wall)
        XCTAssertEqual(
            types.messageTypes.map { Int($0.rawValue) }, try fields.array("typeNames") as? [Int], v.name)
        XCTAssertEqual(Int(request.filter.parameter), try fields.int("p"), v.name)
        XCTAssertEqual(Int(request.filter.modulus), try fields.int("m"), v.name)
        XCTAssertEqual(request.filter.data, try fields.bytes("data"), v.name)
        XCTAssertEqual(request.since?.milliseconds, try fields.optionalUInt64("sinceTimestamp"), v.name)

        let packet = SyncRequestBuilder.packet(
            try XCTUnwrap(request.encoded()), from: try XCTUnwrap(PeerID(hex: v.string("self"))),
            to: try XCTUnwrap(PeerID(hex: v.string("peer"))), at: try now(v).wall)
        let expected = try v.object("packet")
        XCTAssertEqual(packet.payload, try expected.bytes("payload"), v.name)
        XCTAssertEqual(Int(packet.type.rawValue), try expected.int("type"), v.name)
        XCTAssertEqual(Int(packet.version), try expected.int("version"), v.name)
        XCTAssertEqual(Int(packet.ttl), try expected.int("ttl"), v.name)
        XCTAssertEqual(packet.timestamp.milliseconds, try expected.uint64("timestamp"), v.name)
        XCTAssertEqual(packet.senderID.hex, try expected.string("senderID"), v.name)
        XCTAssertEqual(packet.recipientID?.hex, try expected.optionalString("recipientID"), v.name)
        XCTAssertTrue(packet.route.isEmpty && expected.isNull("route"), v.name)
        XCTAssertEqual(packet.signature, try expected.optionalBytes("signature"), v.name)
        XCTAssertEqual(packet.isSyncResponse, try expected.bool("isRSR"), v.name)
    }
}
