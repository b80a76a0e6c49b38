import Basics
import TestSupport
import Wire
import XCTest

@testable import Mesh

final class TopologyTests: XCTestCase {
    private let now = Instant.zero + .hours(1)

    func testRoutesAreFoundAndFollowedAsTheReferenceDoes() throws {
        try Vectors("topology.json").run { v in
            switch v.kind {
            case "route": try checkRoute(v)
            case "forward": try checkForward(v)
            case "originate": try checkOriginate(v)
            default: throw v.unknownKind
            }
        }
    }

    /// Short IDs are zero-filled at the end (chapter 03 B9.2).
    private func peers(_ texts: [String]) throws -> [PeerID] {
        try texts.map { text in
            let bytes = try XCTUnwrap(Hex.decode(text)) + Array(repeating: 0, count: 8)
            return try XCTUnwrap(PeerID(bytes.prefix(8)))
        }
    }
    private func peer(_ text: String) throws -> PeerID { try peers([text])[0] }

    private func checkRoute(_ v: VectorCase) throws {
        var topology = TopologyTracker()
        for claim in try v.objects("claims") {
            let age = Interval.seconds(try claim.double("ageSeconds"))
            topology.claim(try peers(claim.strings("neighbors")), by: try peer(claim.string("node")), at: now - age)
        }
        for (node, version) in try v.object("versions").members {
            topology.noteVersion(UInt8(try XCTUnwrap(version as? Int)), of: try peer(node), at: now)
        }
        let route = topology.route(
            from: try peer(v.string("from")), to: try peer(v.string("to")), maxHops: try v.int("maxHops"),
            version: try v.optionalInt("requiringVersion").map { UInt8($0) }, at: now)
        guard !v.isNull("route") else { return XCTAssertNil(route, v.name) }
        let acceptable = try v.array("acceptable").map { try peers(try XCTUnwrap($0 as? [String])) }
        let isUnique = try v.bool("unique")
        XCTAssertLessThanOrEqual(acceptable.count, isUnique ? 1 : .max, v.name)
        let expected = isUnique || acceptable.isEmpty ? [try peers(v.strings("route"))] : acceptable
        XCTAssertTrue(expected.contains { $0 == route }, "\(v.name): \(String(describing: route))")
    }

    private func checkForward(_ v: VectorCase) throws {
        let frame = try Frame(v.bytes("frame"))
        let connected = Set(try peers(v.strings("connectedPeers")))
        let step = RouteForwarding.decide(
            type: frame.type, ttl: frame.ttl, recipient: frame.recipientID, route: frame.route,
            me: try peer(v.string("self")), isConnected: connected.contains)
        if let next = try v.optionalString("nextHop") {
            XCTAssertEqual(step, .forward(to: try peer(next), ttl: UInt8(try v.int("forwardTTL"))), v.name)
            XCTAssertTrue(try v.bool("suppressFlood"), v.name)
        } else {
            XCTAssertTrue(v.isNull("forwardTTL"), v.name)
            XCTAssertEqual(step, try v.bool("suppressFlood") ? .suppress : .flood, v.name)
        }
    }

    private func checkOriginate(_ v: VectorCase) throws {
        let computed = v.isNull("computedRoute") ? nil : try peers(v.strings("computedRoute"))
        let isCandidate = RouteOrigination.isCandidate(
            sender: try peer(v.string("sender")), recipient: try v.optionalString("recipient").map(peer),
            ttl: UInt8(try v.int("ttl")), me: try peer(v.string("self")),
            isRecipientConnected: try v.bool("recipientConnected"))
        let isRouted =
            try isCandidate && v.bool("attemptAllowed") && computed.map(RouteOrigination.isWorthwhile) ?? false
        XCTAssertEqual(isRouted ? computed : nil, v.isNull("route") ? nil : try peers(v.strings("route")), v.name)
    }

    /// Chapter 03 B9.1: any number of neighbours is accepted.
    func testHubKnowsTheWayToEveryNeighbourItClaims() {
        var topology = TopologyTracker()
        let hub = PeerID(value: 1_000)
        let around = (1...40).map { PeerID(value: $0) }
        topology.claim(around, by: hub, at: now)
        for node in around { topology.claim([hub], by: node, at: now) }
        XCTAssertEqual(topology.route(from: around[0], to: around[39], version: nil, at: now), [hub])
    }

    // MARK: Failure cache (B9.5)

    private let peer = PeerID(value: 5)

    func testUnansweredRouteIsSuppressedForAMinute() {
        var health = RouteHealth()
        XCTAssertTrue(health.mayRoute(to: peer, at: now))
        health.noteRoutedSend(to: peer, at: now)
        XCTAssertTrue(health.mayRoute(to: peer, at: now + .seconds(10)))
        let failed = now + .milliseconds(10_001)
        XCTAssertFalse(health.mayRoute(to: peer, at: failed))
        XCTAssertFalse(health.mayRoute(to: peer, at: failed + .milliseconds(59_999)))
        XCTAssertTrue(health.mayRoute(to: peer, at: failed + .seconds(60)))
    }

    func testHearingTheRecipientConfirmsTheRouteButLiftsNoSuppression() {
        var health = RouteHealth()
        health.noteRoutedSend(to: peer, at: now)
        health.confirm(peer)
        XCTAssertTrue(health.mayRoute(to: peer, at: now + .seconds(30)))
        health.noteRoutedSend(to: peer, at: now + .seconds(30))
        XCTAssertFalse(health.mayRoute(to: peer, at: now + .seconds(41)))
        health.confirm(peer)
        XCTAssertFalse(health.mayRoute(to: peer, at: now + .seconds(42)))
    }

    func testFailureCacheAndTopologyAreBounded() {
        var health = RouteHealth()
        var topology = TopologyTracker()
        for value in 0..<3_000 {
            let node = PeerID(value: UInt64(value))
            health.noteRoutedSend(to: node, at: now)
            topology.claim([peer], by: node, at: now)
            topology.noteVersion(2, of: node, at: now)
        }
        let judged = (0..<3_000).filter { !health.mayRoute(to: PeerID(value: UInt64($0)), at: now + .seconds(20)) }
        XCTAssertEqual(judged.count, MeshLimits.routeRecordCapacity)
        XCTAssertEqual(topology.edges.count, MeshLimits.topologyNodes - 1)
        topology.prune(at: now + .milliseconds(60_001))
        XCTAssertTrue(topology.edges.isEmpty)
    }
}
