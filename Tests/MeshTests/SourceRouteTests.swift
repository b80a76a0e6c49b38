import Basics
import Simulation
import Wire
import XCTest

@testable import Mesh

final class SourceRouteTests: XCTestCase {
    /// A line whose nodes have all been heard speaking version 2.
    private func line(_ count: Int) throws -> SimulatedMesh {
        let mesh = SimulatedMesh.line(count)
        mesh.run(for: .seconds(20))
        for node in 0..<count {
            let packet = Packet(
                version: 2, type: MessageType(rawValue: 0x7f), timestamp: mesh.now.wall, senderID: mesh.peer(node),
                payload: [UInt8(node)])
            mesh.call(node) { mesh, now in
                mesh.now = now
                mesh.originate(packet, signed: false)
            }
        }
        mesh.run(for: .seconds(1))
        mesh.clearAir()
        return mesh
    }

    func testDirectedPacketTakesTheShortestRouteSignedAndInVersionTwo() throws {
        let mesh = try line(4)
        mesh.call(0) { $0.ping(mesh.peer(3), at: $1) }
        mesh.run(for: .seconds(1))
        let sent = try XCTUnwrap(mesh.air(.ping).first.flatMap { Packet(decoding: $0.bytes) })
        XCTAssertEqual(sent.version, 2)
        XCTAssertEqual(sent.route, [mesh.peer(1), mesh.peer(2)])
        XCTAssertNotNil(sent.signature)
        XCTAssertEqual(
            mesh.air(.ping).map { [$0.from, $0.to, Int($0.bytes[2])] }, [[0, 1, 7], [1, 2, 6], [2, 3, 5]])
        XCTAssertEqual(mesh.nodes[0].pongs.map(\.hops), [3])
        XCTAssertEqual(mesh.nodes[1].mesh.counts[.packetsForwarded], 2, "the ping and its pong")
    }

    func testForwardersLeaveTheRouteAndEverythingElseAlone() throws {
        let mesh = try line(4)
        mesh.call(0) { $0.ping(mesh.peer(3), at: $1) }
        mesh.run(for: .seconds(1))
        let copies = mesh.air(.ping).map { $0.bytes.enumerated().filter { $0.offset != 2 }.map(\.element) }
        XCTAssertEqual(Set(copies).count, 1)
    }

    func testNoRouteWhileSomebodyOnTheWaySpeaksOnlyVersionOne() throws {
        let mesh = SimulatedMesh.line(4)
        mesh.run(for: .seconds(20))
        mesh.clearAir()
        mesh.call(0) { $0.ping(mesh.peer(3), at: $1) }
        XCTAssertEqual(mesh.air(.ping).first.flatMap { Packet(decoding: $0.bytes) }?.version, 1)
    }

    func testRoutedPacketGoesOnlyToTheFirstHop() throws {
        let mesh = SimulatedMesh(seed: 21)
        for _ in 0..<4 { mesh.addNode() }
        mesh.connect(0, 1)
        mesh.connect(1, 2)
        mesh.connect(0, 3)
        mesh.run(for: .seconds(40))
        for node in 0..<4 {
            mesh.nodes[0].mesh.routes.noteVersion(2, of: mesh.peer(node), at: mesh.now.monotonic)
        }
        mesh.clearAir()
        mesh.call(0) { $0.ping(mesh.peer(2), at: $1) }
        XCTAssertEqual(mesh.air(.ping).map(\.to), [1])
    }

    func testForwardedPacketIsCutWithItsOwnRecipient() throws {
        let mesh = SimulatedMesh(seed: 22)
        for _ in 0..<4 { mesh.addNode() }
        mesh.connect(0, 1)
        mesh.connect(1, 2, SimulatedMesh.Conditions(frameLimit: 300))
        mesh.connect(2, 3)
        mesh.run(for: .seconds(40))
        let link = try XCTUnwrap(mesh.nodes[1].mesh.links.first { $0.peer == mesh.peer(0) }).id
        var random = SeededRandom(seed: 1)
        var packet = Packet(
            version: 2, type: .noiseEncrypted, timestamp: mesh.now.wall, senderID: mesh.peer(0),
            recipientID: mesh.peer(3), route: [mesh.peer(1), mesh.peer(2)], payload: random.bytes(320))
        try mesh.nodes[0].identity.sign(&packet)
        mesh.clearAir()
        mesh.inject(try packet.encoded(), into: 1, on: link)
        mesh.run(for: .seconds(2))
        let fragments = mesh.air(.fragment).filter { $0.from == 1 }.compactMap { Packet(decoding: $0.bytes) }
        XCTAssertFalse(fragments.isEmpty)
        XCTAssertTrue(fragments.allSatisfy { $0.recipientID == mesh.peer(3) && $0.route == packet.route })
        XCTAssertTrue(mesh.air(.fragment).filter { $0.from == 1 }.allSatisfy { $0.bytes.count <= 300 })
        XCTAssertEqual(mesh.nodes[2].mesh.counts[.packetsReassembled], 0)
        XCTAssertEqual(mesh.nodes[3].mesh.counts[.packetsReassembled], 1)
    }

    /// Chapter 03 B9.3 step 6; only the flood clamps.
    func testForwarderTakesOneOffWhateverTTLThereIs() throws {
        let mesh = try line(4)
        let link = try XCTUnwrap(mesh.nodes[1].mesh.links.first { $0.peer == mesh.peer(0) }).id
        var packet = Packet(
            version: 2, type: .noiseEncrypted, ttl: 10, timestamp: mesh.now.wall, senderID: mesh.peer(0),
            recipientID: mesh.peer(3), route: [mesh.peer(1), mesh.peer(2)], payload: [1, 2, 3])
        try mesh.nodes[0].identity.sign(&packet)
        mesh.inject(try packet.encoded(), into: 1, on: link)
        mesh.run(for: .seconds(1))
        let copies = mesh.air(.noiseEncrypted).filter { Packet(decoding: $0.bytes)?.payload == packet.payload }
        XCTAssertEqual(copies.map { [$0.from, Int($0.bytes[2])] }, [[1, 9], [2, 8]])
    }

    /// Chapter 03 B2 step 8.
    func testANeighbourThatBringsVersionTwoSpeaksIt() throws {
        for isAnswer in [false, true] {
            let box = NodeHarness()
            let peer = ScriptedPeer(seed: 2)
            let link = try box.meet(peer)
            let claim = Announce(
                nickname: "peer", noisePublicKey: peer.identity.noise.publicKey.bytes,
                signingPublicKey: peer.identity.signing.publicKey.bytes, directNeighbors: [box.me])
            box.advance(by: .seconds(6))
            box.receive(try peer.frame(.announce, XCTUnwrap(claim.encoded()), at: box.now), on: link)
            func route() -> [PeerID]? {
                box.node.routes.topology.route(from: box.me, to: peer.id, at: box.now.monotonic)
            }
            XCTAssertNil(route())
            box.node.gate.syncRequests.noteRequest(to: peer.id, at: box.now.monotonic)
            var packet = Packet(
                version: 2, type: .message, ttl: isAnswer ? 0 : 6, timestamp: box.now.wall,
                senderID: PeerID(value: 99), payload: Array("hello".utf8))
            packet.isSyncResponse = isAnswer
            box.receive(try packet.encoded(), on: link)
            XCTAssertEqual(route(), [], isAnswer ? "an answer" : "a relayed packet")
        }
    }

    func testUnconfirmedRouteIsGivenUpForAMinute() throws {
        let mesh = try line(4)
        mesh.call(0) { $0.ping(mesh.peer(3), at: $1) }
        // Nothing of node 3 gets through to node 0 from here on.
        mesh.interference = { $0.to == 0 ? nil : $0.bytes }
        mesh.run(for: .seconds(11))
        mesh.clearAir()
        mesh.call(0) { $0.ping(mesh.peer(3), at: $1) }
        XCTAssertEqual(mesh.air(.ping).first.flatMap { Packet(decoding: $0.bytes) }?.version, 1)
    }
}
