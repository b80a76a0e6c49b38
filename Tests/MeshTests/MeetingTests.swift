import Basics
import Crypto
import Simulation
import Wire
import XCTest

@testable import Mesh

/// How a link is bound when somebody else told of its far end first (chapter 03 B2 step 2, A11.1).
final class MeetingTests: XCTestCase {
    private let own = LinkID(value: 9_000)
    private let stranger: SimulatedMesh = {
        let mesh = SimulatedMesh(seed: 99)
        mesh.addNode()
        return mesh
    }()
    private var strangerID: PeerID { stranger.peer(0) }

    /// Node 1 has a neighbour, node 0, and a link to nobody known yet.
    private func stage() throws -> (mesh: SimulatedMesh, relayed: LinkID) {
        let mesh = SimulatedMesh.line(2)
        mesh.call(1) { $0.linkUp(own, role: .incoming, frameLimit: 512, at: $1) }
        mesh.run(for: .seconds(1))
        return (mesh, try XCTUnwrap(mesh.nodes[1].mesh.links.first { $0.peer == mesh.peer(0) }).id)
    }

    private func announce(at now: Now, _ offset: Int = 0, name: String = "stranger") throws -> Packet {
        let identity = stranger.nodes[0].identity
        let payload = Announce(
            nickname: name, noisePublicKey: identity.noise.publicKey.bytes,
            signingPublicKey: identity.signing.publicKey.bytes)
        var packet = Packet(
            type: .announce, timestamp: WallTime(milliseconds: UInt64(Int(now.wall.milliseconds) + offset)),
            senderID: identity.peerID, payload: try XCTUnwrap(payload.encoded()))
        try identity.sign(&packet)
        return packet
    }

    private func bytes(_ packet: Packet, ttl: UInt8) throws -> [UInt8] {
        var packet = packet
        packet.ttl = ttl
        return try packet.encoded()
    }

    private func isConnected(in mesh: SimulatedMesh) -> Bool? {
        mesh.nodes[1].mesh.peer(strangerID, at: mesh.now)?.isConnected
    }

    func testWhoIsHeardThroughSomebodyElseFirstIsANeighbourWithTheirOwnCopy() throws {
        // It is known as a repetition at first, later as a duplicate.
        for pause in [0, 2, 30] {
            let (mesh, relayed) = try stage()
            let packet = try announce(at: mesh.now)
            mesh.inject(try bytes(packet, ttl: 6), into: 1, on: relayed)
            XCTAssertEqual(isConnected(in: mesh), false)
            mesh.run(for: .seconds(pause))
            let verified = mesh.nodes[1].mesh.counts[.announcesVerified]
            let accepted = mesh.nodes[1].mesh.counts[.packetsAccepted]
            let relays = mesh.air(.announce).count
            mesh.inject(try bytes(packet, ttl: 7), into: 1, on: own)
            XCTAssertEqual(isConnected(in: mesh), true)
            XCTAssertEqual(mesh.nodes[1].mesh.peer(on: own), strangerID)
            XCTAssertEqual(mesh.nodes[1].mesh.degree, 2)
            XCTAssertEqual(mesh.nodes[1].connectedEvents.last, strangerID)
            // Nothing else of it is done again.
            XCTAssertEqual(mesh.nodes[1].mesh.counts[.announcesVerified], verified)
            XCTAssertEqual(mesh.nodes[1].mesh.counts[.packetsAccepted], accepted)
            XCTAssertEqual(mesh.air(.announce).count, relays)
            let meetings = mesh.nodes[1].connectedEvents.count
            mesh.inject(try bytes(packet, ttl: 7), into: 1, on: own)
            XCTAssertEqual(mesh.nodes[1].connectedEvents.count, meetings)
        }
    }

    func testNeighboursOverASlowLinkMeetThoughAFasterWayTellsOfThemFirst() {
        let mesh = SimulatedMesh(seed: 3)
        for _ in 0..<3 { mesh.addNode() }
        var slow = SimulatedMesh.Conditions()
        slow.delay = 400...410
        mesh.connect(0, 1)
        mesh.connect(1, 2)
        mesh.connect(0, 2, slow)
        mesh.run(for: .seconds(3))
        for (node, other) in [(0, 2), (2, 0)] {
            XCTAssertEqual(mesh.nodes[node].mesh.peer(mesh.peer(other), at: mesh.now)?.isConnected, true)
            XCTAssertEqual(mesh.nodes[node].mesh.degree, 2)
        }
        XCTAssertTrue(mesh.air(.requestSync).contains { $0.from == 0 && $0.to == 2 }, "they ask what they missed")
    }

    func testACopyBindsNoMoreThanAFirstOneWould() throws {
        for (name, change) in [
            ("a copy that was relayed", { $0.ttl = 6 }), ("one with a TTL nobody begins with", { $0.ttl = 8 }),
            ("one with a broken signature", { $0.signature = [UInt8](repeating: 7, count: 64) }),
            ("one without a signature", { $0.signature = nil }),
        ] as [(String, (inout Packet) -> Void)] {
            let (mesh, relayed) = try stage()
            let packet = try announce(at: mesh.now)
            mesh.inject(try bytes(packet, ttl: 6), into: 1, on: relayed)
            var copy = packet
            change(&copy)
            mesh.inject(try copy.encoded(), into: 1, on: own)
            XCTAssertNil(mesh.nodes[1].mesh.peer(on: own), name)
            XCTAssertEqual(isConnected(in: mesh), false, name)
            XCTAssertEqual(mesh.nodes[1].mesh.degree, 1, name)
        }
    }

    func testACopyTakesOverNobodysLink() throws {
        let (mesh, relayed) = try stage()
        let packet = try announce(at: mesh.now)
        mesh.inject(try bytes(packet, ttl: 6), into: 1, on: relayed)
        mesh.inject(try bytes(packet, ttl: 7), into: 1, on: relayed)
        XCTAssertEqual(mesh.nodes[1].mesh.peer(on: relayed), mesh.peer(0))
        XCTAssertEqual(isConnected(in: mesh), false)
    }

    func testACopyOfWhatNoLongerStandsBindsNothing() throws {
        // The peer has announced itself since.
        var (mesh, relayed) = try stage()
        let first = try announce(at: mesh.now, -500)
        mesh.inject(try bytes(first, ttl: 6), into: 1, on: relayed)
        mesh.inject(try bytes(try announce(at: mesh.now, name: "newer"), ttl: 6), into: 1, on: relayed)
        mesh.inject(try bytes(first, ttl: 7), into: 1, on: own)
        XCTAssertNil(mesh.nodes[1].mesh.peer(on: own))
        // Or it has left.
        (mesh, relayed) = try stage()
        let packet = try announce(at: mesh.now)
        mesh.inject(try bytes(packet, ttl: 6), into: 1, on: relayed)
        var leave = Packet(type: .leave, ttl: 6, timestamp: mesh.now.wall, senderID: strangerID)
        try stranger.nodes[0].identity.sign(&leave)
        mesh.inject(try leave.encoded(), into: 1, on: relayed)
        mesh.inject(try bytes(packet, ttl: 7), into: 1, on: own)
        XCTAssertNil(mesh.nodes[1].mesh.peer(on: own))
        XCTAssertNil(isConnected(in: mesh))
    }

    func testCopiesToBeVerifiedAreCountedAgainstTheirLink() throws {
        let (mesh, relayed) = try stage()
        let packet = try announce(at: mesh.now)
        mesh.inject(try bytes(packet, ttl: 6), into: 1, on: relayed)
        for round in 0..<500 as Range<Int> {
            var copy = packet
            copy.signature = (0..<64).map { UInt8(truncatingIfNeeded: round + $0) }
            mesh.inject(try copy.encoded(), into: 1, on: own)
        }
        XCTAssertLessThanOrEqual(mesh.nodes[1].mesh.drops[.badSignature], UInt64(MeshLimits.linkPacketBurst))
        XCTAssertGreaterThan(mesh.nodes[1].mesh.drops[.linkBudget], 200)
        XCTAssertNil(mesh.nodes[1].mesh.peer(on: own))
    }

    func testALinkThatComesUpJustBehindAnAnnounceGetsOneOfItsOwn() {
        for delay in stride(from: 10, through: 400, by: 10) {
            let mesh = SimulatedMesh(seed: 4)
            for _ in 0..<3 { mesh.addNode() }
            mesh.run(for: .seconds(7))
            mesh.connect(0, 1)
            mesh.run(for: .milliseconds(delay))
            mesh.clearAir()
            mesh.connect(0, 2)
            mesh.run(for: .milliseconds(250))
            XCTAssertTrue(
                mesh.air(.announce).contains {
                    $0.from == 0 && $0.to == 2 && Packet(decoding: $0.bytes)?.senderID == mesh.peer(0)
                }, "\(delay) ms")
        }
    }
}
