import Basics
import Crypto
import Simulation
import Wire
import XCTest

@testable import Mesh

/// Anything may come in on a link. Nothing of it may trap, and nothing may grow without bound.
final class HostileInputTests: XCTestCase {
    private func checkBounds(_ node: MeshNode, _ context: String) {
        XCTAssertLessThanOrEqual(
            node.gate.remembered, node.configuration.duplicateCapacity + MeshLimits.fragmentDuplicateCapacity, context)
        XCTAssertLessThanOrEqual(node.relays.count, MeshLimits.pendingRelayCapacity, context)
        XCTAssertLessThanOrEqual(node.spool.count, MeshLimits.spoolTotal, context)
        XCTAssertLessThanOrEqual(node.trains.count, MeshLimits.fragmentTrains, context)
        XCTAssertLessThanOrEqual(node.registry.count, MeshLimits.peerCapacity, context)
        XCTAssertLessThanOrEqual(node.identities.count, MeshLimits.identityCapacity, context)
        for case let fragments as FragmentFeature in node.features {
            XCTAssertLessThanOrEqual(fragments.assembler.count, 128, context)
            XCTAssertLessThanOrEqual(fragments.assembler.bytes, 8 << 20, context)
        }
    }

    func testRandomBytesNeverTrap() {
        let mesh = SimulatedMesh.line(3)
        mesh.recordsAir = false
        var random = SeededRandom(seed: 31)
        let links = mesh.nodes[1].mesh.links.map(\.id)
        for round in 0..<100_000 {
            let bytes = random.bytes(Int.random(in: 0...120, using: &random))
            mesh.inject(bytes, into: 1, on: links[round % links.count])
        }
        mesh.run(for: .seconds(2))
        checkBounds(mesh.nodes[1].mesh, "random bytes")
        mesh.call(0) { $0.say("still here", at: $1) }
        mesh.run(for: .seconds(2))
        XCTAssertEqual(mesh.nodes[2].texts, ["still here"])
    }

    /// Well-formed headers with hostile contents get much farther than random bytes do.
    func testPlausibleFramesOfEveryTypeNeverTrapAndStayBounded() throws {
        let mesh = SimulatedMesh.line(3)
        mesh.recordsAir = false
        var random = SeededRandom(seed: 32)
        let links = mesh.nodes[1].mesh.links.map(\.id)
        let peers = (0..<3).map(mesh.peer) + [.broadcast, PeerID(value: 0), PeerID(value: 77)]
        for round in 0..<20_000 {
            if round % 200 == 0 { mesh.run(for: .seconds(1)) }
            let type = MessageType(rawValue: UInt8.random(in: 0...0x30, using: &random))
            let skew = Int64.random(in: -130_000...130_000, using: &random)
            var payload = random.bytes(Int.random(in: 0...160, using: &random))
            if type == .fragment, payload.count > 12 {
                payload.replaceSubrange(8..<12, with: [0, UInt8(round & 3), 0, UInt8(round & 7)])
            }
            let version = UInt8.random(in: 1...2, using: &random)
            let packet = Packet(
                version: version, type: type, ttl: UInt8.random(in: 0...9, using: &random),
                timestamp: WallTime(milliseconds: UInt64(Int64(mesh.now.wall.milliseconds) + skew)),
                senderID: peers.randomElement(using: &random) ?? peers[0],
                recipientID: Bool.random(using: &random) ? peers.randomElement(using: &random) : nil,
                route: Bool.random(using: &random) ? [peers[0], peers[1], peers[1], peers[2]] : [],
                payload: payload,
                signature: Bool.random(using: &random) ? random.bytes(64) : nil,
                isSyncResponse: Int.random(in: 0..<8, using: &random) == 0)
            var bytes = try packet.encoded()
            if round % 3 == 0 {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            mesh.inject(bytes, into: 1, on: links[round % links.count])
        }
        mesh.run(for: .seconds(2))
        checkBounds(mesh.nodes[1].mesh, "plausible frames")
        XCTAssertEqual(mesh.nodes[1].mesh.degree, 2, "both neighbours are still there")
    }

    /// Genuine announces of identities made up by the thousand: each verifies, none is worth more than its slot.
    func testCrowdOfInventedIdentitiesStaysInsideTheRegistry() throws {
        let mesh = SimulatedMesh.line(2)
        mesh.recordsAir = false
        let link = try XCTUnwrap(mesh.nodes[0].mesh.links.first).id
        var random = SeededRandom(seed: 33)
        for round in 0..<1_500 {
            let identity = NodeIdentity.generate(using: &random)
            let announce = Announce(
                nickname: "n", noisePublicKey: identity.noise.publicKey.bytes,
                signingPublicKey: identity.signing.publicKey.bytes,
                directNeighbors: (0..<10).map { PeerID(value: UInt64(round * 10 + $0)) })
            var packet = Packet(
                type: .announce, ttl: 5, timestamp: mesh.now.wall, senderID: identity.peerID,
                payload: try XCTUnwrap(announce.encoded()))
            try identity.sign(&packet)
            mesh.inject(try packet.encoded(), into: 0, on: link)
            if round % 50 == 0 { mesh.run(for: .seconds(1)) }
        }
        let node = mesh.nodes[0].mesh
        checkBounds(node, "invented identities")
        XCTAssertEqual(node.degree, 1)
        XCTAssertNotNil(node.peer(mesh.peer(1), at: mesh.now), "the neighbour is not pushed out")
    }

    func testFramesOfUnknownLinksAreCountedAndIgnored() {
        let mesh = SimulatedMesh.line(2)
        mesh.inject([1, 2, 3], into: 0, on: LinkID(value: 555_555))
        XCTAssertEqual(mesh.nodes[0].mesh.drops[.unknownLink], 1)
        let link = mesh.nodes[0].mesh.links[0].id
        mesh.inject([1, 2, 3], into: 0, on: link)
        mesh.inject([], into: 0, on: link)
        XCTAssertEqual(mesh.nodes[0].mesh.drops[.malformedFrame], 2)
    }

    /// The same seed and the same calls give the same bytes.
    func testRunsAreReproducible() {
        func run() -> [[UInt8]] {
            let mesh = SimulatedMesh.line(4, seed: 44, SimulatedMesh.Conditions(delay: 1...90, loss: 0.1))
            mesh.call(2) { $0.say("again", at: $1) }
            mesh.run(for: .seconds(20))
            return mesh.air.map(\.bytes)
        }
        let first = run()
        XCTAssertGreaterThan(first.count, 50)
        XCTAssertEqual(first, run())
    }
}
