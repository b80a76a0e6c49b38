import Basics
import Crypto
import Simulation
import Wire
import XCTest

@testable import Mesh

final class PresenceTests: XCTestCase {
    private func announces(_ mesh: SimulatedMesh, from node: Int) -> [Packet] {
        mesh.air(.announce).filter { $0.from == node }.compactMap { Packet(decoding: $0.bytes) }
            .filter { $0.senderID == mesh.peer(node) }
    }

    /// What a node announces, signed; any field may be changed before signing.
    private func announce(
        by node: SimulatedNode, at now: Now, name: String = "someone", _ change: (inout Packet) -> Void = { _ in }
    ) throws -> [UInt8] {
        let payload = Announce(
            nickname: name, noisePublicKey: node.identity.noise.publicKey.bytes,
            signingPublicKey: node.identity.signing.publicKey.bytes)
        var packet = Packet(
            type: .announce, timestamp: now.wall, senderID: node.id, payload: try XCTUnwrap(payload.encoded()))
        change(&packet)
        try node.identity.sign(&packet)
        return try packet.encoded()
    }

    func testNeighboursMeetAndBindTheirLinks() {
        let mesh = SimulatedMesh.line(2)
        XCTAssertEqual(mesh.nodes[0].connectedEvents, [mesh.peer(1)])
        XCTAssertEqual(mesh.nodes[1].connectedEvents, [mesh.peer(0)])
        XCTAssertEqual(mesh.nodes[0].mesh.links.map(\.peer), [mesh.peer(1)])
        XCTAssertEqual(mesh.nodes[1].mesh.links.map(\.peer), [mesh.peer(0)])
        XCTAssertEqual(mesh.nodes[0].mesh.degree, 1)
        let peer = mesh.nodes[0].mesh.peers(at: mesh.now).first
        XCTAssertEqual(peer?.nickname, "node-1")
        XCTAssertEqual(peer?.isConnected, true)
    }

    func testFartherPeersAreReachableButNotConnected() {
        let mesh = SimulatedMesh.line(4)
        let far = mesh.nodes[0].mesh.peer(mesh.peer(3), at: mesh.now)
        XCTAssertEqual(far?.isConnected, false)
        XCTAssertEqual(far?.isReachable, true)
        XCTAssertEqual(mesh.nodes[0].mesh.degree, 1)
    }

    func testAnnounceSaysWhoIsNearAndLeavesWithTTLSeven() throws {
        let mesh = SimulatedMesh.line(3)
        mesh.clearAir()
        mesh.run(for: .seconds(30))
        let packet = try XCTUnwrap(announces(mesh, from: 1).last)
        XCTAssertEqual(packet.ttl, 7)
        XCTAssertEqual(packet.version, 1)
        XCTAssertNil(packet.recipientID)
        let announce = try XCTUnwrap(Announce(payload: packet.payload))
        XCTAssertEqual(Set(announce.directNeighbors ?? []), [mesh.peer(0), mesh.peer(2)])
        XCTAssertEqual(announce.nickname, "node-1")
        XCTAssertNil(announce.bridgeGeohash)
    }

    func testFirstAnnounceComesSixHundredMillisecondsAfterTheStart() throws {
        let mesh = SimulatedMesh(seed: 1)
        mesh.addNode()
        mesh.addNode()
        mesh.connect(0, 1)
        mesh.run(for: .seconds(3))
        let begin = SimulatedMesh.start.monotonic
        let times = mesh.air(.announce).filter { $0.from == 0 }.map { ($0.at - begin).milliseconds }
        XCTAssertEqual(times.first, 50, "our subscription")
        XCTAssertTrue(times.contains(600))
        let theirs = mesh.air(.announce).filter { $0.from == 1 }.map { ($0.at - begin).milliseconds }
        XCTAssertNotNil(theirs.first)
    }

    func testChangeOfAdvertisementAnnouncesAtOnceAndOnlyWhenItIsOne() throws {
        let mesh = SimulatedMesh.line(2)
        mesh.run(for: .seconds(1))
        mesh.clearAir()
        mesh.call(0) { $0.setAdvertisement(capabilities: [.gateway, .bridge], bridgeCell: "u33dc0", at: $1) }
        let packet = try XCTUnwrap(announces(mesh, from: 0).first)
        let announce = try XCTUnwrap(Announce(payload: packet.payload))
        XCTAssertEqual(announce.capabilities, [.gateway, .bridge])
        XCTAssertEqual(announce.capabilities?.encoded, [0x84])
        XCTAssertEqual(announce.bridgeGeohash, "u33dc0")
        mesh.run(for: .milliseconds(200))
        XCTAssertEqual(mesh.nodes[1].mesh.peer(mesh.peer(0), at: mesh.now)?.bridgeCell, "u33dc0")
        mesh.clearAir()
        mesh.call(0) { $0.setAdvertisement(capabilities: [.gateway, .bridge], bridgeCell: "u33dc0", at: $1) }
        XCTAssertTrue(announces(mesh, from: 0).isEmpty)
        // The cell is announced only together with the bridge bit.
        mesh.run(for: .milliseconds(200))
        mesh.call(0) { $0.setAdvertisement(capabilities: [.gateway], bridgeCell: "u33dc0", at: $1) }
        let last = try XCTUnwrap(announces(mesh, from: 0).last.flatMap { Announce(payload: $0.payload) })
        XCTAssertNil(last.bridgeGeohash)
    }

    func testTheLastOfSeveralChangesIsAnnouncedAsSoonAsTheSpacingAllows() throws {
        let mesh = SimulatedMesh.line(2)
        mesh.run(for: .seconds(1))
        mesh.clearAir()
        mesh.call(0) { node, now in
            node.setAdvertisement(capabilities: [.gateway], bridgeCell: nil, at: now)
            node.setAdvertisement(capabilities: [.gateway, .bridge], bridgeCell: "u33dc0", at: now)
            node.setNickname("eve", at: now)
        }
        mesh.run(for: .milliseconds(200))
        let last = try XCTUnwrap(announces(mesh, from: 0).last.flatMap { Announce(payload: $0.payload) })
        XCTAssertEqual(last.capabilities, [.gateway, .bridge])
        XCTAssertEqual(last.bridgeGeohash, "u33dc0")
        XCTAssertEqual(last.nickname, "eve")
        let times = mesh.air(.announce).filter { $0.from == 0 }.map(\.at)
        XCTAssertEqual(times.count, 2)
        XCTAssertEqual(times.last.map { $0 - times[0] }, .milliseconds(150))
    }

    func testForgedAnnounceBindsNothingAndIsNotRelayed() throws {
        let mesh = SimulatedMesh.line(3)
        let stranger = SimulatedMesh(seed: 99)
        stranger.addNode()
        let link = LinkID(value: 9_000)
        mesh.call(1) { $0.linkUp(link, role: .incoming, frameLimit: 512, at: $1) }
        mesh.run(for: .seconds(1))
        mesh.clearAir()
        var forged = try announce(by: stranger.nodes[0], at: mesh.now)
        forged[forged.count - 1] ^= 1
        mesh.inject(forged, into: 1, on: link)
        mesh.run(for: .seconds(1))
        XCTAssertEqual(mesh.nodes[1].mesh.drops[.badSignature], 1)
        XCTAssertNil(mesh.nodes[1].mesh.peer(stranger.peer(0), at: mesh.now))
        XCTAssertEqual(mesh.nodes[1].mesh.degree, 2)
        XCTAssertNil(mesh.nodes[1].mesh.linkTable[link]?.peer)
        XCTAssertNil(mesh.nodes[1].mesh.identities[stranger.peer(0)])
        XCTAssertTrue(
            mesh.air(.announce).filter { $0.from == 1 && $0.to == 2 }.allSatisfy {
                Packet(decoding: $0.bytes)?.senderID != stranger.peer(0)
            })
        // The genuine one, in the same millisecond, is not shadowed.
        forged[forged.count - 1] ^= 1
        mesh.inject(forged, into: 1, on: link)
        XCTAssertEqual(mesh.nodes[1].mesh.peer(stranger.peer(0), at: mesh.now)?.isConnected, true)
    }

    func testAnnounceInAnothersNameIsRefused() throws {
        let mesh = SimulatedMesh.line(2)
        let link = try XCTUnwrap(mesh.nodes[0].mesh.links.first).id
        let victim = PeerID(value: 0x7777)
        let bytes = try announce(by: mesh.nodes[1], at: mesh.now) { $0.senderID = victim }
        mesh.inject(bytes, into: 0, on: link)
        XCTAssertEqual(mesh.nodes[0].mesh.drops[.announceMismatch], 1)
        XCTAssertEqual(mesh.nodes[0].mesh.links.first?.peer, mesh.peer(1))
        XCTAssertNil(mesh.nodes[0].mesh.peer(victim, at: mesh.now))
    }

    /// Chapter 03 A11.2: the TTL is unsigned, so anyone can replay an announce with TTL 7 restored.
    func testReplayedAnnounceWithRestoredTTLStealsNoLink() throws {
        let mesh = SimulatedMesh.line(3)
        // Node 2 hangs on node 1; node 0 replays its announce on its own link to node 1.
        let link = try XCTUnwrap(mesh.nodes[1].mesh.links.first { $0.peer == mesh.peer(0) }).id
        let before = mesh.nodes[1].mesh.links.map(\.peer)
        let replay = try announce(by: mesh.nodes[2], at: mesh.now, name: "node-2")
        mesh.inject(replay, into: 1, on: link)
        XCTAssertEqual(mesh.nodes[1].mesh.links.map(\.peer), before)
        XCTAssertEqual(mesh.nodes[1].mesh.drops[.rebindRefused], 1)
        mesh.clearAir()
        mesh.call(1) { $0.ping(mesh.peer(2), at: $1) }
        XCTAssertEqual(mesh.air(.ping).map(\.to), [2], "directed traffic still goes the right way")
    }

    func testRotatedIdentityTakesItsLinkOverAndTheFormerOneIsGone() throws {
        let mesh = SimulatedMesh.line(2)
        let fresh = SimulatedMesh(seed: 77)
        fresh.addNode()
        let link = try XCTUnwrap(mesh.nodes[0].mesh.links.first).id
        mesh.inject(try announce(by: fresh.nodes[0], at: mesh.now), into: 0, on: link)
        XCTAssertEqual(mesh.nodes[0].mesh.links.first?.peer, fresh.peer(0))
        XCTAssertEqual(mesh.nodes[0].removedEvents, [mesh.peer(1)])
        XCTAssertEqual(mesh.nodes[0].connectedEvents.last, fresh.peer(0))
        XCTAssertNil(mesh.nodes[0].mesh.peer(mesh.peer(1), at: mesh.now))
    }

    func testPinnedSigningKeyIsNeverReplacedByAnAnnounce() throws {
        let mesh = SimulatedMesh.line(2)
        let link = try XCTUnwrap(mesh.nodes[0].mesh.links.first).id
        var random = SeededRandom(seed: 5)
        let other = SigningKey.generate(using: &random)
        let payload = Announce(
            nickname: "imposter", noisePublicKey: mesh.nodes[1].identity.noise.publicKey.bytes,
            signingPublicKey: other.publicKey.bytes)
        var packet = Packet(
            type: .announce, timestamp: mesh.now.wall, senderID: mesh.peer(1),
            payload: try XCTUnwrap(payload.encoded()))
        packet.signature = other.sign(try packet.signingInput())
        mesh.inject(try packet.encoded(), into: 0, on: link)
        XCTAssertEqual(mesh.nodes[0].mesh.drops[.pinnedKeyMismatch], 1)
        XCTAssertEqual(mesh.nodes[0].mesh.peer(mesh.peer(1), at: mesh.now)?.nickname, "node-1")

        // Also after a restart, from what was stored; until the operator says otherwise.
        let restarted = SimulatedMesh(seed: 6)
        restarted.addNode()
        restarted.nodes[0].mesh.restore([try XCTUnwrap(mesh.nodes[0].mesh.identities[mesh.peer(1)])])
        let up = LinkID(value: 8_000)
        restarted.call(0) { $0.linkUp(up, role: .incoming, frameLimit: 512, at: $1) }
        restarted.run(for: mesh.now.monotonic - SimulatedMesh.start.monotonic)
        restarted.inject(try packet.encoded(), into: 0, on: up)
        XCTAssertEqual(restarted.nodes[0].mesh.drops[.pinnedKeyMismatch], 1)
        XCTAssertTrue(restarted.call(0) { $0.forget(mesh.peer(1), at: $1) })
        let forgotten = restarted.nodes[0].events.compactMap {
            if case .identityForgotten(let record) = $0.event { record.peerID } else { nil }
        }
        XCTAssertEqual(forgotten, [mesh.peer(1)], "by what is stored as well")
        XCTAssertFalse(restarted.call(0) { $0.forget(mesh.peer(1), at: $1) }, "nothing is known any more")
        packet.timestamp = WallTime(milliseconds: packet.timestamp.milliseconds + 1)
        packet.signature = other.sign(try packet.signingInput())
        restarted.inject(try packet.encoded(), into: 0, on: up)
        XCTAssertEqual(restarted.nodes[0].mesh.peer(mesh.peer(1), at: restarted.now)?.nickname, "imposter")
    }

    func testVerifiedAnnounceTeachesAnIdentityOnce() {
        let mesh = SimulatedMesh.line(2)
        mesh.run(for: .seconds(60))
        let learned = mesh.nodes[0].events.filter { if case .identityLearned = $0.event { true } else { false } }
        XCTAssertEqual(learned.count, 1)
    }

    func testLostLinkDisconnectsItsPeerOnlyWhenItWasTheLastOne() throws {
        let mesh = SimulatedMesh(seed: 2)
        mesh.addNode()
        mesh.addNode()
        let first = mesh.connect(0, 1)
        let second = mesh.connect(1, 0)
        mesh.run(for: .seconds(12))
        mesh.disconnect(first.a)
        XCTAssertEqual(mesh.nodes[0].disconnectedEvents, [])
        XCTAssertEqual(mesh.nodes[0].mesh.degree, 1)
        mesh.disconnect(second.a)
        XCTAssertEqual(mesh.nodes[0].disconnectedEvents, [mesh.peer(1)])
        XCTAssertEqual(mesh.nodes[0].mesh.degree, 0)
        XCTAssertEqual(mesh.nodes[0].mesh.peers(at: mesh.now).count, 1, "known, not connected")
        mesh.run(for: .seconds(70))
        XCTAssertEqual(mesh.nodes[0].removedEvents, [mesh.peer(1)])
    }

    func testReturningPeerIsConnectedAgain() {
        let mesh = SimulatedMesh(seed: 3)
        mesh.addNode()
        mesh.addNode()
        let link = mesh.connect(0, 1)
        mesh.run(for: .seconds(12))
        mesh.disconnect(link.a)
        mesh.run(for: .seconds(5))
        mesh.connect(0, 1)
        mesh.run(for: .seconds(12))
        XCTAssertEqual(mesh.nodes[0].connectedEvents, [mesh.peer(1), mesh.peer(1)])
        XCTAssertEqual(mesh.nodes[0].disconnectedEvents, [mesh.peer(1)])
    }

    func testOurRedundantLinksToOnePeerAreRetiredWithoutADisconnection() {
        let mesh = SimulatedMesh(seed: 4)
        mesh.addNode()
        mesh.addNode()
        mesh.connect(0, 1)
        mesh.run(for: .seconds(2))
        let newer = mesh.connect(0, 1)
        mesh.run(for: .seconds(12))
        XCTAssertEqual(mesh.nodes[0].mesh.links.map(\.id), [newer.a])
        XCTAssertEqual(mesh.linkCount, 1)
        XCTAssertEqual(mesh.nodes[0].disconnectedEvents, [])
        XCTAssertEqual(mesh.nodes[0].mesh.degree, 1)
    }

    func testGoodbyeReachesTheMeshAndRemovesThePeer() {
        let mesh = SimulatedMesh.line(3)
        mesh.call(0) { $0.stop(at: $1) }
        mesh.run(for: .seconds(1))
        for index in 1...2 {
            XCTAssertEqual(mesh.nodes[index].leftEvents, [mesh.peer(0)])
            XCTAssertNil(mesh.nodes[index].mesh.peer(mesh.peer(0), at: mesh.now))
        }
        XCTAssertEqual(mesh.nodes[1].mesh.degree, 1)
        XCTAssertNil(mesh.nodes[0].mesh.nextDeadline)
    }

    func testStoppedNodeHasNoLinksAndCanStartAgain() {
        let mesh = SimulatedMesh.line(2)
        mesh.call(0) { $0.stop(at: $1) }
        XCTAssertTrue(mesh.nodes[0].mesh.links.isEmpty)
        XCTAssertEqual(mesh.nodes[0].disconnectedEvents, [mesh.peer(1)])
        for link in mesh.openLinks { mesh.disconnect(link.link) }
        mesh.run(for: .seconds(2))
        mesh.call(0) { $0.start(at: $1) }
        mesh.connect(0, 1)
        mesh.run(for: .seconds(12))
        XCTAssertEqual(mesh.nodes[0].mesh.degree, 1)
        XCTAssertEqual(mesh.nodes[1].mesh.degree, 1)
    }

    func testForgedGoodbyeIsIgnoredAndNotRelayed() throws {
        let mesh = SimulatedMesh.line(3)
        let link = try XCTUnwrap(mesh.nodes[1].mesh.links.first { $0.peer == mesh.peer(0) }).id
        mesh.clearAir()
        for signature in [nil, [UInt8](repeating: 3, count: 64)] {
            let packet = Packet(
                type: .leave, timestamp: mesh.now.wall, senderID: mesh.peer(0), signature: signature)
            mesh.inject(try packet.encoded(), into: 1, on: link)
        }
        mesh.run(for: .seconds(1))
        XCTAssertEqual(mesh.nodes[1].mesh.drops[.badSignature], 2)
        XCTAssertTrue(mesh.air(.leave).isEmpty)
        XCTAssertEqual(mesh.nodes[1].leftEvents, [])
    }

    func testClockTwoMinutesOffIsNotHeard() {
        for (skew, heard) in [(119_000, true), (-119_000, true), (125_000, false), (-125_000, false)] as [(Int64, Bool)]
        {
            let mesh = SimulatedMesh(seed: 5)
            mesh.addNode()
            mesh.addNode(clockSkew: skew)
            mesh.connect(0, 1)
            mesh.run(for: .seconds(12))
            XCTAssertEqual(mesh.nodes[0].mesh.degree, heard ? 1 : 0, "\(skew)")
        }
    }

    func testLinkNobodyIsBoundToIsClosedAfterAMinute() {
        let mesh = SimulatedMesh(seed: 6)
        mesh.addNode()
        mesh.addNode(clockSkew: 500_000)
        mesh.connect(0, 1)
        mesh.run(for: .seconds(59))
        XCTAssertEqual(mesh.linkCount, 1)
        mesh.run(for: .seconds(7))
        XCTAssertEqual(mesh.linkCount, 0)
    }

    func testRegistryIsBoundedAndEvictsTheLongestUnheardStranger() throws {
        let registry = PeerRegistry()
        var random = SeededRandom(seed: 1)
        let identity = NodeIdentity.generate(using: &random)
        func peer(_ value: Int, connected: Bool) -> Peer {
            Peer(
                id: PeerID(value: UInt64(value)), nickname: "", noiseKey: identity.noise.publicKey,
                signingKey: identity.signing.publicKey, isConnected: connected,
                lastSeen: .zero + .seconds(value), announcedAt: WallTime(milliseconds: 0), link: LinkID(value: 1))
        }
        for value in 0..<MeshLimits.peerCapacity {
            _ = registry.upsert(peer(value, connected: value < 4)) { _ in true }
        }
        XCTAssertEqual(registry.degree, 4)
        let result = registry.upsert(peer(5_000, connected: true)) { _ in true }
        XCTAssertTrue(result.accepted)
        XCTAssertEqual(result.evicted, PeerID(value: 4), "0 to 3 are connected")
        XCTAssertEqual(registry.count, MeshLimits.peerCapacity)
        XCTAssertEqual(registry.degree, 5)
    }

    func testIdentityBookIsBoundedAndForgetsTheLeastRecentlyHeard() {
        let book = IdentityBook(capacity: 16, displacementBurst: 84)
        var random = SeededRandom(seed: 2)
        var peers: [PeerID] = []
        for _ in 0..<100 {
            let identity = NodeIdentity.generate(using: &random)
            peers.append(identity.peerID)
            let record = IdentityRecord(
                noiseKey: identity.noise.publicKey, signingKey: identity.signing.publicKey, nickname: "n")
            XCTAssertEqual(book.learn(record, at: .zero), .news)
            XCTAssertLessThanOrEqual(book.count, 16)
        }
        XCTAssertNotNil(book[peers[99]])
        XCTAssertNil(book[peers[0]])
    }
}
