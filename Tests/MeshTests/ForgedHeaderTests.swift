import Basics
import Crypto
import Simulation
import Wire
import XCTest

@testable import Mesh

/// Every header field is the attacker's choice. None of them buys more than the link it came in on is worth.
final class ForgedHeaderTests: XCTestCase {
    /// A link on which nobody announced itself.
    private func anonymousLink(of node: Int, in mesh: SimulatedMesh) -> LinkID {
        let link = LinkID(value: 900_000)
        mesh.call(node) { $0.linkUp(link, role: .incoming, frameLimit: 512, at: $1) }
        return link
    }

    private func link(of node: Int, to neighbour: Int, in mesh: SimulatedMesh) throws -> LinkID {
        try XCTUnwrap(mesh.nodes[node].mesh.links.first { $0.peer == mesh.peer(neighbour) }).id
    }

    // MARK: Sender

    func testPingsOnAnUnboundLinkShareOneBudgetWhoeverTheyClaimToBeFrom() throws {
        let mesh = SimulatedMesh.line(2)
        let link = anonymousLink(of: 1, in: mesh)
        for value in 1...100 as ClosedRange<UInt64> {
            let ping = Packet(
                type: .ping, timestamp: mesh.now.wall, senderID: PeerID(value: value), recipientID: mesh.peer(1),
                payload: PingPayload(nonce: value, originTTL: 7).encoded())
            mesh.inject(try ping.encoded(), into: 1, on: link)
        }
        XCTAssertEqual(mesh.nodes[1].mesh.counts[.pingsAnswered], 5)
        XCTAssertEqual(mesh.nodes[1].mesh.drops[.pingBudget], 95)
        mesh.call(0) { $0.ping(mesh.peer(1), at: $1) }
        mesh.run(for: .seconds(1))
        XCTAssertEqual(mesh.nodes[0].pongs.count, 1, "the neighbour's own budget is untouched")
    }

    func testACrowdOfInventedIdentitiesDrawsFewAnswers() throws {
        let mesh = SimulatedMesh.line(2)
        mesh.run(for: .seconds(30))
        let link = try link(of: 1, to: 0, in: mesh)
        var random = SeededRandom(seed: 9)
        mesh.clearAir()
        for _ in 0..<200 {
            let identity = NodeIdentity.generate(using: &random)
            mesh.inject(try announce("n", of: identity, ttl: 5, 0, at: mesh.now), into: 1, on: link)
            mesh.run(for: .milliseconds(200))
        }
        let answers = mesh.air(.announce).filter {
            $0.from == 1 && Packet(decoding: $0.bytes)?.senderID == mesh.peer(1)
        }
        // Forty seconds: a burst of 16 and one a second, each perhaps with its afterglow, and the usual ones.
        XCTAssertLessThanOrEqual(answers.count, 2 * (16 + 40) + 5)
        XCTAssertGreaterThan(mesh.nodes[1].mesh.drops[.announceThrottled], 100)
    }

    // MARK: Recipient

    func testCopyForSomebodyElseDoesNotShadowADeposit() throws {
        let mesh = SimulatedMesh.line(2)
        let link = try link(of: 1, to: 0, in: mesh)
        let carrier = NostrCarrier(direction: .toGateway, geohash: "u33dc0", event: Array("{\"id\":1}".utf8))
        var deposit = Packet(
            type: .nostrCarrier, timestamp: mesh.now.wall, senderID: mesh.peer(0), recipientID: mesh.peer(1),
            payload: try XCTUnwrap(carrier.encoded()))
        try mesh.nodes[0].identity.sign(&deposit)
        for recipient in [nil, .broadcast, PeerID(value: 77)] as [PeerID?] {
            var copy = deposit
            copy.recipientID = recipient
            mesh.inject(try copy.encoded(), into: 1, on: link)
        }
        XCTAssertTrue(mesh.nodes[1].carriers.isEmpty)
        mesh.inject(try deposit.encoded(), into: 1, on: link)
        XCTAssertEqual(mesh.nodes[1].carriers.map(\.carrier), [carrier])
    }

    func testCopiesForSomebodyElseDoNotShadowFragments() throws {
        let mesh = SimulatedMesh.line(2)
        var random = SeededRandom(seed: 8)
        let text = String(decoding: (0..<900).map { _ in UInt8.random(in: 33...126, using: &random) }, as: UTF8.self)
        let link = try link(of: 1, to: 0, in: mesh)
        mesh.interference = { passing in
            guard var copy = Packet(decoding: passing.bytes), copy.type == .fragment, passing.from == 0
            else { return passing.bytes }
            copy.recipientID = PeerID(value: 77)
            if let bytes = try? copy.encoded() { mesh.inject(bytes, into: 1, on: link) }
            return passing.bytes
        }
        mesh.call(0) { $0.say(text, at: $1) }
        mesh.run(for: .seconds(2))
        XCTAssertEqual(mesh.nodes[1].texts, [text])
    }

    // MARK: Time to live

    /// Chapter 03 B9.3: along the route no TTL is clamped, since nobody forwards a packet twice.
    func testRoutedFrameGetsNoMoreHopsThanAFloodedOneOnceItLeavesItsRoute() throws {
        let mesh = SimulatedMesh.line(3)
        let link = try link(of: 1, to: 0, in: mesh)
        let cases: [(received: UInt8, next: PeerID, sent: UInt8)] = [
            (255, mesh.peer(2), 254), (8, mesh.peer(2), 7), (2, mesh.peer(2), 1),
            (255, PeerID(value: 77), 6), (8, PeerID(value: 77), 6), (3, PeerID(value: 77), 2),
        ]
        for (received, next, sent) in cases {
            mesh.clearAir()
            let packet = Packet(
                version: 2, type: .noiseEncrypted, ttl: received, timestamp: mesh.now.wall, senderID: mesh.peer(0),
                recipientID: PeerID(value: 78), route: [mesh.peer(1), next], payload: [received])
            for _ in 0..<2 { mesh.inject(try packet.encoded(), into: 1, on: link) }
            mesh.run(for: .milliseconds(500))
            let copies = mesh.air(.noiseEncrypted).filter {
                $0.from == 1 && Packet(decoding: $0.bytes)?.payload == packet.payload
            }
            XCTAssertEqual(copies.map { $0.bytes[2] }, [sent])
        }
    }

    // MARK: Original size

    /// A body of zeros that says it expands a thousandfold, and does.
    private func bomb(_ serial: UInt8, at now: Now) throws -> [UInt8] {
        let packet = Packet(
            version: 2, type: .groupMessage, timestamp: now.wall, senderID: PeerID(value: 99),
            payload: [UInt8](repeating: serial, count: 400_000))
        let bytes = try packet.encoded()
        XCTAssertLessThan(bytes.count, 512)
        return bytes
    }

    func testBombsOfOneLinkAreInflatedOnABudgetAndOthersAreHeard() throws {
        let mesh = SimulatedMesh.line(2)
        let link = anonymousLink(of: 1, in: mesh)
        for serial in 0..<50 as Range<UInt8> { mesh.inject(try bomb(serial, at: mesh.now), into: 1, on: link) }
        XCTAssertEqual(mesh.nodes[1].mesh.drops[.inflationBudget], 48, "two in a burst of 1 179 760 bytes")
        let text = String(repeating: "genuine and compressed ", count: 10)
        mesh.call(0) { $0.say(text, at: $1) }
        mesh.run(for: .seconds(1))
        XCTAssertEqual(mesh.nodes[1].texts, [text])
    }

    func testReassembledBombsAreChargedToTheirLinkToo() throws {
        let mesh = SimulatedMesh.line(2)
        let link = anonymousLink(of: 1, in: mesh)
        for serial in 0..<20 as Range<UInt8> {
            let frame = try Frame(try bomb(serial, at: mesh.now))
            let plan = try XCTUnwrap(
                FragmentPlan(frame, chunk: 300, streamID: FragmentStreamID(value: UInt64(serial) + 1)))
            for index in 0..<plan.count {
                mesh.inject(try XCTUnwrap(plan.frame(at: index)).bytes, into: 1, on: link)
            }
        }
        XCTAssertEqual(mesh.nodes[1].mesh.drops[.inflationBudget], 18)
    }

    func testALinkMayInflateTheLargestPayloadAtOnce() throws {
        let table = LinkTable()
        let id = LinkID(value: 1)
        XCTAssertTrue(table.add(id, role: .incoming, frameLimit: 512, at: .zero))
        let largest = Packet(
            version: 2, type: .groupMessage, timestamp: WallTime(milliseconds: 1), senderID: PeerID(value: 1),
            payload: [UInt8](repeating: 0, count: WireLimits.payload))
        let layout = try Frame(largest.encoded()).layout
        XCTAssertTrue(table.admitInflation(of: layout, on: id, at: .zero))
        XCTAssertFalse(table.admitInflation(of: layout, on: id, at: .zero + .seconds(8)))
        XCTAssertTrue(table.admitInflation(of: layout, on: id, at: .zero + .seconds(10)))
    }

    // MARK: Timestamp

    private func announce(
        _ name: String, of identity: NodeIdentity, ttl: UInt8 = 5, _ age: UInt64, at now: Now
    ) throws -> [UInt8] {
        let announce = Announce(
            nickname: name, noisePublicKey: identity.noise.publicKey.bytes,
            signingPublicKey: identity.signing.publicKey.bytes)
        var packet = Packet(
            type: .announce, ttl: ttl, timestamp: WallTime(milliseconds: now.wall.milliseconds - age),
            senderID: identity.peerID, payload: try XCTUnwrap(announce.encoded()))
        try identity.sign(&packet)
        return try packet.encoded()
    }

    func testAnnounceThatWasHeldBackDoesNotUndoALaterOne() throws {
        let mesh = SimulatedMesh.line(2)
        let link = try link(of: 1, to: 0, in: mesh)
        func name() -> String? { mesh.nodes[1].mesh.peer(mesh.peer(0), at: mesh.now)?.nickname }
        mesh.inject(try announce("new", of: mesh.nodes[0].identity, 0, at: mesh.now), into: 1, on: link)
        XCTAssertEqual(name(), "new")
        mesh.inject(try announce("old", of: mesh.nodes[0].identity, 100_000, at: mesh.now), into: 1, on: link)
        mesh.inject(try announce("older", of: mesh.nodes[0].identity, 1, at: mesh.now), into: 1, on: link)
        XCTAssertEqual(name(), "new")
        XCTAssertEqual(mesh.nodes[1].mesh.drops[.announceOutdated], 2)
        // Two of one millisecond: the later to arrive counts.
        mesh.inject(try announce("newest", of: mesh.nodes[0].identity, 0, at: mesh.now), into: 1, on: link)
        XCTAssertEqual(name(), "newest")
    }

    func testTwoMinutesOfSkewAreHeardAndAMillisecondMoreIsNot() throws {
        for (skew, isHeard) in [(-120_001, false), (-120_000, true), (120_000, true), (120_001, false)] {
            let mesh = SimulatedMesh.line(2)
            let link = try link(of: 1, to: 0, in: mesh)
            var packet = Packet(
                type: .message, timestamp: WallTime(milliseconds: UInt64(Int(mesh.now.wall.milliseconds) + skew)),
                senderID: mesh.peer(0), payload: Array("edge".utf8))
            try mesh.nodes[0].identity.sign(&packet)
            mesh.inject(try packet.encoded(), into: 1, on: link)
            XCTAssertEqual(mesh.nodes[1].texts, isHeard ? ["edge"] : [], "\(skew)")
            XCTAssertEqual(mesh.nodes[1].mesh.drops[.clockSkew], isHeard ? 0 : 1)
        }
    }

    // MARK: Route

    func testTwoHundredFiftyFiveHopsFitNoLinkAndAreDropped() throws {
        let mesh = SimulatedMesh.line(3)
        let link = try link(of: 1, to: 0, in: mesh)
        mesh.clearAir()
        let far = (0..<254).map { PeerID(value: 1_000 + $0) }
        let packet = Packet(
            version: 2, type: .noiseEncrypted, timestamp: mesh.now.wall, senderID: mesh.peer(0),
            recipientID: PeerID(value: 5), route: [mesh.peer(1)] + far, payload: [1, 2, 3])
        mesh.inject(try packet.encoded(), into: 1, on: link)
        mesh.run(for: .seconds(5))
        XCTAssertTrue(mesh.air(.noiseEncrypted).isEmpty)
        XCTAssertTrue(mesh.air(.fragment).isEmpty, "each fragment would carry the route, and it alone fills the frame")
        XCTAssertEqual(mesh.nodes[1].mesh.drops[.frameTooLong], 1)
    }
}
