import Basics
import Crypto
import Simulation
import Wire
import XCTest

@testable import Mesh

final class SendingTests: XCTestCase {
    private func noise(_ mesh: SimulatedMesh, from: Int, to: PeerID, _ size: Int = 40) -> Packet {
        Packet(
            type: .noiseEncrypted, timestamp: mesh.now.wall, senderID: mesh.peer(from), recipientID: to,
            payload: [UInt8](repeating: 0x5a, count: size))
    }

    private func send(_ mesh: SimulatedMesh, _ packet: Packet, from node: Int) {
        mesh.call(node) { node, now in
            node.now = now
            node.originate(packet, signed: false)
        }
    }

    /// Of this packet alone: whoever cannot read it shakes hands.
    private func copies(of packet: Packet, in mesh: SimulatedMesh) -> [SimulatedMesh.Transmission] {
        mesh.air(.noiseEncrypted).filter { Packet(decoding: $0.bytes)?.payload == packet.payload }
    }

    func testDirectedPacketGoesToExactlyOneLink() {
        let mesh = SimulatedMesh(seed: 1)
        for _ in 0..<4 { mesh.addNode() }
        for other in 1...3 { mesh.connectBothWays(0, other) }
        mesh.run(for: .seconds(12))
        mesh.clearAir()
        let packet = noise(mesh, from: 0, to: mesh.peer(2))
        send(mesh, packet, from: 0)
        mesh.run(for: .seconds(1))
        XCTAssertEqual(copies(of: packet, in: mesh).map { [$0.from, $0.to] }, [[0, 2]])
    }

    func testOnlyNoisePacketsArePaddedAndOnlyWhereThePaddingFits() throws {
        let mesh = SimulatedMesh.line(2)
        mesh.clearAir()
        send(mesh, noise(mesh, from: 0, to: mesh.peer(1)), from: 0)
        XCTAssertEqual(mesh.air(.noiseEncrypted).map(\.bytes.count), [256])
        mesh.call(0) { $0.say("short", at: $1) }
        XCTAssertEqual(mesh.air(.message).first?.bytes.count, 14 + 8 + 5 + 64)

        let narrow = SimulatedMesh.line(2, SimulatedMesh.Conditions(frameLimit: 300))
        narrow.clearAir()
        var random = SeededRandom(seed: 1)
        var packet = noise(narrow, from: 0, to: narrow.peer(1))
        packet.payload = random.bytes(240)
        send(narrow, packet, from: 0)
        XCTAssertEqual(narrow.air(.noiseEncrypted).map(\.bytes.count), [270])
    }

    func testFloodRelayPadsNoisePacketsAgain() throws {
        let mesh = SimulatedMesh.line(3)
        mesh.clearAir()
        let packet = noise(mesh, from: 0, to: mesh.peer(2))
        send(mesh, packet, from: 0)
        mesh.run(for: .seconds(1))
        XCTAssertEqual(copies(of: packet, in: mesh).map(\.bytes.count), [256, 256])
    }

    func testLinkTooSmallForAnySliceGetsOnlyWhatFits() {
        let mesh = SimulatedMesh(seed: 2)
        for _ in 0..<3 { mesh.addNode() }
        mesh.connect(0, 1)
        mesh.connect(0, 2, SimulatedMesh.Conditions(frameLimit: 60))
        mesh.run(for: .seconds(3))
        mesh.clearAir()
        mesh.call(0) { $0.say(String(repeating: "abcdefghijklm ", count: 40), at: $1) }
        mesh.run(for: .seconds(2))
        XCTAssertTrue(mesh.air.allSatisfy { $0.to != 2 || $0.bytes.count <= 60 })
        XCTAssertEqual(mesh.nodes[1].texts.count, 1, "the small link does not spoil it for others")
        XCTAssertTrue(mesh.nodes[0].mesh.drops[.frameTooLong] > 0)
    }

    // MARK: Spool (B8)

    func testNoisePacketWithoutALinkWaitsForOne() {
        let mesh = SimulatedMesh(seed: 3)
        mesh.addNode()
        mesh.addNode()
        mesh.run(for: .seconds(1))
        send(mesh, noise(mesh, from: 0, to: mesh.peer(1)), from: 0)
        mesh.run(for: .seconds(20))
        XCTAssertTrue(mesh.air(.noiseEncrypted).isEmpty)
        mesh.connect(0, 1)
        mesh.run(for: .milliseconds(60))
        XCTAssertEqual(mesh.air(.noiseEncrypted).count, 1, "flushed 0.05 s after our subscription")
        mesh.run(for: .seconds(30))
        XCTAssertEqual(mesh.air(.noiseEncrypted).count, 1)
    }

    func testSpooledPacketIsGivenUpAfterAMinuteHoweverOftenItWasTried() {
        let mesh = SimulatedMesh(seed: 4)
        mesh.addNode()
        mesh.addNode()
        mesh.run(for: .seconds(1))
        send(mesh, noise(mesh, from: 0, to: mesh.peer(1)), from: 0)
        mesh.run(for: .seconds(75))
        XCTAssertEqual(mesh.nodes[0].mesh.spool.count, 0)
        XCTAssertEqual(mesh.nodes[0].mesh.drops[.spoolExpired], 1)
        mesh.connect(0, 1)
        mesh.run(for: .seconds(5))
        XCTAssertTrue(mesh.air(.noiseEncrypted).isEmpty)
    }

    func testOtherTypesAreNotSpooled() {
        let mesh = SimulatedMesh(seed: 5)
        mesh.addNode()
        mesh.run(for: .seconds(1))
        mesh.call(0) { $0.say("to nobody", at: $1) }
        XCTAssertEqual(mesh.nodes[0].mesh.spool.count, 0)
    }

    func testSpoolIsBoundedPerRecipientAndInAllDroppingTheOldest() throws {
        var spool = DirectedSpool()
        let now = Instant.zero + .hours(1)
        func transmission(_ stamp: Int) throws -> Transmission {
            let packet = Packet(
                type: .noiseEncrypted, timestamp: WallTime(milliseconds: UInt64(stamp)), senderID: PeerID(value: 1),
                recipientID: PeerID(value: 2))
            return Transmission(frame: try Frame(packet.encoded()), since: now)
        }
        var dropped = 0
        for stamp in 0..<40 { dropped += spool.add(try transmission(stamp), for: PeerID(value: 2), since: now) }
        XCTAssertEqual(dropped, 8)
        XCTAssertEqual(spool.count, MeshLimits.spoolPerRecipient)
        for stamp in 0..<1_000 {
            _ = spool.add(try transmission(stamp), for: PeerID(value: UInt64(10 + stamp / 10)), since: now)
        }
        XCTAssertEqual(spool.count, MeshLimits.spoolTotal)
        let drained = spool.drain(at: now + .seconds(61))
        XCTAssertEqual(drained.expired, MeshLimits.spoolTotal)
        XCTAssertTrue(drained.entries.isEmpty)
    }

    // MARK: Scheduled relays and copies

    /// A triangle: both neighbours of the author hear the message from it and from each other.
    func testRelayIsCancelledWhenEveryTargetHasSentACopy() throws {
        let mesh = SimulatedMesh.line(3, seed: 6)
        let relay = mesh.nodes[1].mesh
        let fromLeft = try XCTUnwrap(relay.links.first { $0.peer == mesh.peer(0) }).id
        let fromRight = try XCTUnwrap(relay.links.first { $0.peer == mesh.peer(2) }).id
        var packet = Packet(type: .message, timestamp: mesh.now.wall, senderID: mesh.peer(0), payload: [65])
        try mesh.nodes[0].identity.sign(&packet)
        let frame = try packet.encoded()
        mesh.clearAir()
        mesh.inject(frame, into: 1, on: fromLeft)
        XCTAssertEqual(relay.relays.count, 1)
        mesh.inject(frame, into: 1, on: fromRight)
        XCTAssertEqual(relay.relays.count, 0)
        XCTAssertEqual(relay.drops[.relayCancelled], 1)
        mesh.run(for: .seconds(1))
        XCTAssertTrue(mesh.air(.message).isEmpty)
        XCTAssertEqual(mesh.nodes[1].texts, ["A"])
    }

    func testCopyFromOneNeighbourOnlyTakesThatNeighbourOutOfTheTargets() throws {
        let mesh = SimulatedMesh(seed: 7)
        for _ in 0..<4 { mesh.addNode() }
        for other in [0, 2, 3] { mesh.connect(1, other) }
        mesh.run(for: .seconds(12))
        let relay = mesh.nodes[1].mesh
        let links = relay.links.reduce(into: [PeerID: LinkID]()) { $0[$1.peer ?? mesh.peer(1)] = $1.id }
        var packet = Packet(type: .message, timestamp: mesh.now.wall, senderID: mesh.peer(0), payload: [65])
        try mesh.nodes[0].identity.sign(&packet)
        mesh.clearAir()
        mesh.inject(try packet.encoded(), into: 1, on: try XCTUnwrap(links[mesh.peer(0)]))
        mesh.inject(try packet.encoded(), into: 1, on: try XCTUnwrap(links[mesh.peer(2)]))
        mesh.run(for: .seconds(1))
        XCTAssertEqual(mesh.air(.message).filter { $0.from == 1 }.map(\.to), [3])
    }
}
