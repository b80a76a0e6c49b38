import Basics
import Crypto
import Simulation
import Wire
import XCTest

@testable import Mesh

final class CarrierTests: XCTestCase {
    private let deposit = NostrCarrier(direction: .toGateway, geohash: "u33dc0", event: Array("{\"id\":1}".utf8))
    private let downlink = NostrCarrier(direction: .fromBridge, geohash: "u33dc0", event: Array("{\"id\":2}".utf8))

    func testDepositTravelsSignedToItsGatewayOverHops() throws {
        let mesh = SimulatedMesh.line(4)
        mesh.clearAir()
        XCTAssertTrue(mesh.call(0) { $0.sendCarrier(self.deposit, to: mesh.peer(3), at: $1) })
        mesh.run(for: .seconds(1))
        let received = mesh.nodes[3].carriers
        XCTAssertEqual(received.map(\.carrier), [deposit])
        XCTAssertEqual(received.map(\.addressedToUs), [true])
        XCTAssertEqual(received.map(\.depositor), [mesh.peer(0)])
        XCTAssertTrue(mesh.nodes[1].carriers.isEmpty)
        XCTAssertNotNil(Packet(decoding: mesh.air(.nostrCarrier)[0].bytes)?.signature)
    }

    func testDownlinkIsForEverybodyAndUnsigned() throws {
        let mesh = SimulatedMesh.line(4)
        mesh.clearAir()
        XCTAssertTrue(mesh.call(0) { $0.broadcastCarrier(self.downlink, at: $1) })
        mesh.run(for: .seconds(1))
        for index in 1...3 {
            XCTAssertEqual(mesh.nodes[index].carriers.map(\.carrier), [downlink])
            XCTAssertNil(mesh.nodes[index].carriers.first?.depositor)
            XCTAssertEqual(mesh.nodes[index].carriers.first?.addressedToUs, false)
        }
        XCTAssertNil(Packet(decoding: mesh.air(.nostrCarrier)[0].bytes)?.signature)
        XCTAssertNil(Packet(decoding: mesh.air(.nostrCarrier)[0].bytes)?.recipientID)
    }

    func testDirectionsAreKeptApart() {
        let mesh = SimulatedMesh.line(2)
        XCTAssertFalse(mesh.call(0) { $0.sendCarrier(self.downlink, to: mesh.peer(1), at: $1) })
        XCTAssertFalse(mesh.call(0) { $0.broadcastCarrier(self.deposit, at: $1) })
        XCTAssertFalse(mesh.call(0) { $0.sendCarrier(self.deposit, to: PeerID(value: 5), at: $1) }, "not reachable")
    }

    private func inject(_ mesh: SimulatedMesh, _ carrier: [UInt8], _ change: (inout Packet) throws -> Void) throws {
        let link = try XCTUnwrap(mesh.nodes[1].mesh.links.first { $0.peer == mesh.peer(0) }).id
        var packet = Packet(
            type: .nostrCarrier, timestamp: mesh.now.wall, senderID: mesh.peer(0), recipientID: mesh.peer(1),
            payload: carrier)
        try change(&packet)
        mesh.inject(try packet.encoded(), into: 1, on: link)
    }

    func testDepositNeedsTheSignatureOfALivePeer() throws {
        let mesh = SimulatedMesh.line(2)
        let payload = try XCTUnwrap(deposit.encoded())
        try inject(mesh, payload) { _ in }
        try inject(mesh, payload) { $0.signature = [UInt8](repeating: 9, count: 64) }
        XCTAssertEqual(mesh.nodes[1].mesh.drops[.badSignature], 2)

        // A pinned identity that is not around does not count.
        let stranger = SimulatedMesh(seed: 321)
        stranger.addNode()
        let identity = stranger.nodes[0].identity
        mesh.nodes[1].mesh.restore([
            IdentityRecord(
                noiseKey: identity.noise.publicKey, signingKey: identity.signing.publicKey, nickname: "x")
        ])
        try inject(mesh, payload) {
            $0.senderID = identity.peerID
            try identity.sign(&$0)
        }
        XCTAssertEqual(mesh.nodes[1].mesh.drops[.unknownAuthor], 1)
        XCTAssertTrue(mesh.nodes[1].carriers.isEmpty)

        try inject(mesh, payload) { try mesh.nodes[0].identity.sign(&$0) }
        XCTAssertEqual(mesh.nodes[1].carriers.count, 1)
    }

    func testMisdirectedAndMalformedCarriersAreDropped() throws {
        let mesh = SimulatedMesh.line(2)
        try inject(mesh, try XCTUnwrap(downlink.encoded())) { try mesh.nodes[0].identity.sign(&$0) }
        try inject(mesh, try XCTUnwrap(deposit.encoded())) { $0.recipientID = nil }
        XCTAssertEqual(mesh.nodes[1].mesh.drops[.misdirectedCarrier], 2)
        try inject(mesh, [1, 2, 3]) { try mesh.nodes[0].identity.sign(&$0) }
        XCTAssertEqual(mesh.nodes[1].mesh.drops[.malformedPayload], 1)
        XCTAssertTrue(mesh.nodes[1].carriers.isEmpty)
    }

    func testAllFFRecipientIsTakenAsBroadcast() throws {
        let mesh = SimulatedMesh.line(2)
        try inject(mesh, try XCTUnwrap(downlink.encoded())) { $0.recipientID = .broadcast }
        XCTAssertEqual(mesh.nodes[1].carriers.map(\.carrier), [downlink])
    }
}
