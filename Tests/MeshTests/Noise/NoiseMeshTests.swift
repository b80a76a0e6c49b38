import Basics
import Crypto
import Simulation
import Wire
import XCTest

@testable import Mesh

/// Sessions between nodes of a simulated mesh.
final class NoiseMeshTests: XCTestCase {
    private func established(_ mesh: SimulatedMesh, _ a: Int, _ b: Int) -> Bool {
        mesh.nodes[a].mesh.session(with: mesh.peer(b))?.state == .established
            && mesh.nodes[b].mesh.session(with: mesh.peer(a))?.state == .established
    }

    // MARK: Neighbours

    func testNeighboursTalkInPrivateAndProveTheirLink() throws {
        let mesh = SimulatedMesh.line(2)
        XCTAssertEqual(mesh.tell("hello", from: 0, to: 1), .queued)
        mesh.run(for: .seconds(2))
        XCTAssertEqual(mesh.nodes[1].privateTexts, ["hello"])
        for (node, other) in [(0, 1), (1, 0)] {
            let session = try XCTUnwrap(mesh.nodes[node].mesh.session(with: mesh.peer(other)))
            XCTAssertEqual(session.state, .established)
            XCTAssertEqual(session.fingerprint, mesh.nodes[other].identity.fingerprint)
            XCTAssertEqual(session.provenSigningKey, mesh.nodes[other].identity.signing.publicKey)
            XCTAssertTrue(mesh.nodes[node].mesh.isNoiseProven(mesh.peer(other)))
            let pins = mesh.nodes[node].events.compactMap {
                if case .identityLearned(let record) = $0.event { record.authenticatedSigningKey } else { nil }
            }
            XCTAssertEqual(pins, [mesh.nodes[other].identity.signing.publicKey])
            XCTAssertEqual(session.messagesSent, node == 0 ? 3 : 2, "state, its echo, and the text")
        }
        XCTAssertEqual(mesh.tell("back", from: 1, to: 0), .sent)
        mesh.run(for: .seconds(1))
        XCTAssertEqual(mesh.nodes[0].privateTexts, ["back"])
    }

    func testHandshakeTakesThreePaddedUnsignedPackets() throws {
        let mesh = SimulatedMesh.line(2)
        mesh.clearAir()
        mesh.call(0) { $0.openSession(with: mesh.peer(1), at: $1) }
        mesh.run(for: .seconds(1))
        let packets = mesh.air(.noiseHandshake).compactMap { Packet(decoding: $0.bytes) }
        XCTAssertEqual(packets.map(\.payload.count), [32, 96, 64])
        XCTAssertEqual(mesh.air(.noiseHandshake).map(\.bytes.count), [256, 256, 256])
        for packet in packets {
            XCTAssertNil(packet.signature)
            XCTAssertEqual(packet.ttl, 7)
            XCTAssertEqual(packet.version, 1)
        }
        XCTAssertEqual(packets.map(\.recipientID), [mesh.peer(1), mesh.peer(0), mesh.peer(1)])
    }

    /// Phones hand mail over when they hear an announce on a link they have proved (chapter 02 §4.7).
    func testEstablishedSessionDrawsAnAnnounceFromBothSides() {
        let mesh = SimulatedMesh.line(2)
        mesh.clearAir()
        mesh.call(0) { $0.openSession(with: mesh.peer(1), at: $1) }
        mesh.run(for: .seconds(1))
        XCTAssertEqual(Set(mesh.air(.announce).map(\.from)), [0, 1])
    }

    func testStateSaysWhatAnnouncesSay() throws {
        let mesh = SimulatedMesh.line(2)
        mesh.call(1) { $0.setAdvertisement(capabilities: [.gateway, .bridge], bridgeCell: "u4pru", at: $1) }
        mesh.call(0) { $0.openSession(with: mesh.peer(1), at: $1) }
        mesh.run(for: .seconds(1))
        XCTAssertEqual(mesh.nodes[0].mesh.session(with: mesh.peer(1))?.provenCapabilities, [.gateway, .bridge])
        XCTAssertEqual(mesh.nodes[1].mesh.session(with: mesh.peer(0))?.provenCapabilities, [])
    }

    func testBothBeginningAtOnceEndInOneSession() {
        for seed in 1...5 as ClosedRange<UInt64> {
            let mesh = SimulatedMesh.line(2, seed: seed)
            mesh.tell("a", from: 0, to: 1)
            mesh.tell("b", from: 1, to: 0)
            mesh.run(for: .seconds(4))
            XCTAssertEqual(mesh.nodes[1].privateTexts, ["a"])
            XCTAssertEqual(mesh.nodes[0].privateTexts, ["b"])
            XCTAssertEqual(mesh.nodes[0].sessionsEstablished, mesh.nodes[1].sessionsEstablished)
        }
    }

    func testLongMessagesAndShortOnesKeepTheirOrderOnANarrowLink() {
        let mesh = SimulatedMesh.line(2, SimulatedMesh.Conditions(frameLimit: 230))
        let texts = (0..<30).map { $0 % 3 == 0 ? String(repeating: "long ", count: 40) + "\($0)" : "\($0)" }
        for text in texts { mesh.tell(text, from: 0, to: 1) }
        mesh.run(for: .seconds(20))
        XCTAssertEqual(mesh.nodes[1].privateTexts, texts)
        XCTAssertEqual(mesh.nodes[1].drops[.noiseRefused], 0)
    }

    func testALinkTooNarrowForAWholeHandshakeIsProvenToo() {
        let mesh = SimulatedMesh.line(2, SimulatedMesh.Conditions(frameLimit: 182))
        mesh.tell("hello", from: 0, to: 1)
        mesh.run(for: .seconds(10))
        XCTAssertEqual(mesh.nodes[1].privateTexts, ["hello"])
        for (node, other) in [(0, 1), (1, 0)] {
            XCTAssertTrue(mesh.nodes[node].mesh.isNoiseProven(mesh.peer(other)))
        }
    }

    // MARK: Several hops

    func testDistantPeersTalkInOrderAsPhonesWantIt() throws {
        for seed in 1...4 as ClosedRange<UInt64> {
            let mesh = SimulatedMesh.line(6, seed: seed)
            let texts = (0..<30).map(String.init)
            var arrivals: [UInt32] = []
            mesh.interference = { passing in
                if passing.to == 5, let packet = Packet(decoding: passing.bytes), packet.type == .noiseEncrypted {
                    arrivals.append(packet.payload.prefix(4).reduce(0) { $0 << 8 | UInt32($1) })
                }
                return passing.bytes
            }
            for text in texts { mesh.tell(text, from: 0, to: 5) }
            mesh.run(for: .seconds(15))
            XCTAssertEqual(Set(mesh.nodes[5].privateTexts), Set(texts), "seed \(seed)")
            XCTAssertFalse(mesh.nodes[0].mesh.isNoiseProven(mesh.peer(5)), "no link of its own")
            // Nobody is overtaken by more than the eight others that the phones' window forgives (chapter 02 §3.5).
            for (position, nonce) in arrivals.enumerated() {
                XCTAssertLessThanOrEqual(arrivals[..<position].count { $0 > nonce }, 8, "seed \(seed)")
            }
            XCTAssertEqual(arrivals.count, 32)
        }
    }

    func testSessionsComeAboutOverLossyLinks() {
        var delivered = 0
        for seed in 1...6 as ClosedRange<UInt64> {
            let mesh = SimulatedMesh.line(4, seed: seed, SimulatedMesh.Conditions(loss: 0.1))
            mesh.tell("through", from: 0, to: 3)
            mesh.run(for: .minutes(9))
            delivered += mesh.nodes[3].privateTexts.count
            XCTAssertLessThanOrEqual(mesh.nodes[3].privateTexts.count, 1)
        }
        // The text itself is not repeated, so that some are lost is in order.
        XCTAssertGreaterThanOrEqual(delivered, 3)
    }

    // MARK: Links and restarts

    func testNewLinkIsProvedAnewThoughTheSessionLivesOn() throws {
        let mesh = SimulatedMesh.line(2)
        mesh.tell("one", from: 0, to: 1)
        mesh.run(for: .seconds(2))
        mesh.disconnect(try XCTUnwrap(mesh.links(of: 0).first))
        XCTAssertFalse(mesh.nodes[0].mesh.isNoiseProven(mesh.peer(1)))
        XCTAssertTrue(established(mesh, 0, 1), "a session outlives its link")
        mesh.run(for: .seconds(3))
        mesh.connect(0, 1)
        mesh.run(for: .seconds(5))
        XCTAssertTrue(mesh.nodes[0].mesh.isNoiseProven(mesh.peer(1)))
        XCTAssertTrue(mesh.nodes[1].mesh.isNoiseProven(mesh.peer(0)))
        mesh.tell("two", from: 1, to: 0)
        mesh.run(for: .seconds(2))
        XCTAssertEqual(mesh.nodes[0].privateTexts, ["two"])
    }

    func testRestartedPeerIsTalkedToAgain() {
        for restarted in 0...1 {
            let mesh = SimulatedMesh.line(2)
            mesh.tell("before", from: 0, to: 1)
            mesh.run(for: .seconds(2))
            for link in mesh.links(of: restarted) { mesh.disconnect(link) }
            mesh.restart(restarted, MeshConfiguration(nickname: "again"))
            mesh.connect(0, 1)
            mesh.run(for: .seconds(5))
            mesh.tell("after", from: 0, to: 1)
            mesh.tell("answer", from: 1, to: 0)
            mesh.run(for: .seconds(5))
            XCTAssertEqual(mesh.nodes[1].privateTexts, ["before", "after"])
            XCTAssertEqual(mesh.nodes[0].privateTexts, ["answer"])
        }
    }

    func testLeaveTakesTheProof() {
        let mesh = SimulatedMesh.line(2)
        mesh.tell("one", from: 0, to: 1)
        mesh.run(for: .seconds(2))
        mesh.call(1) { $0.stop(at: $1) }
        mesh.run(for: .milliseconds(40))
        XCTAssertFalse(mesh.nodes[0].mesh.isNoiseProven(mesh.peer(1)))
        XCTAssertTrue(mesh.nodes[1].mesh.sessions.isEmpty, "nothing of it survives the stop")
    }

    /// Chapter 03 B11.2: whoever comes back has lost its keys.
    func testAfterAGoodbyeNothingIsSaidUnderTheOldKeys() {
        let mesh = SimulatedMesh.line(3)
        mesh.tell("one", from: 1, to: 0)
        mesh.run(for: .seconds(2))
        mesh.call(0) { $0.stop(at: $1) }
        mesh.run(for: .milliseconds(40))
        XCTAssertNil(mesh.nodes[1].mesh.session(with: mesh.peer(0)))
        XCTAssertEqual(mesh.tell("two", from: 1, to: 0), .queued, "though it was heard of a moment ago")
        for link in mesh.nodes[1].mesh.links where link.peer == mesh.peer(0) { mesh.disconnect(link.id) }
        mesh.restart(0, MeshConfiguration(nickname: "again"))
        mesh.connect(0, 1)
        mesh.run(for: .seconds(5))
        XCTAssertEqual(mesh.nodes[0].privateTexts, ["one", "two"])
    }

    func testAPeerToBeTrustedAnewHasNeitherSessionNorProof() {
        let mesh = SimulatedMesh.line(2)
        mesh.tell("one", from: 0, to: 1)
        mesh.run(for: .seconds(2))
        XCTAssertTrue(mesh.nodes[0].mesh.isNoiseProven(mesh.peer(1)))
        mesh.call(0) { _ = $0.forget(mesh.peer(1), at: $1) }
        XCTAssertNil(mesh.nodes[0].mesh.session(with: mesh.peer(1)))
        XCTAssertFalse(mesh.nodes[0].mesh.isNoiseProven(mesh.peer(1)))
    }

    func testSessionsAreRenewedBeforeTheyAreADayOld() throws {
        let box = NodeHarness()
        let peer = ScriptedPeer(seed: 2)
        let link = try box.meet(peer)
        let party = SessionParty(peer.identity.noise)
        func receive(_ message: [UInt8]) throws {
            box.receive(
                try peer.frame(.noiseHandshake, message, at: box.now, recipient: box.me, isSigned: false), on: link)
        }
        try receive(XCTUnwrap(party.start(with: box.me)))
        let second = try XCTUnwrap(box.frames(.noiseHandshake).last?.frame.payload())
        try receive(XCTUnwrap(party.receive(second, from: box.me)))
        XCTAssertEqual(box.node.session(with: peer.id)?.state, .established)
        box.stall(.hours(23) - .minutes(1))
        box.clearSent()
        box.advance(by: .seconds(50))
        XCTAssertEqual(box.frames(.noiseHandshake).count, 0)
        box.advance(by: .seconds(15))
        XCTAssertEqual(box.frames(.noiseHandshake).map { $0.frame.payload()?.count }, [32])
    }

    // MARK: Waiting

    func testNothingBeginsWithAnAbsentPeerAndItsPayloadsComeBack() {
        let mesh = SimulatedMesh.line(2)
        mesh.clearAir()
        let absent = PeerID(value: 77)
        XCTAssertEqual(mesh.call(0) { $0.send(.delivered(messageID: "x"), to: absent, at: $1) }, .queued)
        XCTAssertFalse(mesh.call(0) { $0.openSession(with: absent, at: $1) })
        mesh.run(for: .minutes(10))
        XCTAssertEqual(mesh.air(.noiseHandshake).count, 0)
        mesh.run(for: .seconds(10))
        XCTAssertEqual(mesh.nodes[0].undeliverable, 1)
    }

    func testQueuedPayloadGoesOutWhenThePeerComesBack() throws {
        let mesh = SimulatedMesh.line(2)
        mesh.disconnect(try XCTUnwrap(mesh.links(of: 0).first))
        mesh.run(for: .seconds(20))
        XCTAssertEqual(mesh.tell("waited", from: 0, to: 1), .queued)
        mesh.run(for: .seconds(60))
        mesh.connect(0, 1)
        mesh.run(for: .seconds(5))
        XCTAssertEqual(mesh.nodes[1].privateTexts, ["waited"])
    }

    func testQueuesRefuseWhatDoesNotFit() {
        let mesh = SimulatedMesh.line(2)
        let absent = PeerID(value: 77)
        let refused = mesh.call(0) { node, now in
            (0..<40).count { _ in node.send(.delivered(messageID: "x"), to: absent, at: now) == .refused }
        }
        XCTAssertEqual(refused, 8)
        let odd: [NoisePayload] = [
            NoisePayload(type: .authenticatedPeerState, body: [1]), NoisePayload(type: .voiceFrame, body: [1]),
            NoisePayload(type: .privateMessage, body: [UInt8](repeating: 0, count: 65_535)),
        ]
        for payload in odd {
            XCTAssertEqual(mesh.call(0) { $0.send(payload, to: mesh.peer(1), at: $1) }, .refused)
        }
        XCTAssertEqual(mesh.call(0) { $0.send(.delivered(messageID: "x"), to: mesh.peer(0), at: $1) }, .refused)
    }

    func testPeerThatDoesNotAnswerIsLeftAloneForAMinute() {
        let mesh = SimulatedMesh.line(2)
        mesh.interference = { $0.from == 1 && $0.bytes[1] == MessageType.noiseHandshake.rawValue ? nil : $0.bytes }
        mesh.clearAir()
        mesh.tell("one", from: 0, to: 1)
        mesh.run(for: .seconds(75))
        XCTAssertEqual(mesh.nodes[0].sessionFailures, [.noAnswer])
        XCTAssertEqual(mesh.air(.noiseHandshake).count { $0.from == 0 }, 2)
        mesh.interference = nil
        mesh.run(for: .seconds(60))
        XCTAssertEqual(mesh.nodes[1].privateTexts, ["one"], "an announce after the pause has it tried again")
    }

    func testWithoutATrustedClockThereAreNoHandshakes() {
        let mesh = SimulatedMesh.line(2)
        mesh.call(1) { $0.setClockTrusted(false, at: $1) }
        mesh.tell("one", from: 0, to: 1)
        XCTAssertFalse(mesh.call(1) { $0.openSession(with: mesh.peer(0), at: $1) })
        mesh.run(for: .seconds(5))
        XCTAssertFalse(established(mesh, 0, 1))
        mesh.call(1) { $0.setClockTrusted(true, at: $1) }
        mesh.run(for: .seconds(8))
        XCTAssertEqual(mesh.nodes[1].privateTexts, ["one"])
    }

    /// A file of 80 kB in one packet of version 2, cut into fragments.
    func testPrivateFileArrivesWhole() {
        let mesh = SimulatedMesh.line(2)
        mesh.recordsAir = false
        var random = SeededRandom(seed: 12)
        let file = NoisePayload(type: .privateFile, body: random.bytes(80_000))
        XCTAssertEqual(mesh.call(0) { $0.send(file, to: mesh.peer(1), at: $1) }, .queued)
        mesh.tell("behind it", from: 0, to: 1)
        mesh.run(for: .seconds(30))
        let got = mesh.nodes[1].events.compactMap { entry -> NoisePayload? in
            if case .noisePayload(let payload, _, _) = entry.event { payload } else { nil }
        }
        XCTAssertEqual(got.map(\.type), [.privateFile, .privateMessage])
        XCTAssertEqual(got.first, file)
    }
}

extension SimulatedMesh {
    @discardableResult
    func tell(_ text: String, from: Int, to: Int) -> NoiseDispatch {
        let body = PrivateMessage(messageID: text.prefix(8) + "-id", content: text).encoded() ?? []
        return call(from) { $0.send(NoisePayload(type: .privateMessage, body: body), to: self.peer(to), at: $1) }
    }
}

extension SimulatedNode {
    var privateMessages: [(from: PeerID, message: PrivateMessage)] {
        events.compactMap {
            guard case .noisePayload(let payload, let peer, _) = $0.event, payload.type == .privateMessage else {
                return nil
            }
            return PrivateMessage(body: payload.body).map { (peer, $0) }
        }
    }
    var privateTexts: [String] { privateMessages.map(\.message.content) }
    var undeliverable: Int { events.count { if case .undeliverable = $0.event { true } else { false } } }
    var sessionFailures: [NoiseSessionFailure] {
        events.compactMap { if case .sessionFailed(_, let reason) = $0.event { reason } else { nil } }
    }
    var sessionsEstablished: Int { events.count { if case .sessionEstablished = $0.event { true } else { false } } }
}
