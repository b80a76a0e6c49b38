import Basics
import Crypto
import Simulation
import Wire
import XCTest

@testable import Mesh

/// What neighbours that mean no good can do to sessions, which is little.
final class NoiseAttackTests: XCTestCase {
    private func link(of node: Int, to other: Int, in mesh: SimulatedMesh) throws -> LinkID {
        try XCTUnwrap(mesh.nodes[node].mesh.links.first { $0.peer == mesh.peer(other) }).id
    }

    private func inject(
        _ type: MessageType, _ payload: [UInt8], from sender: PeerID, into node: Int, on link: LinkID,
        _ mesh: SimulatedMesh
    ) throws {
        let packet = Packet(
            type: type, timestamp: mesh.now.wall, senderID: sender, recipientID: mesh.peer(node), payload: payload)
        mesh.inject(try packet.encoded(), into: node, on: link)
    }

    /// Nodes 0 and 2 on links of their own to node 1, which talks with node 0.
    private func threeNodes() -> SimulatedMesh {
        let mesh = SimulatedMesh.line(3)
        mesh.tell("before", from: 0, to: 1)
        mesh.run(for: .seconds(3))
        return mesh
    }

    private func firstMessage(_ seed: UInt64) -> [UInt8] {
        var random = SeededRandom(seed: seed)
        return NoiseStaticKey.generate(using: &random).publicKey.bytes
    }

    // MARK: Storms

    func testHandshakeStormOnOneLinkStarvesNobodyElse() throws {
        let mesh = threeNodes()
        let hostile = try link(of: 1, to: 2, in: mesh)
        mesh.recordsAir = false
        for round in 0..<3_000 as Range<UInt64> {
            try inject(
                .noiseHandshake, firstMessage(round), from: PeerID(value: 1_000 + round), into: 1, on: hostile, mesh)
            if round % 50 == 0 { mesh.run(for: .seconds(1)) }
        }
        XCTAssertLessThanOrEqual(mesh.nodes[1].mesh.sessions.count, 64)
        mesh.tell("during", from: 0, to: 1)
        mesh.run(for: .seconds(1))
        XCTAssertEqual(mesh.nodes[1].privateTexts, ["before", "during"])
        mesh.call(0) { $0.openSession(with: mesh.peer(1), renews: true, at: $1) }
        mesh.run(for: .seconds(2))
        XCTAssertEqual(mesh.nodes[0].sessionsEstablished, 2, "new handshakes go through too")
        XCTAssertGreaterThan(mesh.nodes[1].drops[.handshakeLimit], 1_000)
    }

    func testStormInTheNameOfAPeerLeavesItsOwnLinkOpen() throws {
        let mesh = threeNodes()
        let hostile = try link(of: 1, to: 2, in: mesh)
        mesh.clearAir()
        for round in 0..<300 as Range<UInt64> {
            try inject(.noiseHandshake, firstMessage(round), from: mesh.peer(0), into: 1, on: hostile, mesh)
            if round % 10 == 0 { mesh.run(for: .seconds(1)) }
        }
        let answers = mesh.air(.noiseHandshake).filter { $0.from == 1 && $0.bytes.count == 256 }
        XCTAssertLessThanOrEqual(answers.count, 10, "half a minute of it: never more than ten a minute to one peer")
        mesh.call(0) { $0.openSession(with: mesh.peer(1), renews: true, at: $1) }
        mesh.run(for: .seconds(3))
        mesh.tell("after", from: 0, to: 1)
        mesh.run(for: .seconds(45))
        XCTAssertEqual(mesh.nodes[1].privateTexts, ["before", "after"])
    }

    func testHandshakesFromElsewhereDoNotKeepAProvenNeighbourWaiting() throws {
        let mesh = threeNodes()
        let hostile = try link(of: 1, to: 2, in: mesh)
        for round in 0..<60 as Range<UInt64> {
            try inject(.noiseHandshake, firstMessage(round), from: mesh.peer(0), into: 1, on: hostile, mesh)
            XCTAssertEqual(mesh.tell("\(round)", from: 1, to: 0), .sent)
            mesh.run(for: .seconds(1))
        }
        XCTAssertEqual(mesh.nodes[0].privateTexts, (0..<60).map { "\($0)" })
    }

    func testCiphertextStormNeitherEndsNorStartsAnything() throws {
        let mesh = threeNodes()
        let hostile = try link(of: 1, to: 2, in: mesh)
        let before = mesh.nodes[1].sessionsEstablished
        var random = SeededRandom(seed: 5)
        mesh.clearAir()
        for round in 0..<1_000 {
            let sender = round % 2 == 0 ? mesh.peer(0) : PeerID(value: 5_000 + UInt64(round))
            try inject(
                .noiseEncrypted, random.bytes(Int.random(in: 0...60, using: &random)), from: sender, into: 1,
                on: hostile, mesh)
            if round % 50 == 0 { mesh.run(for: .seconds(1)) }
        }
        XCTAssertEqual(mesh.nodes[1].sessionsEstablished, before)
        XCTAssertEqual(mesh.air(.noiseHandshake).count, 0, "unknown senders and failures elsewhere start nothing")
        mesh.tell("after", from: 0, to: 1)
        mesh.run(for: .seconds(1))
        XCTAssertEqual(mesh.nodes[1].privateTexts, ["before", "after"])
    }

    /// A relay whose share is used up must not take a distant peer's handshake with it.
    func testHandshakeRefusedOnABusyLinkIsTakenFromAnother() throws {
        let box = NodeHarness()
        let busy = try box.meet(ScriptedPeer(seed: 50))
        let quiet = try box.meet(ScriptedPeer(seed: 51))
        let distant = ScriptedPeer(seed: 52)
        for round in 0..<40 as Range<UInt64> {
            let stranger = ScriptedPeer(seed: 1_000 + round)
            let frame = try stranger.frame(
                .noiseHandshake, firstMessage(round), at: box.now, ttl: 5, recipient: box.me, isSigned: false)
            box.receive(frame, on: busy)
        }
        box.clearSent()
        let frame = try distant.frame(
            .noiseHandshake, firstMessage(99), at: box.now, ttl: 5, recipient: box.me, isSigned: false)
        box.receive(frame, on: busy)
        XCTAssertEqual(box.frames(.noiseHandshake).count, 0)
        box.receive(frame, on: quiet)
        XCTAssertEqual(Set(box.frames(.noiseHandshake).map(\.frame.recipientID)), [distant.id])
        box.receive(frame, on: quiet)
        XCTAssertEqual(box.node.session(with: distant.id)?.state, .responding)
    }

    /// Each known peer's name draws a handshake once, but no more of them than a link may cause.
    func testCiphertextsInTheNamesOfACrowdCauseOnlyALinksShareOfHandshakes() throws {
        let box = NodeHarness()
        let crowd = (0..<60 as Range<UInt64>).map { ScriptedPeer(seed: 100 + $0) }
        var link = LinkID(value: 0)
        for peer in crowd { link = try box.meet(peer) }
        box.clearSent()
        for peer in crowd {
            let frame = try peer.frame(
                .noiseEncrypted, [UInt8](repeating: 1, count: 40), at: box.now, ttl: 6, recipient: box.me,
                isSigned: false)
            box.receive(frame, on: link)
        }
        XCTAssertEqual(Set(box.frames(.noiseHandshake).map(\.frame.recipientID)).count, 30)
    }

    // MARK: Replay

    /// Everything ever sent, again under new timestamps and in another order.
    func testReplayedPacketsDeliverNothingTwiceAndBreakNothing() throws {
        let mesh = threeNodes()
        for text in ["one", "two"] { mesh.tell(text, from: 0, to: 1) }
        mesh.run(for: .seconds(1))
        let heard = mesh.nodes[1].privateTexts
        let way = try link(of: 1, to: 0, in: mesh)
        let recorded = (mesh.air(.noiseHandshake) + mesh.air(.noiseEncrypted)).filter { $0.to == 1 && $0.from == 0 }
        for transmission in recorded.reversed() {
            var packet = try XCTUnwrap(Packet(decoding: transmission.bytes))
            guard packet.recipientID == mesh.peer(1) else { continue }
            packet.timestamp = mesh.now.wall
            packet.ttl = 7
            mesh.inject(try packet.encoded(), into: 1, on: way)
        }
        XCTAssertEqual(mesh.nodes[1].privateTexts, heard)
        mesh.run(for: .seconds(30))
        mesh.tell("after", from: 0, to: 1)
        mesh.tell("back", from: 1, to: 0)
        mesh.run(for: .seconds(5))
        XCTAssertEqual(mesh.nodes[1].privateTexts, heard + ["after"])
        XCTAssertEqual(mesh.nodes[0].privateTexts, ["back"])
    }

    func testPacketsWithoutOurIDAreOnlyRelayed() throws {
        let mesh = SimulatedMesh.line(3)
        let way = try link(of: 1, to: 0, in: mesh)
        for recipient in [nil, .broadcast, mesh.peer(2)] as [PeerID?] {
            let packet = Packet(
                type: .noiseHandshake, timestamp: mesh.now.wall, senderID: mesh.peer(0), recipientID: recipient,
                payload: firstMessage(9))
            mesh.inject(try packet.encoded(), into: 1, on: way)
            XCTAssertTrue(mesh.nodes[1].mesh.sessions.isEmpty)
        }
    }

    // MARK: Identity

    /// A handshake in somebody else's name, from beginning to end.
    func testHandshakeUnderABorrowedIDProvesNothing() throws {
        let mesh = SimulatedMesh.line(3)
        let hostile = try link(of: 1, to: 2, in: mesh)
        let victim = mesh.peer(0)
        var random = SeededRandom(seed: 3)
        var mallory = NoiseHandshake(
            .initiator, staticKey: .generate(using: &random), ephemeral: .generate(using: &random))
        mesh.clearAir()
        try inject(.noiseHandshake, try mallory.write(), from: victim, into: 1, on: hostile, mesh)
        let answer = try XCTUnwrap(mesh.air(.noiseHandshake).last).bytes
        _ = try mallory.read(XCTUnwrap(Packet(decoding: answer)).payload)
        try inject(.noiseHandshake, try mallory.write(), from: victim, into: 1, on: hostile, mesh)
        XCTAssertEqual(mesh.nodes[1].sessionsEstablished, 0)
        XCTAssertEqual(mesh.nodes[1].drops[.handshakeMismatch], 1)
        XCTAssertFalse(mesh.nodes[1].mesh.isNoiseProven(victim))
        XCTAssertEqual(mesh.nodes[1].sessionFailures, [])
        mesh.tell("mine", from: 1, to: 0)
        mesh.run(for: .seconds(4))
        XCTAssertEqual(mesh.nodes[0].privateTexts, ["mine"])
    }

    /// The Noise key in an announce can be copied; what a session proves outranks what came first (chapter 02 §6.9).
    func testImpostorsSigningKeyGivesWayToTheProvenOne() throws {
        let mesh = SimulatedMesh(seed: 4)
        for _ in 0..<3 { mesh.addNode() }
        mesh.connect(1, 2)
        mesh.run(for: .seconds(5))
        let victim = mesh.nodes[0].identity
        var random = SeededRandom(seed: 8)
        let impostor = NodeIdentity(noise: victim.noise, signing: .generate(using: &random))
        func fakeAnnounce() throws -> [UInt8] {
            let announce = Announce(
                nickname: "evil", noisePublicKey: victim.noise.publicKey.bytes,
                signingPublicKey: impostor.signing.publicKey.bytes)
            var packet = Packet(
                type: .announce, ttl: 5, timestamp: mesh.now.wall, senderID: victim.peerID,
                payload: try XCTUnwrap(announce.encoded()))
            try impostor.sign(&packet)
            return try packet.encoded()
        }
        let hostile = try link(of: 1, to: 2, in: mesh)
        mesh.inject(try fakeAnnounce(), into: 1, on: hostile)
        XCTAssertEqual(mesh.nodes[1].mesh.peer(victim.peerID, at: mesh.now)?.nickname, "evil")

        // The victim's own announces are refused now, but it can shake hands.
        mesh.connect(0, 1)
        mesh.run(for: .seconds(3))
        mesh.tell("it is me", from: 0, to: 1)
        mesh.run(for: .seconds(25))
        XCTAssertEqual(mesh.nodes[1].privateTexts, ["it is me"])
        let known = try XCTUnwrap(mesh.nodes[1].mesh.peer(victim.peerID, at: mesh.now))
        XCTAssertEqual(known.signingKey, victim.signing.publicKey)
        XCTAssertEqual(known.nickname, "node-0", "its announces count again")
        let refused = mesh.nodes[1].drops[.pinnedKeyMismatch]
        mesh.inject(try fakeAnnounce(), into: 1, on: hostile)
        XCTAssertEqual(mesh.nodes[1].drops[.pinnedKeyMismatch], refused + 1)
    }

    /// A second, different state in one generation changes nothing.
    func testOnlyTheFirstStateOfAGenerationCounts() {
        var random = SeededRandom(seed: 1)
        let first = AuthenticatedPeerState(capabilities: [.gateway], signingPublicKey: random.bytes(32))
        let second = AuthenticatedPeerState(capabilities: [], signingPublicKey: random.bytes(32))
        var exchange = PeerStateExchange(generation: NoiseStaticKey.generate(using: &random).publicKey.rawValue)
        XCTAssertEqual(exchange.pendingCopies, 1)
        exchange.noteSent()
        XCTAssertTrue(exchange.accept(first))
        XCTAssertEqual(exchange.pendingCopies, 1, "one echo")
        exchange.noteSent()
        XCTAssertFalse(exchange.accept(second))
        XCTAssertFalse(exchange.accept(first))
        XCTAssertEqual(exchange.proven, first)
        XCTAssertEqual(exchange.pendingCopies, 0)
    }

    /// The third message comes over a link of somebody else: a session, but no proof of where it leads.
    func testRelayedHandshakeProvesNoLink() {
        let mesh = SimulatedMesh.line(3)
        mesh.tell("far", from: 0, to: 2)
        mesh.run(for: .seconds(3))
        XCTAssertEqual(mesh.nodes[2].privateTexts, ["far"])
        for (node, other) in [(0, 2), (2, 0)] {
            XCTAssertFalse(mesh.nodes[node].mesh.isNoiseProven(mesh.peer(other)))
            XCTAssertFalse(mesh.nodes[node].mesh.isNoiseProven(mesh.peer(1)))
        }
    }

    // MARK: Messages that overtake the handshake

    func testCiphertextsAheadOfTheThirdMessageAreReadOnceItIsThere() throws {
        let mesh = SimulatedMesh.line(2)
        var held: [(SimulatedMesh.Transmission)] = []
        mesh.interference = { passing in
            guard passing.from == 0, let packet = Packet(decoding: passing.bytes),
                packet.type == .noiseHandshake, packet.payload.count == 64
            else { return passing.bytes }
            held.append(passing)
            return nil
        }
        mesh.tell("early", from: 0, to: 1)
        mesh.run(for: .seconds(2))
        XCTAssertEqual(mesh.nodes[1].privateTexts, [])
        mesh.interference = nil
        mesh.inject(try XCTUnwrap(held.first).bytes, into: 1, on: try link(of: 1, to: 0, in: mesh))
        XCTAssertEqual(mesh.nodes[1].privateTexts, ["early"])
    }
}
