import Basics
import Crypto
import TestSupport
import Wire
import XCTest

@testable import Mesh

final class SessionVectorTests: XCTestCase {
    /// Two scenarios end in the laxness a gateway avoids: a 64-byte message taken for a message 1 (chapter 02 §4.5).
    /// What the strict rule makes of these steps is written here, by scenario and step.
    private static let strict: [String: [Int: (isEstablished: Bool, hasOutput: Bool)]] = [
        "tampered message 3, then genuine": [4: (false, false)],
        "message 3 replayed to an established responder": [4: (true, false), 5: (true, true), 7: (true, true)],
    ]

    func testSessionVectors() throws {
        try Vectors("noise_sessions.json").run { vector in
            guard vector.kind == "scenario" else { throw vector.unknownKind }
            try run(vector)
        }
    }

    private func run(_ vector: VectorCase) throws {
        let name = String(vector.name.drop { $0 != " " }.dropFirst())
        let strict = SessionVectorTests.strict[name] ?? [:]
        let steps = try vector.objects("steps")
        let ids = ["A": try vector.string("aPeerID"), "B": try vector.string("bPeerID")]
        var parties = [
            "A": try party(vector.bytes("aStaticPrivate")), "B": try party(vector.bytes("bStaticPrivate")),
        ]
        for (index, step) in steps.enumerated() {
            let node = try step.string("node")
            let other = node == "A" ? "B" : "A"
            let words = try step.string("call").split(separator: " ")
            if try step.string("call").contains("restarted") {
                parties[node] = try party(vector.bytes(node == "A" ? "aStaticPrivate" : "bStaticPrivate"))
            }
            let party = try XCTUnwrap(parties[node])
            XCTAssertEqual(party.id.hex, ids[node])
            party.random = ScriptedRandom(try step.optionalBytes("ephemeralPrivate") ?? [])
            // Whom a start is with shows in what the node receives next.
            var peer = try XCTUnwrap(ids[other].flatMap { PeerID(hex: $0) })
            let next = try steps[index...].first { try $0.string("node") == node && $0.string("call").hasPrefix("rec") }
            if words[0] != "receive", let next,
                let named = try next.string("call").split(separator: " ").dropFirst(2).first
            {
                peer = try XCTUnwrap(PeerID(hex: named))
            }
            let output: [UInt8]?
            switch words[0] {
            case "start": output = party.start(with: peer)
            case "receive":
                peer = try XCTUnwrap(PeerID(hex: words[2]))
                output = party.receive(try XCTUnwrap(Hex.decode(words[3])), from: peer)
            case "encrypt": output = party.encrypt(try XCTUnwrap(Hex.decode(words.count > 1 ? words[1] : "")), to: peer)
            case "decrypt": output = party.decrypt(try XCTUnwrap(Hex.decode(words[1])), from: peer)
            default: return XCTFail("unknown call \(words[0])")
            }
            let label = "\(vector.name) step \(index)"
            let recorded = try step.optionalBytes("output")
            if let exception = strict[index] {
                XCTAssertEqual(output != nil, exception.hasOutput, label)
                if exception.hasOutput, let recorded { XCTAssertEqual(output, recorded, label) }
                XCTAssertEqual(party.isEstablished(with: peer), exception.isEstablished, label)
            } else {
                XCTAssertEqual(output, recorded, label)
                XCTAssertEqual(party.isEstablished(with: peer), try step.bool("established"), label)
            }
        }
    }

    private func party(_ privateKey: [UInt8]) throws -> SessionParty {
        // Nobody is reachable, so that no recovery of the node's own mixes in.
        SessionParty(try XCTUnwrap(NoiseStaticKey(privateKey: privateKey)), isReachable: false)
    }

    /// Chapter 02 §13.10, with the keys of §13.
    func testCrossedStart() throws {
        func key(_ byte: UInt8) throws -> NoiseStaticKey {
            try XCTUnwrap(NoiseStaticKey(privateKey: [UInt8](repeating: byte, count: 32)))
        }
        let (a, b) = (SessionParty(try key(0x11)), SessionParty(try key(0x22), seed: 2))
        XCTAssertLessThan(b.id, a.id)
        let firstOfA = try XCTUnwrap(a.start(with: b.id))
        let firstOfB = try XCTUnwrap(b.start(with: a.id))
        let second = try XCTUnwrap(a.receive(firstOfB, from: b.id), "the larger ID yields")
        XCTAssertNil(b.receive(firstOfA, from: a.id), "the smaller keeps its role")
        let third = try XCTUnwrap(b.receive(second, from: a.id))
        a.receive(third, from: b.id)
        a.assertTalks(to: b)
        XCTAssertEqual(b.manager[a.id]?.session?.role, .initiator)
    }

    /// The same, with A's message so late that B has completed.
    func testCrossedFirstMessageAfterCompletionIsPutOffWithinASecondAndAnsweredLater() throws {
        let (low, high) = SessionParty.pair()
        let late = try XCTUnwrap(high.start(with: low.id))
        let first = try XCTUnwrap(low.start(with: high.id))
        let second = try XCTUnwrap(high.receive(first, from: low.id))
        high.receive(try XCTUnwrap(low.receive(second, from: high.id)), from: low.id)
        low.advance(by: .milliseconds(400))
        XCTAssertNil(low.receive(late, from: high.id))
        XCTAssertTrue(low.isEstablished(with: high.id))
        low.assertTalks(to: high)
        let recovery = low.advance(by: .milliseconds(601))
        XCTAssertEqual(recovery.map(\.count), [32], "one recovery at the end of the second")

        let (other, peer) = SessionParty.pair(seed: 90)
        let stale = try XCTUnwrap(peer.start(with: other.id))
        let opening = try XCTUnwrap(other.start(with: peer.id))
        let answer = try XCTUnwrap(peer.receive(opening, from: other.id))
        peer.receive(try XCTUnwrap(other.receive(answer, from: peer.id)), from: other.id)
        other.advance(by: .milliseconds(1_100))
        XCTAssertEqual(other.receive(stale, from: peer.id)?.count, 96, "an ordinary reconnect")
        XCTAssertFalse(other.isEstablished(with: peer.id))
    }
}
