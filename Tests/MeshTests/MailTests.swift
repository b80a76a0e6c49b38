import Basics
import Crypto
import Simulation
import Wire
import XCTest

@testable import Mesh

/// Chapter 06 §6.1 and §6.3, as far as the mesh is concerned.
final class MailTests: XCTestCase {
    private func line(_ count: Int, frameLimit: Int = 512) -> SimulatedMesh {
        let mesh = SimulatedMesh(seed: 7)
        for number in 0..<count {
            var configuration = MeshConfiguration(nickname: "node-\(number)")
            configuration.takesMail = true
            mesh.addNode(configuration)
        }
        for number in 1..<count { mesh.connect(number - 1, number, SimulatedMesh.Conditions(frameLimit: frameLimit)) }
        mesh.run(for: .seconds(3))
        return mesh
    }

    private func envelope(_ size: Int = 200, for mesh: SimulatedMesh, copies: UInt8 = 4) -> CourierEnvelope {
        CourierEnvelope(
            recipientTag: [UInt8](repeating: 5, count: 16),
            expiry: WallTime(milliseconds: mesh.now.wall.milliseconds + 3_600_000),
            ciphertext: (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }, copies: copies)
    }

    private func mail(at node: Int, of mesh: SimulatedMesh) -> [(envelope: CourierEnvelope, depositor: NoisePublicKey?)]
    {
        mesh.nodes[node].events.compactMap {
            if case .mail(let envelope, _, let depositor) = $0.event { (envelope, depositor) } else { nil }
        }
    }

    private func standings(of peer: Int, at node: Int, in mesh: SimulatedMesh) -> [AnnounceStanding] {
        mesh.nodes[node].events.compactMap {
            if case .announced(mesh.peer(peer), let key, let standing) = $0.event,
                key == mesh.nodes[peer].identity.noise.publicKey
            {
                standing
            } else {
                nil
            }
        }
    }

    func testANeighbourWhoSignsMayLeaveMailAndOnesFurtherAwayMayNot() throws {
        let mesh = line(3)
        let letter = envelope(for: mesh)
        XCTAssertTrue(mesh.call(0) { $0.sendMail(letter, to: mesh.peer(1), over: .flood, at: $1) })
        XCTAssertTrue(mesh.call(0) { $0.sendMail(letter, to: mesh.peer(2), over: .flood, at: $1) })
        mesh.run(for: .seconds(2))
        XCTAssertEqual(mail(at: 1, of: mesh).map(\.envelope), [letter])
        XCTAssertEqual(mail(at: 1, of: mesh).map(\.depositor), [mesh.nodes[0].identity.noise.publicKey])
        XCTAssertEqual(mail(at: 2, of: mesh).map(\.envelope), [letter])
        XCTAssertEqual(mail(at: 2, of: mesh).map(\.depositor), [nil])
        for packet in mesh.air(.courierEnvelope).compactMap({ Packet(decoding: $0.bytes) }) {
            XCTAssertNotNil(packet.signature)
        }
    }

    /// Chapter 02 §7.6: phones let it pass, which is advised against.
    func testOverALinkThatNobodyIsBoundToNobodyLeavesMail() throws {
        let mesh = line(3)
        let link = LinkID(value: 9_000)
        mesh.call(2) { $0.linkUp(link, role: .incoming, frameLimit: 512, at: $1) }
        let letter = envelope(for: mesh)
        var packet = Packet(
            type: .courierEnvelope, timestamp: mesh.now.wall, senderID: mesh.peer(0), recipientID: mesh.peer(2),
            payload: try XCTUnwrap(letter.encoded()))
        try mesh.nodes[0].identity.sign(&packet)
        mesh.inject(try packet.encoded(), into: 2, on: link)
        XCTAssertEqual(mail(at: 2, of: mesh).map(\.envelope), [letter])
        XCTAssertEqual(mail(at: 2, of: mesh).map(\.depositor), [nil])
    }

    func testMailInFragmentsIsLeftByNeighboursOnlyToo() throws {
        let mesh = line(3)
        var random = SeededRandom(seed: 4)
        let letter = CourierEnvelope(
            recipientTag: [UInt8](repeating: 5, count: 16),
            expiry: WallTime(milliseconds: mesh.now.wall.milliseconds + 3_600_000), ciphertext: random.bytes(1_000),
            copies: 4)
        for node in 1...2 {
            XCTAssertTrue(mesh.call(0) { $0.sendMail(letter, to: mesh.peer(node), over: .flood, at: $1) })
            mesh.run(for: .seconds(2))
            XCTAssertEqual(mesh.nodes[node].mesh.counts[.packetsReassembled], 1)
            XCTAssertEqual(mail(at: node, of: mesh).map(\.envelope), [letter])
        }
        XCTAssertEqual(mail(at: 1, of: mesh).map(\.depositor), [mesh.nodes[0].identity.noise.publicKey])
        XCTAssertEqual(mail(at: 2, of: mesh).map(\.depositor), [nil])
    }

    func testForgedAndUnsignedMailIsNoDeposit() throws {
        let mesh = line(2)
        let link = try XCTUnwrap(mesh.nodes[1].mesh.links.first { $0.peer == mesh.peer(0) }).id
        for signature in [nil, [UInt8](repeating: 3, count: 64)] as [[UInt8]?] {
            var packet = Packet(
                type: .courierEnvelope, timestamp: mesh.now.wall, senderID: mesh.peer(0), recipientID: mesh.peer(1),
                payload: try XCTUnwrap(envelope(for: mesh).encoded()))
            packet.signature = signature
            mesh.inject(try packet.encoded(), into: 1, on: link)
            mesh.run(for: .milliseconds(10))
        }
        XCTAssertFalse(mail(at: 1, of: mesh).contains { $0.depositor != nil })
        var broken = Packet(
            type: .courierEnvelope, timestamp: mesh.now.wall, senderID: mesh.peer(0), recipientID: mesh.peer(1),
            payload: [1, 0, 16])
        try mesh.nodes[0].identity.sign(&broken)
        let before = mail(at: 1, of: mesh).count
        mesh.inject(try broken.encoded(), into: 1, on: link)
        XCTAssertEqual(mail(at: 1, of: mesh).count, before)
        XCTAssertEqual(mesh.nodes[1].mesh.drops[.malformedPayload], 1)
    }

    func testSomebodyElsesMailPassesUnseen() throws {
        let mesh = line(4)
        XCTAssertTrue(mesh.call(0) { $0.sendMail(envelope(for: mesh), to: mesh.peer(3), over: .flood, at: $1) })
        mesh.run(for: .seconds(2))
        XCTAssertTrue(mail(at: 1, of: mesh).isEmpty && mail(at: 2, of: mesh).isEmpty)
        XCTAssertEqual(mail(at: 3, of: mesh).count, 1)
    }

    func testOnlyAProvenLinkTakesWhatIsHandedOverForGood() throws {
        let mesh = line(3)
        let letter = envelope(for: mesh, copies: 1)
        XCTAssertFalse(mesh.call(0) { $0.sendMail(letter, to: mesh.peer(1), over: .provenLink, at: $1) })
        mesh.call(0) { $0.openSession(with: mesh.peer(1), at: $1) }
        mesh.call(0) { $0.openSession(with: mesh.peer(2), at: $1) }
        mesh.run(for: .seconds(5))
        mesh.clearAir()
        XCTAssertTrue(mesh.call(0) { $0.sendMail(letter, to: mesh.peer(1), over: .provenLink, at: $1) })
        XCTAssertFalse(
            mesh.call(0) { $0.sendMail(letter, to: mesh.peer(2), over: .provenLink, at: $1) },
            "a session over two hops proves no link")
        mesh.run(for: .seconds(1))
        XCTAssertEqual(mail(at: 1, of: mesh).map(\.envelope), [letter])
        XCTAssertEqual(mail(at: 2, of: mesh).map(\.envelope), [])
        XCTAssertEqual(mesh.air(.courierEnvelope).count, 1)
    }

    /// A long letter leaves whole or not at all.
    func testFragmentMidTrainRejection() throws {
        let mesh = line(2, frameLimit: 182)
        mesh.call(0) { $0.openSession(with: mesh.peer(1), at: $1) }
        mesh.run(for: .seconds(5))
        let letter = envelope(16_384, for: mesh, copies: 1)
        XCTAssertTrue(mesh.call(0) { $0.sendMail(letter, to: mesh.peer(1), over: .provenLink, at: $1) })
        mesh.run(for: .seconds(5))
        XCTAssertEqual(mail(at: 1, of: mesh).map(\.envelope), [letter])
        for link in mesh.links(of: 1) { mesh.disconnect(link) }
        XCTAssertFalse(mesh.call(0) { $0.sendMail(letter, to: mesh.peer(1), over: .provenLink, at: $1) })
    }

    func testAnAnnounceTellsWhatItsLinkProves() throws {
        let mesh = line(3)
        XCTAssertEqual(Set(standings(of: 0, at: 1, in: mesh)), [.direct])
        XCTAssertEqual(Set(standings(of: 0, at: 2, in: mesh)), [.relayed])
        mesh.call(1) { $0.openSession(with: mesh.peer(0), at: $1) }
        mesh.run(for: .seconds(10))
        XCTAssertEqual(standings(of: 0, at: 1, in: mesh).last, .proven)
        XCTAssertEqual(Set(standings(of: 0, at: 2, in: mesh)), [.relayed])
    }

    func testANodeThatTakesNoMailRelaysItOnly() throws {
        let mesh = SimulatedMesh.line(3)
        let letter = envelope(for: mesh)
        mesh.call(0) { $0.sendMail(letter, to: mesh.peer(2), over: .flood, at: $1) }
        mesh.run(for: .seconds(2))
        XCTAssertEqual(mesh.nodes[2].events.count { if case .mail = $0.event { true } else { false } }, 0)
        XCTAssertEqual(mesh.nodes[2].events.count { if case .announced = $0.event { true } else { false } }, 0)
        XCTAssertGreaterThanOrEqual(mesh.air(.courierEnvelope).count, 2)
    }

    func testADepositGoesToANeighbourProvenOrNotAndToNobodyElse() throws {
        let mesh = line(3)
        let letter = envelope(for: mesh)
        mesh.clearAir()
        XCTAssertTrue(mesh.call(0) { $0.sendMail(letter, to: mesh.peer(1), over: .link, at: $1) })
        XCTAssertFalse(mesh.call(0) { $0.sendMail(letter, to: mesh.peer(2), over: .link, at: $1) })
        mesh.run(for: .seconds(2))
        XCTAssertEqual(mail(at: 1, of: mesh).map(\.depositor), [mesh.nodes[0].identity.noise.publicKey])
        XCTAssertEqual(mail(at: 2, of: mesh).count, 0)
        XCTAssertEqual(mesh.air(.courierEnvelope).count, 1)
    }

    func testPrekeysOfferedReachWhoeverTakesMail() throws {
        let mesh = line(3)
        let owner = mesh.nodes[0].identity
        var random = SeededRandom(seed: 3)
        var bundle = PrekeyBundle(
            noisePublicKey: owner.noise.publicKey.bytes,
            prekeys: [.init(id: 1, publicKey: NoiseStaticKey.generate(using: &random).publicKey.bytes)],
            generatedAt: mesh.now.wall, signature: [])
        bundle.signature = owner.signing.sign(try XCTUnwrap(bundle.signedBytes))
        mesh.call(0) { $0.publish(bundle, at: $1) }
        mesh.run(for: .seconds(2))
        for node in 1...2 {
            let heard = mesh.nodes[node].events.compactMap { event -> PrekeyBundle? in
                if case .prekeyBundle(let verified) = event.event { verified.payload } else { nil }
            }
            XCTAssertEqual(heard, [bundle], "node \(node)")
        }
        bundle.signature[0] ^= 1
        mesh.call(0) { $0.publish(bundle, at: $1) }
        mesh.run(for: .seconds(2))
        XCTAssertEqual(mesh.nodes[1].mesh.drops[.badSignature], 1)
    }
}
