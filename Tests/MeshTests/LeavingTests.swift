import Basics
import Crypto
import Simulation
import Wire
import XCTest

@testable import Mesh

/// Goodbyes and announces that come in another order than they were said in.
final class LeavingTests: XCTestCase {
    /// An announce of a node's, made so many milliseconds from now.
    private func announce(_ node: Int, in mesh: SimulatedMesh, _ offset: Int = 0, name: String = "back") throws
        -> [UInt8]
    {
        let identity = mesh.nodes[node].identity
        let payload = Announce(
            nickname: name, noisePublicKey: identity.noise.publicKey.bytes,
            signingPublicKey: identity.signing.publicKey.bytes)
        return try packet(.announce, node, in: mesh, offset, payload: XCTUnwrap(payload.encoded()))
    }

    private func packet(
        _ type: MessageType, _ node: Int, in mesh: SimulatedMesh, _ offset: Int = 0, payload: [UInt8] = []
    ) throws -> [UInt8] {
        var packet = Packet(
            type: type, ttl: 6,
            timestamp: WallTime(milliseconds: UInt64(Int(mesh.now.wall.milliseconds) + offset)),
            senderID: mesh.peer(node), payload: payload)
        try mesh.nodes[node].identity.sign(&packet)
        return try packet.encoded()
    }

    private func link(of node: Int, to neighbour: Int, in mesh: SimulatedMesh) throws -> LinkID {
        try XCTUnwrap(mesh.nodes[node].mesh.links.first { $0.peer == mesh.peer(neighbour) }).id
    }

    private func knows(_ node: Int, _ other: Int, in mesh: SimulatedMesh) -> Bool {
        mesh.nodes[node].mesh.peer(mesh.peer(other), at: mesh.now) != nil
    }

    func testAnAnnounceFromBeforeAGoodbyeBringsNobodyBackWhateverWayItCame() throws {
        let mesh = SimulatedMesh.line(4)
        let link = try link(of: 1, to: 2, in: mesh)
        let late = try (1...4).map { try announce(0, in: mesh, -$0 * 20_000) }
        mesh.call(0) { $0.stop(at: $1) }
        mesh.run(for: .seconds(1))
        XCTAssertFalse(knows(1, 0, in: mesh))
        let connected = mesh.nodes[1].connectedEvents.count
        mesh.clearAir()
        // What was made in the very millisecond of the goodbye is no newer, either.
        for bytes in late + [try announce(0, in: mesh, -1_000)] {
            mesh.inject(bytes, into: 1, on: link)
            mesh.run(for: .seconds(1))
            XCTAssertFalse(knows(1, 0, in: mesh))
        }
        XCTAssertEqual(mesh.nodes[1].connectedEvents.count, connected)
        XCTAssertEqual(mesh.nodes[1].mesh.drops[.announceOutdated], 5)
        XCTAssertFalse(
            mesh.air(.announce).contains { Packet(decoding: $0.bytes)?.senderID == mesh.peer(0) }, "nor elsewhere")
    }

    func testWhoComesBackIsThereAtOnce() throws {
        let mesh = SimulatedMesh.line(3)
        let link = try link(of: 1, to: 2, in: mesh)
        mesh.call(0) { $0.stop(at: $1) }
        mesh.run(for: .milliseconds(50))
        XCTAssertFalse(knows(1, 0, in: mesh))
        mesh.inject(try announce(0, in: mesh, -49), into: 1, on: link)
        XCTAssertTrue(knows(1, 0, in: mesh))
    }

    func testAGoodbyeCountsForAbsentPeersToo() throws {
        let mesh = SimulatedMesh.line(3)
        let link = try link(of: 1, to: 2, in: mesh)
        mesh.nodes[1].mesh.registry.remove(mesh.peer(0))
        let late = try announce(0, in: mesh, -10)
        mesh.inject(try packet(.leave, 0, in: mesh), into: 1, on: link)
        mesh.inject(late, into: 1, on: link)
        XCTAssertFalse(knows(1, 0, in: mesh))
    }

    func testAGoodbyeFromBeforeAnAnnounceSendsNobodyAway() throws {
        let mesh = SimulatedMesh.line(3)
        let link = try link(of: 1, to: 2, in: mesh)
        let captured = try packet(.leave, 0, in: mesh)
        mesh.run(for: .seconds(2))
        mesh.inject(try announce(0, in: mesh), into: 1, on: link)
        mesh.clearAir()
        mesh.inject(captured, into: 1, on: link)
        mesh.run(for: .seconds(1))
        XCTAssertTrue(knows(1, 0, in: mesh))
        XCTAssertEqual(mesh.nodes[1].leftEvents, [])
        XCTAssertEqual(mesh.nodes[1].mesh.drops[.leaveOutdated], 1)
        XCTAssertTrue(mesh.air(.leave).isEmpty)
        // Nor does it keep them out.
        mesh.inject(try announce(0, in: mesh, name: "still here"), into: 1, on: link)
        XCTAssertEqual(mesh.nodes[1].mesh.peer(mesh.peer(0), at: mesh.now)?.nickname, "still here")
    }

    func testAGoodbyeNobodySignedKeepsNobodyOut() throws {
        let mesh = SimulatedMesh.line(3)
        let link = try link(of: 1, to: 2, in: mesh)
        var forged = try packet(.leave, 0, in: mesh, 60_000)
        forged[forged.count - 1] ^= 1
        mesh.inject(forged, into: 1, on: link)
        mesh.inject(try announce(0, in: mesh, name: "renamed"), into: 1, on: link)
        XCTAssertEqual(mesh.nodes[1].mesh.peer(mesh.peer(0), at: mesh.now)?.nickname, "renamed")
        XCTAssertEqual(mesh.nodes[1].mesh.departures.count, 0)
    }

    func testWhoseClockWasSetBackIsKeptOutForTwoMinutesAtMost() throws {
        let mesh = SimulatedMesh.line(3)
        let link = try link(of: 1, to: 2, in: mesh)
        mesh.inject(try packet(.leave, 0, in: mesh, 100_000), into: 1, on: link)
        mesh.disconnect(try self.link(of: 0, to: 1, in: mesh))
        mesh.retire(0)
        for second in stride(from: 10, through: 130, by: 10) {
            mesh.run(for: .seconds(10))
            mesh.inject(try announce(0, in: mesh, -100_000), into: 1, on: link)
            XCTAssertEqual(knows(1, 0, in: mesh), second > 120, "\(second)")
        }
    }

    func testWhatIsRememberedOfGoodbyesIsBounded() {
        var departures = Departures()
        let said = WallTime(milliseconds: 1_000)
        func at(_ seconds: Int) -> Instant { .zero + .seconds(seconds) }
        func peer(_ value: Int) -> PeerID { PeerID(value: UInt64(value)) }
        for value in 0..<MeshLimits.departureCapacity + 10 {
            departures.note(peer(value), saidAt: said, at: at(0) + .milliseconds(value))
            XCTAssertLessThanOrEqual(departures.count, MeshLimits.departureCapacity)
        }
        XCTAssertFalse(departures.outdate(peer(9), announcedAt: said, at: at(60)), "the oldest made room")
        XCTAssertTrue(departures.outdate(peer(10), announcedAt: said, at: at(60)))
        XCTAssertFalse(departures.outdate(peer(10), announcedAt: WallTime(milliseconds: 1_001), at: at(60)))
        XCTAssertFalse(departures.outdate(peer(10), announcedAt: said, at: at(121)))
        // All of them too old to matter.
        departures.note(peer(9_999), saidAt: said, at: at(130))
        XCTAssertEqual(departures.count, 1)
        // An older goodbye of the same peer takes nothing back, and a later one counts.
        departures.note(peer(9_999), saidAt: WallTime(milliseconds: 900), at: at(131))
        XCTAssertTrue(departures.outdate(peer(9_999), announcedAt: said, at: at(131)))
        departures.note(peer(9_999), saidAt: WallTime(milliseconds: 2_000), at: at(132))
        XCTAssertTrue(departures.outdate(peer(9_999), announcedAt: WallTime(milliseconds: 2_000), at: at(250)))
    }
}
