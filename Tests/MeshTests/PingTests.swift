import Basics
import Simulation
import Wire
import XCTest

@testable import Mesh

final class PingTests: XCTestCase {
    func testPingIsAnsweredAcrossHopsAndTheHopsAreCounted() {
        let mesh = SimulatedMesh.line(4)
        mesh.call(0) { $0.ping(mesh.peer(3), at: $1) }
        mesh.run(for: .seconds(2))
        XCTAssertEqual(mesh.nodes[0].pongs.map(\.peer), [mesh.peer(3)])
        XCTAssertEqual(mesh.nodes[0].pongs.map(\.hops), [3])
        XCTAssertEqual(mesh.nodes[1].mesh.counts[.pingsAnswered], 0, "pings for others are only relayed")
    }

    func testFivePingsInTenSecondsPerNeighbourWhoeverTheyClaimToBeFrom() throws {
        let mesh = SimulatedMesh.line(3)
        let link = try XCTUnwrap(mesh.nodes[1].mesh.links.first { $0.peer == mesh.peer(0) }).id
        func ping(_ value: UInt64) throws {
            let packet = Packet(
                type: .ping, timestamp: mesh.now.wall, senderID: PeerID(value: value), recipientID: mesh.peer(1),
                payload: PingPayload(nonce: value, originTTL: 7).encoded())
            mesh.inject(try packet.encoded(), into: 1, on: link)
        }
        for value in 1...20 as ClosedRange<UInt64> { try ping(value) }
        XCTAssertEqual(mesh.nodes[1].mesh.counts[.pingsAnswered], 5)
        XCTAssertEqual(mesh.nodes[1].mesh.drops[.pingBudget], 15)
        mesh.call(2) { $0.ping(mesh.peer(1), at: $1) }
        mesh.run(for: .seconds(1))
        XCTAssertEqual(mesh.nodes[2].pongs.count, 1, "another neighbour has a budget of its own")
        mesh.run(for: .seconds(10))
        try ping(21)
        XCTAssertEqual(mesh.nodes[1].mesh.counts[.pingsAnswered], 7)
    }

    func testPongCountsOnlyFromThePeerThatWasProbedAndInTime() throws {
        let mesh = SimulatedMesh.line(2)
        mesh.clearAir()
        mesh.call(0) { $0.ping(mesh.peer(1), at: $1) }
        let nonce = try XCTUnwrap(
            mesh.air(.ping).first.flatMap { Packet(decoding: $0.bytes) }.flatMap { PingPayload(payload: $0.payload) }
        ).nonce
        let link = try XCTUnwrap(mesh.nodes[0].mesh.links.first).id
        let forged = Packet(
            type: .pong, timestamp: mesh.now.wall, senderID: PeerID(value: 7), recipientID: mesh.peer(0),
            payload: PingPayload(nonce: nonce, originTTL: 7).encoded())
        mesh.inject(try forged.encoded(), into: 0, on: link)
        XCTAssertTrue(mesh.nodes[0].pongs.isEmpty)
        mesh.run(for: .seconds(1))
        XCTAssertEqual(mesh.nodes[0].pongs.count, 1)

        mesh.interference = { $0.bytes[1] == MessageType.pong.rawValue ? nil : $0.bytes }
        mesh.clearAir()
        mesh.call(0) { $0.ping(mesh.peer(1), at: $1) }
        mesh.run(for: .milliseconds(10_500))
        let late = try XCTUnwrap(mesh.air(.pong).first).bytes
        mesh.inject(late, into: 0, on: link)
        XCTAssertEqual(mesh.nodes[0].pongs.count, 1)
    }

    func testMalformedPingIsIgnoredAndALongerOneAnswered() throws {
        let mesh = SimulatedMesh.line(2)
        let link = try XCTUnwrap(mesh.nodes[0].mesh.links.first).id
        for size in [8, 9, 20] {
            let packet = Packet(
                type: .ping, timestamp: mesh.now.wall, senderID: mesh.peer(1), recipientID: mesh.peer(0),
                payload: [UInt8](repeating: UInt8(size), count: size))
            mesh.inject(try packet.encoded(), into: 0, on: link)
        }
        XCTAssertEqual(mesh.nodes[0].mesh.counts[.pingsAnswered], 2)
        XCTAssertEqual(mesh.nodes[0].mesh.drops[.malformedPayload], 1)
    }
}
