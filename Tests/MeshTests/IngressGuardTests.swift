import Basics
import TestSupport
import Wire
import XCTest

@testable import Mesh

final class IngressGuardTests: XCTestCase {
    func testArrivalsAreJudgedAsTheReferenceDoes() throws {
        try Vectors("ingress.json").run { v in
            switch v.kind {
            case "context": try checkContext(v)
            case "public_message": try checkPublicMessage(v)
            case "rsr": try checkSyncAnswer(v)
            case "stale":
                let sent = WallTime(milliseconds: try v.uint64("timestamp"))
                let now = WallTime(milliseconds: try v.uint64("nowMs"))
                let limit = UInt64(try v.int("maxAgeSeconds")) * 1_000
                XCTAssertEqual(sent.isOlder(thanMilliseconds: limit, at: now), try v.bool("stale"), v.name)
            default: throw v.unknownKind
            }
        }
    }

    private func peer(_ v: VectorCase, _ key: String) throws -> PeerID {
        try XCTUnwrap(PeerID(hex: v.string(key)))
    }

    private func checkContext(_ v: VectorCase) throws {
        let attribution = IngressGuard.attribute(
            sender: try peer(v, "sender"), type: MessageType(rawValue: UInt8(try v.int("type"))),
            ttl: UInt8(try v.int("ttl")), isSyncResponse: try v.bool("isRSR"), me: try peer(v, "self"),
            boundPeer: v.isNull("boundPeer") ? nil : try peer(v, "boundPeer"))
        switch try v.string("result") {
        case "accept":
            XCTAssertEqual(attribution, .accepted(ingressPeer: try peer(v, "receivedFrom")), v.name)
            // Rule 4 asks about the ingress peer; without the flag no request matters.
            let validated = try v.bool("isRSR") ? peer(v, "receivedFrom") : peer(v, "sender")
            XCTAssertEqual(try peer(v, "validationPeer"), validated, v.name)
        case "selfLoopback": XCTAssertEqual(attribution, .selfLoopback, v.name)
        case "directSenderMismatch": XCTAssertEqual(attribution, .senderMismatch, v.name)
        default: XCTFail("unknown result in \(v.name)")
        }
    }

    private func checkPublicMessage(_ v: VectorCase) throws {
        let admission = PublicMessageFeature.admit(
            sender: try peer(v, "sender"), recipient: v.isNull("recipientID") ? nil : try peer(v, "recipientID"),
            ttl: UInt8(try v.int("ttl")), timestamp: WallTime(milliseconds: try v.uint64("timestamp")),
            me: try peer(v, "self"), now: WallTime(milliseconds: try v.uint64("nowMs")))
        let expected: [String: PublicMessageFeature.Admission] = [
            "accept_and_store": .accepted, "accept": .directed, "selfEcho": .ownEcho, "stale": .stale,
        ]
        XCTAssertEqual(admission, expected[try v.string("result")], v.name)
    }

    private func checkSyncAnswer(_ v: VectorCase) throws {
        let peer = PeerID(value: 7)
        var log = SyncRequestLog()
        if !v.isNull("askedAtSeconds") {
            log.noteRequest(to: peer, at: .zero + .seconds(try v.double("askedAtSeconds")))
        }
        let isOpen = !log.open(for: peer, at: .zero + .seconds(try v.double("nowSeconds"))).isEmpty
        // The vectors look at rule 4 alone, so an unflagged packet is no valid answer.
        XCTAssertEqual(try v.bool("isRSR") && isOpen, try v.bool("accepted"), v.name)
    }

    func testSyncRequestLogIsBounded() {
        var log = SyncRequestLog()
        for value in 0..<5_000 { log.noteRequest(to: PeerID(value: UInt64(value)), at: .zero) }
        let open = (0..<5_000).filter { !log.open(for: PeerID(value: UInt64($0)), at: .zero).isEmpty }
        XCTAssertEqual(open.count, MeshLimits.syncRequestCapacity)
        // The window passed, so there is room again.
        let later = Instant.zero + .seconds(31)
        log.noteRequest(to: PeerID(value: 9_999), at: later)
        XCTAssertFalse(log.open(for: PeerID(value: 9_999), at: later).isEmpty)
    }
}
