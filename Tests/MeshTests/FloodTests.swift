import Basics
import Simulation
import Wire
import XCTest

@testable import Mesh

final class FloodTests: XCTestCase {
    func testLineRelaysAMessageWithOneLessTTLAtEachHop() {
        let mesh = SimulatedMesh.line(4)
        mesh.clearAir()
        mesh.call(0) { $0.say("hello", at: $1) }
        mesh.run(for: .seconds(2))
        for index in 1...3 { XCTAssertEqual(mesh.nodes[index].texts, ["hello"]) }
        let hops = mesh.air(.message)
        XCTAssertEqual(hops.map { [$0.from, $0.to, Int($0.bytes[2])] }, [[0, 1, 7], [1, 2, 6], [2, 3, 5]])
    }

    func testRelayChangesNothingButTheTTL() {
        let mesh = SimulatedMesh.line(4)
        mesh.clearAir()
        // Long enough to travel compressed.
        mesh.call(0) { $0.say(String(repeating: "hello again ", count: 20), at: $1) }
        mesh.run(for: .seconds(2))
        let frames = mesh.air(.message).map { $0.bytes.enumerated().filter { $0.offset != 2 }.map(\.element) }
        XCTAssertEqual(frames.count, 3)
        XCTAssertEqual(Set(frames).count, 1)
        XCTAssertEqual(mesh.nodes[3].texts.count, 1)
    }

    func testLoopDeliversExactlyOnce() {
        let mesh = SimulatedMesh(seed: 3)
        for _ in 0..<6 { mesh.addNode() }
        for index in 0..<6 { mesh.connect(index, (index + 1) % 6) }
        mesh.connect(0, 3)
        mesh.run(for: .seconds(12))
        mesh.clearAir()
        mesh.call(0) { $0.say("round", at: $1) }
        mesh.run(for: .seconds(5))
        for index in 1..<6 { XCTAssertEqual(mesh.nodes[index].texts, ["round"], "node \(index)") }
        XCTAssertTrue(mesh.nodes[0].texts.isEmpty)
        // Nobody sends one packet twice over one link.
        let crossings = mesh.air(.message).map(\.link)
        XCTAssertEqual(crossings.count, Set(crossings).count)
    }

    func testTwoLinksToOnePeerCarryABroadcastOnce() {
        let mesh = SimulatedMesh(seed: 4)
        for _ in 0..<2 { mesh.addNode() }
        mesh.connectBothWays(0, 1)
        mesh.run(for: .seconds(12))
        mesh.clearAir()
        mesh.call(0) { $0.say("once", at: $1) }
        mesh.run(for: .seconds(2))
        XCTAssertEqual(mesh.nodes[1].texts, ["once"])
        XCTAssertEqual(mesh.air(.message).count, 1)
    }

    func testTwoMessagesOfOneMillisecondBothPass() {
        let mesh = SimulatedMesh.line(3)
        mesh.call(0) { node, now in
            node.say("first", at: now)
            node.say("second", at: now)
        }
        mesh.run(for: .seconds(2))
        XCTAssertEqual(Set(mesh.nodes[2].texts), ["first", "second"])
    }

    func testTTLOneIsDeliveredButNotRelayedAndTTLZeroToo() throws {
        for ttl: UInt8 in [0, 1] {
            let mesh = SimulatedMesh.line(3, seed: 5)
            mesh.clearAir()
            mesh.interference = { transmission in
                var bytes = transmission.bytes
                if bytes[1] == MessageType.message.rawValue, transmission.from == 0 { bytes[2] = ttl }
                return bytes
            }
            mesh.call(0) { $0.say("near", at: $1) }
            mesh.run(for: .seconds(2))
            XCTAssertEqual(mesh.nodes[1].texts, ["near"])
            XCTAssertEqual(mesh.nodes[2].texts, [])
            XCTAssertEqual(mesh.air(.message).count, 1)
        }
    }

    func testTTLAboveSevenIsTakenAsSeven() {
        let mesh = SimulatedMesh.line(3, seed: 6)
        mesh.clearAir()
        mesh.interference = { transmission in
            var bytes = transmission.bytes
            if bytes[1] == MessageType.message.rawValue, transmission.from == 0 { bytes[2] = 200 }
            return bytes
        }
        mesh.call(0) { $0.say("far", at: $1) }
        mesh.run(for: .seconds(2))
        XCTAssertEqual(mesh.air(.message).map { $0.bytes[2] }, [7, 6])
        XCTAssertEqual(mesh.nodes[2].texts, ["far"])
    }

    func testUnknownTypesAreRelayedAndNotDelivered() throws {
        let mesh = SimulatedMesh.line(3, seed: 7)
        let before = mesh.nodes[2].events.count
        let packet = Packet(
            type: MessageType(rawValue: 0x7e), timestamp: mesh.now.wall, senderID: mesh.peer(0), payload: [1, 2, 3])
        let link = try XCTUnwrap(mesh.nodes[1].mesh.links.first { $0.peer == mesh.peer(0) }).id
        mesh.clearAir()
        mesh.inject(try packet.encoded(), into: 1, on: link)
        mesh.run(for: .seconds(1))
        XCTAssertEqual(mesh.air(MessageType(rawValue: 0x7e)).map { [$0.from, $0.to] }, [[1, 2]])
        XCTAssertEqual(mesh.nodes[2].events.count, before)
    }

    func testSyncRequestIsNeverRelayed() throws {
        let mesh = SimulatedMesh.line(3, seed: 8)
        let link = try XCTUnwrap(mesh.nodes[1].mesh.links.first { $0.peer == mesh.peer(0) }).id
        mesh.clearAir()
        for ttl: UInt8 in [0, 7] {
            let packet = Packet(
                type: .requestSync, ttl: ttl, timestamp: mesh.now.wall, senderID: mesh.peer(0), payload: [ttl])
            mesh.inject(try packet.encoded(), into: 1, on: link)
        }
        mesh.run(for: .seconds(1))
        XCTAssertTrue(mesh.air(.requestSync).isEmpty)
    }

    func testOwnPacketOfferedBackIsDropped() throws {
        let mesh = SimulatedMesh.line(2, seed: 9)
        mesh.clearAir()
        mesh.call(0) { $0.say("mine", at: $1) }
        let frame = try XCTUnwrap(mesh.air(.message).first).bytes
        let link = try XCTUnwrap(mesh.nodes[0].mesh.links.first).id
        mesh.run(for: .seconds(5))
        mesh.inject(frame, into: 0, on: link)
        XCTAssertEqual(mesh.nodes[0].mesh.drops[.selfLoopback], 1)
        XCTAssertTrue(mesh.nodes[0].texts.isEmpty)
    }
}
