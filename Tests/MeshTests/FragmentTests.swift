import Basics
import Crypto
import Simulation
import Wire
import XCTest

@testable import Mesh

final class FragmentTests: XCTestCase {
    /// Text that does not compress much.
    private func longText(_ count: Int) -> String {
        var random = SeededRandom(seed: 12)
        return String(decoding: (0..<count).map { _ in UInt8.random(in: 33...126, using: &random) }, as: UTF8.self)
    }

    func testLongMessageTravelsAsFragmentsEachRelayedOnItsOwn() {
        let mesh = SimulatedMesh.line(3)
        mesh.clearAir()
        let text = longText(3_000)
        mesh.call(0) { $0.say(text, at: $1) }
        mesh.run(for: .seconds(3))
        for index in 1...2 { XCTAssertEqual(mesh.nodes[index].texts, [text]) }
        XCTAssertTrue(mesh.air(.message).isEmpty)
        let own = mesh.air(.fragment).filter { $0.from == 0 }
        let relayed = mesh.air(.fragment).filter { $0.from == 1 }
        XCTAssertEqual(own.count, relayed.count)
        XCTAssertGreaterThan(own.count, 5)
        XCTAssertTrue(mesh.air(.fragment).allSatisfy { $0.bytes.count <= 512 })
        XCTAssertEqual(own.dropLast().map(\.bytes.count).min(), 504, "a broadcast slice is capped at 469")
        XCTAssertEqual(Set(relayed.map { $0.bytes[2] }), [6])
        // 30 ms apart, and none before the first 30 ms are over.
        let times = own.map { $0.at.nanoseconds }
        XCTAssertTrue(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == Interval.milliseconds(30).nanoseconds })
    }

    func testFragmentsFitTheLinkTheyAreFor() {
        for limit in [182, 244, 509, 512] {
            let mesh = SimulatedMesh.line(2, SimulatedMesh.Conditions(frameLimit: limit))
            mesh.clearAir()
            mesh.call(0) { $0.say(self.longText(900), at: $1) }
            mesh.run(for: .seconds(2))
            let sizes = mesh.air(.fragment).map(\.bytes.count)
            XCTAssertEqual(sizes.max(), min(limit, 504), "limit \(limit)")
            XCTAssertEqual(mesh.nodes[1].texts.count, 1, "limit \(limit)")
        }
    }

    func testDirectedFragmentsFillTheLimitExactly() throws {
        let mesh = SimulatedMesh.line(2)
        mesh.clearAir()
        var random = SeededRandom(seed: 3)
        let packet = Packet(
            type: .noiseEncrypted, timestamp: mesh.now.wall, senderID: mesh.peer(0), recipientID: mesh.peer(1),
            payload: random.bytes(2_000))
        mesh.call(0) { node, now in
            node.now = now
            node.originate(packet, signed: false)
        }
        mesh.run(for: .seconds(1))
        let sent = mesh.air(.fragment)
        XCTAssertEqual(sent.first?.bytes.count, 512)
        XCTAssertTrue(sent.allSatisfy { Packet(decoding: $0.bytes)?.recipientID == mesh.peer(1) })
        let times = sent.map { $0.at.nanoseconds }
        XCTAssertTrue(zip(times, times.dropFirst()).allSatisfy { $1 - $0 == Interval.milliseconds(25).nanoseconds })
        XCTAssertEqual(mesh.nodes[1].mesh.counts[.packetsReassembled], 1)
    }

    func testRelayCutsAFrameThatIsTooLongForTheNextLink() throws {
        let mesh = SimulatedMesh(seed: 5)
        for _ in 0..<3 { mesh.addNode() }
        mesh.connect(0, 1)
        mesh.connect(1, 2, SimulatedMesh.Conditions(frameLimit: 300))
        mesh.run(for: .seconds(12))
        mesh.clearAir()
        let text = longText(350)
        mesh.call(0) { $0.say(text, at: $1) }
        mesh.run(for: .seconds(2))
        XCTAssertEqual(mesh.nodes[2].texts, [text])
        XCTAssertEqual(mesh.air(.message).map { [$0.from, $0.to] }, [[0, 1]])
        let original = try XCTUnwrap(Packet(decoding: mesh.air(.message)[0].bytes))
        let fragments = mesh.air(.fragment).compactMap { Packet(decoding: $0.bytes) }
        XCTAssertEqual(fragments.count, 2)
        for fragment in fragments {
            XCTAssertEqual(fragment.senderID, mesh.peer(0), "on the author's behalf")
            XCTAssertEqual(fragment.timestamp, original.timestamp)
            XCTAssertEqual(fragment.ttl, 6)
            XCTAssertNil(fragment.signature)
        }
    }

    /// Chapter 03 D5.
    func testTheExampleIsCutIntoTheFragmentsAsWritten() throws {
        let sender = PeerID(value: 0x0011_2233_4455_6677)
        let packet = Packet(
            type: .message, timestamp: WallTime(milliseconds: 1_700_000_000_123), senderID: sender,
            payload: Array("abcdefghijklmnopqrstuvwxyz".utf8))
        let plan = try XCTUnwrap(
            FragmentPlan(
                Frame(packet.encoded()), chunk: 32, streamID: FragmentStreamID(value: 0xa1a2_a3a4_a5a6_a7a8)))
        XCTAssertEqual(plan.count, 2)
        XCTAssertEqual(
            plan.frame(at: 0).map { Hex.encode($0.bytes) },
            "012007" + "0000018bcfe5687b" + "00002d0011223344556677a1a2a3a4a5a6a7a80000000202"
                + "0102070000018bcfe5687b00001a00112233445566776162636465666768696a")
        XCTAssertEqual(
            plan.frame(at: 1).map { Hex.encode($0.bytes) },
            "012007" + "0000018bcfe5687b" + "00001d0011223344556677a1a2a3a4a5a6a7a80001000202"
                + "6b6c6d6e6f707172737475767778797a")
        XCTAssertEqual(
            plan.frame(at: 0)?.withView { messageIDText($0) }, "0011223344556677-1700000000123-32-873c601f")
        XCTAssertEqual(
            plan.frame(at: 1)?.withView { messageIDText($0) }, "0011223344556677-1700000000123-32-c4d94e6c")
    }

    // MARK: Reassembly (B12)

    private func fragments(of packet: Packet, chunk: Int, stream: UInt64 = 7) throws -> [Frame] {
        let plan = try XCTUnwrap(
            FragmentPlan(Frame(packet.encoded()), chunk: chunk, streamID: FragmentStreamID(value: stream)))
        return (0..<plan.count).compactMap(plan.frame)
    }

    private func signedMessage(_ mesh: SimulatedMesh, by node: Int, _ text: String) throws -> Packet {
        var packet = Packet(
            type: .message, timestamp: mesh.now.wall, senderID: mesh.peer(node), payload: Array(text.utf8))
        try mesh.nodes[node].identity.sign(&packet)
        return packet
    }

    private func link(_ mesh: SimulatedMesh, at node: Int, to peer: Int) throws -> LinkID {
        try XCTUnwrap(mesh.nodes[node].mesh.links.first { $0.peer == mesh.peer(peer) }).id
    }

    func testFragmentsComeInAnyOrderAndAForgedOneDoesNotThrowTheSetAway() throws {
        let mesh = SimulatedMesh.line(2)
        let link = try link(mesh, at: 0, to: 1)
        let frames = try fragments(of: try signedMessage(mesh, by: 1, longText(300)), chunk: 64)
        var liar = Packet(
            type: .fragment, timestamp: mesh.now.wall, senderID: mesh.peer(1),
            payload: Array(try XCTUnwrap(frames[0].payload())))
        liar.payload[10] = 0x20
        mesh.inject(frames[2].bytes, into: 0, on: link)
        mesh.inject(try liar.encoded(), into: 0, on: link)
        for frame in frames.reversed() { mesh.inject(frame.bytes, into: 0, on: link) }
        XCTAssertEqual(mesh.nodes[0].texts.count, 1)
    }

    func testIncompleteSetIsForgottenAfterThirtySeconds() throws {
        let mesh = SimulatedMesh.line(2)
        let link = try link(mesh, at: 0, to: 1)
        let frames = try fragments(of: try signedMessage(mesh, by: 1, longText(300)), chunk: 64)
        for frame in frames.dropLast() { mesh.inject(frame.bytes, into: 0, on: link) }
        mesh.run(for: .seconds(50))
        XCTAssertEqual(mesh.nodes[0].mesh.drops[.assemblyExpired], 1)
        XCTAssertTrue(mesh.nodes[0].texts.isEmpty)
    }

    func testFragmentsPassingThroughAreRelayedButNotAssembled() throws {
        let mesh = SimulatedMesh.line(3)
        let link = try link(mesh, at: 1, to: 0)
        var random = SeededRandom(seed: 4)
        let packet = Packet(
            type: .noiseEncrypted, timestamp: mesh.now.wall, senderID: mesh.peer(0), recipientID: mesh.peer(2),
            payload: random.bytes(300))
        mesh.clearAir()
        for frame in try fragments(of: packet, chunk: 128) { mesh.inject(frame.bytes, into: 1, on: link) }
        mesh.run(for: .seconds(1))
        XCTAssertEqual(mesh.nodes[1].mesh.counts[.packetsReassembled], 0)
        XCTAssertEqual(mesh.nodes[2].mesh.counts[.packetsReassembled], 1)
    }

    func testReassembledPacketIsNeitherRelayedNorDirect() throws {
        let mesh = SimulatedMesh.line(3)
        let link = try link(mesh, at: 1, to: 0)
        mesh.clearAir()
        let announce = Announce(
            nickname: "new name", noisePublicKey: mesh.nodes[0].identity.noise.publicKey.bytes,
            signingPublicKey: mesh.nodes[0].identity.signing.publicKey.bytes)
        var packet = Packet(
            type: .announce, timestamp: mesh.now.wall, senderID: mesh.peer(0),
            payload: try XCTUnwrap(announce.encoded()))
        try mesh.nodes[0].identity.sign(&packet)
        for frame in try fragments(of: packet, chunk: 64) { mesh.inject(frame.bytes, into: 1, on: link) }
        mesh.run(for: .milliseconds(300))
        XCTAssertEqual(mesh.nodes[1].mesh.peer(mesh.peer(0), at: mesh.now)?.nickname, "new name")
        XCTAssertTrue(mesh.air(.announce).allSatisfy { Packet(decoding: $0.bytes)?.payload != packet.payload })
    }

    func testFragmentOfFragmentsIsRefused() throws {
        let mesh = SimulatedMesh.line(2)
        let link = try link(mesh, at: 0, to: 1)
        let inner = try fragments(of: try signedMessage(mesh, by: 1, longText(300)), chunk: 300)[0]
        for frame in try fragments(of: try XCTUnwrap(inner.packet()), chunk: 200, stream: 9) {
            mesh.inject(frame.bytes, into: 0, on: link)
        }
        XCTAssertTrue(mesh.nodes[0].mesh.drops[.assemblyLimit] > 0)
        XCTAssertTrue(mesh.nodes[0].texts.isEmpty)
    }

    func testOldInnerPacketIsRefusedUnlessItIsASyncAnswerFromTheNeighbour() throws {
        let mesh = SimulatedMesh.line(3)
        let link = try link(mesh, at: 1, to: 0)
        var packet = try signedMessage(mesh, by: 2, longText(300))
        packet.timestamp = WallTime(milliseconds: mesh.now.wall.milliseconds - 600_000)
        try mesh.nodes[2].identity.sign(&packet)
        packet.ttl = 0
        packet.isSyncResponse = true
        let frames = try fragments(of: packet, chunk: 128)
        mesh.nodes[1].mesh.gate.syncRequests.removeAll()
        for frame in frames { mesh.inject(frame.bytes, into: 1, on: link) }
        XCTAssertEqual(mesh.nodes[1].texts, [])
        mesh.nodes[1].mesh.gate.syncRequests.noteRequest(to: mesh.peer(0), at: mesh.now.monotonic)
        for frame in frames { mesh.inject(frame.bytes, into: 1, on: link) }
        XCTAssertEqual(mesh.nodes[1].texts.count, 1, "authored by a third party, answered by the neighbour")
        XCTAssertEqual(mesh.nodes[1].heard.first?.isReplay, true)
    }
}
