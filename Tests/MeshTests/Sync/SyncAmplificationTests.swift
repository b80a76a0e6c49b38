import Basics
import Crypto
import Wire
import XCTest

@testable import Mesh

/// Every way known to make a node answer who may not ask, or take what it did not ask for, in one list (lessons 32 and
/// 33). None draws a byte.
final class SyncAmplificationTests: XCTestCase {
    /// A node with fifty messages to give away, and who is around it.
    private struct Scene {
        let node = NodeHarness()
        let attacker = ScriptedPeer(seed: 66, capabilities: ScriptedPeer.iPhone)
        let victim = ScriptedPeer(seed: 7, capabilities: ScriptedPeer.iPhone)
        let stranger = ScriptedPeer(seed: 99)
        let link: LinkID
        let victimLink: LinkID
        let unbound: LinkID

        init() throws {
            victimLink = try node.meet(victim)
            for number in 0..<50 {
                node.receive(try victim.message("number \(number)", at: node.now), on: victimLink)
            }
            link = try node.meet(attacker)
            unbound = node.addLink()
            node.advance(by: .seconds(5))
            node.clearSent()
        }

        func request(
            by peer: ScriptedPeer? = nil, _ types: SyncTypes? = nil, to recipient: PeerID? = nil, age: Int64 = 0,
            ttl: UInt8 = 0, isSigned: Bool = true
        ) throws -> Frame {
            try (peer ?? attacker).request(
                types, to: recipient ?? node.me, at: node.now, age: age, ttl: ttl, isSigned: isSigned)
        }

        /// A request with a source route, signed over it.
        func routed(to recipient: PeerID, over hops: [PeerID], ttl: UInt8) throws -> Frame {
            var packet = Packet(
                version: 2, type: .requestSync, ttl: ttl, timestamp: node.now.wall, senderID: attacker.id,
                recipientID: recipient, route: hops, payload: try XCTUnwrap(request().payload()))
            try attacker.identity.sign(&packet)
            return try Frame(packet.encoded())
        }

        /// In fragments, as anything that fits no frame.
        func inFragments(_ frame: Frame) throws -> [Frame] {
            let plan = try XCTUnwrap(
                FragmentPlan(frame, chunk: 64, target: node.me, streamID: FragmentStreamID(value: 5)))
            return (0..<plan.count).compactMap { plan.frame(at: $0) }
        }
    }

    private typealias Abuse = (name: String, frames: (Scene) throws -> [(Frame, LinkID)])

    private let requests: [Abuse] = [
        ("unsigned", { [(try $0.request(isSigned: false), $0.link)] }),
        (
            "with a wrong signature",
            {
                var bytes = try $0.request().bytes
                bytes[bytes.count - 1] ^= 1
                return [(try Frame(bytes), $0.link)]
            }
        ),
        ("with a TTL of 1", { [(try $0.request(ttl: 1), $0.link)] }),
        ("with a TTL of 7", { [(try $0.request(ttl: 7), $0.link)] }),
        ("with a TTL of 255", { [(try $0.request(ttl: 255), $0.link)] }),
        ("on a link nobody is bound to", { [(try $0.request(), $0.unbound)] }),
        ("by somebody else, passed on", { [(try $0.request(by: $0.victim), $0.link)] }),
        ("by somebody else, passed on with TTL", { [(try $0.request(by: $0.victim, ttl: 6), $0.link)] }),
        ("by a stranger on a link nobody is bound to", { [(try $0.request(by: $0.stranger), $0.unbound)] }),
        ("to somebody else", { [(try $0.request(to: $0.victim.id), $0.link)] }),
        ("routed to us", { [(try $0.routed(to: $0.node.me, over: [$0.attacker.id], ttl: 7), $0.link)] }),
        ("routed through us", { [(try $0.routed(to: $0.victim.id, over: [$0.node.me], ttl: 7), $0.link)] }),
        ("routed through us with TTL 0", { [(try $0.routed(to: $0.victim.id, over: [$0.node.me], ttl: 0), $0.link)] }),
        (
            "marked as an answer",
            {
                var frame = try $0.request()
                frame.setSyncResponse(true)
                return [(frame, $0.link)]
            }
        ),
        ("two minutes old", { [(try $0.request(age: 120_001), $0.link)] }),
        ("two minutes ahead", { [(try $0.request(age: -120_001), $0.link)] }),
        (
            "without a decodable payload",
            {
                [
                    (
                        try $0.attacker.frame(.requestSync, [1, 0, 1], at: $0.node.now, ttl: 0, recipient: $0.node.me),
                        $0.link
                    )
                ]
            }
        ),
        ("for nothing that is served", { [(try $0.request([.leave, .noiseEncrypted]), $0.link)] }),
        (
            "in fragments, with TTL",
            { scene in try scene.inFragments(scene.request(ttl: 7)).map { ($0, scene.unbound) } }
        ),
        (
            "in fragments, by somebody else",
            { scene in try scene.inFragments(scene.request(by: scene.victim)).map { ($0, scene.link) } }
        ),
    ]

    private func answer(_ scene: Scene, ttl: UInt8 = 0, age: Int64 = 3_600_000, _ text: String = "old") throws -> Frame
    {
        try scene.victim.message(text, at: scene.node.now, age: age, ttl: ttl, isAnswer: true)
    }

    private var answers: [Abuse] {
        [
            ("on a link nobody is bound to", { [(try self.answer($0), $0.unbound)] }),
            (
                "nobody asked for",
                { scene in
                    scene.node.call { mesh, _ in mesh.gate.syncRequests.removeAll() }
                    return [(try self.answer(scene), scene.link)]
                }
            ),
            (
                "of a type nobody asked for",
                { scene in
                    scene.node.call { mesh, now in
                        mesh.gate.syncRequests.removeAll()
                        mesh.gate.syncRequests.noteRequest(
                            to: scene.attacker.id, types: .prekeyBundle, at: now.monotonic)
                    }
                    return [(try self.answer(scene), scene.link)]
                }
            ),
            (
                "asked of somebody else",
                { scene in
                    scene.node.call { mesh, now in
                        mesh.gate.syncRequests.removeAll()
                        mesh.gate.syncRequests.noteRequest(to: scene.victim.id, at: now.monotonic)
                    }
                    return [(try self.answer(scene), scene.link)]
                }
            ),
            ("with a TTL", { [(try self.answer($0, ttl: 1), $0.link)] }),
            ("older than six hours", { [(try self.answer($0, age: 6 * 3_600_000 + 1), $0.link)] }),
            ("from next year", { [(try self.answer($0, age: -365 * 86_400_000), $0.link)] }),
            (
                "with a wrong signature",
                {
                    var bytes = try self.answer($0).bytes
                    bytes[bytes.count - 1] ^= 1
                    return [(try Frame(bytes), $0.link)]
                }
            ),
            (
                "of a stranger",
                { [(try $0.stranger.message("old", at: $0.node.now, age: 3_600_000, ttl: 0, isAnswer: true), $0.link)] }
            ),
            (
                "that is a goodbye",
                { [(try $0.victim.frame(.leave, [], at: $0.node.now, age: 60_000, ttl: 0, isAnswer: true), $0.link)] }
            ),
            (
                "that is a carrier",
                {
                    [
                        (
                            try $0.victim.frame(
                                .nostrCarrier, [1, 2], at: $0.node.now, age: 200_000, ttl: 0, isAnswer: true,
                                isSigned: false), $0.link
                        )
                    ]
                }
            ),
        ]
    }

    /// What went out that the node would not have sent of itself: answers, and packets of others passed on.
    private func drawn(_ scene: Scene) -> [NodeHarness.Sent] {
        scene.node.advance(by: .seconds(25))
        return scene.node.sent.filter { sent in
            let isOwnUpkeep = sent.frame.senderID == scene.node.me && !sent.frame.isSyncResponse
            return !isOwnUpkeep || sent.frame.type != .announce && sent.frame.type != .requestSync
        }
    }

    func testNoAbusiveRequestDrawsAByte() throws {
        for abuse in requests {
            let scene = try Scene()
            for (frame, link) in try abuse.frames(scene) { scene.node.receive(frame, on: link) }
            // Fragments pass on as fragments do; the request inside them is what must draw nothing.
            let drawn = drawn(scene).filter { $0.frame.type != .fragment || $0.frame.isSyncResponse }
            XCTAssertEqual(drawn.reduce(0) { $0 + $1.frame.bytes.count }, 0, "a request \(abuse.name)")
            XCTAssertEqual(scene.node.node.counts[.syncFramesServed], 0, "a request \(abuse.name)")
        }
    }

    func testNoUnaskedAnswerIsTakenOrPassedOn() throws {
        for abuse in answers {
            let scene = try Scene()
            let heard = scene.node.heard.count
            for (frame, link) in try abuse.frames(scene) { scene.node.receive(frame, on: link) }
            XCTAssertEqual(drawn(scene).count, 0, "an answer \(abuse.name)")
            XCTAssertEqual(scene.node.heard.count, heard, "an answer \(abuse.name)")
            XCTAssertEqual(scene.node.node.historyCount, 50, "an answer \(abuse.name)")
            XCTAssertNotNil(scene.node.node.identities[scene.victim.id])
        }
    }

    func testTheSameRequestDoneRightIsAnswered() throws {
        let scene = try Scene()
        scene.node.receive(try scene.request(), on: scene.link)
        XCTAssertEqual(drawn(scene).filter { $0.frame.type == .message }.count, 50)
        let inPieces = try Scene()
        for frame in try inPieces.inFragments(inPieces.request()) { inPieces.node.receive(frame, on: inPieces.link) }
        XCTAssertEqual(drawn(inPieces).filter { $0.frame.type == .message }.count, 50)
    }

    func testTheSameAnswerDoneRightIsTaken() throws {
        let scene = try Scene()
        scene.node.receive(try answer(scene), on: scene.link)
        XCTAssertEqual(scene.node.heard.last?.text, "old")
        XCTAssertEqual(scene.node.node.historyCount, 51)
    }
}
