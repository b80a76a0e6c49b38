import Basics
import Crypto
import Wire
import XCTest

@testable import Mesh

/// A thousand forged senders at line rate on one link (lessons 52 and 68): what comes in on the others still gets
/// through, and nothing that was there before is pushed out.
final class FloodProtectionTests: XCTestCase {
    /// Frames of one flood; each call makes another one, of one of a thousand senders.
    private struct Flood {
        let name: String
        let make: (_ number: Int, _ sender: ScriptedPeer, NodeHarness) throws -> Frame
    }

    private static let crowd = (0..<1_000).map { ScriptedPeer(seed: 50_000 + UInt64($0)) }
    private var random = SeededRandom(seed: 1)

    private func payload(_ number: Int, _ size: Int = 200) -> [UInt8] {
        GossipSamples.numbered(number) + random.bytes(size)
    }

    private var floods: [Flood] {
        func plain(_ name: String, _ type: MessageType, to recipient: PeerID? = nil, signed: Bool = false) -> Flood {
            Flood(name: name) { number, sender, node in
                try sender.frame(type, self.payload(number), at: node.now, recipient: recipient, isSigned: signed)
            }
        }
        return [
            plain("unsigned messages", .message), plain("signed messages of strangers", .message, signed: true),
            plain("group messages", .groupMessage), plain("carriers for everybody", .nostrCarrier),
            plain("unknown types", MessageType(rawValue: 0x7e)), plain("voice", .voiceFrame, signed: true),
            plain("sealed packets to nobody", .noiseEncrypted, to: PeerID(value: 9)),
            plain("sealed packets to the very recipient", .noiseEncrypted, to: Self.receiver.id),
            plain("courier envelopes", .courierEnvelope, to: Self.receiver.id),
            plain("handshakes", .noiseHandshake, to: Self.receiver.id),
            Flood(name: "announces of invented identities") { number, sender, node in
                try ScriptedPeer(seed: 90_000 + UInt64(number)).announce(at: node.now, ttl: 6)
            },
            Flood(name: "fragments") { number, sender, node in
                let fragment = GossipSamples.fragment(stream: UInt64(number) + 1) + self.payload(number)
                return try sender.frame(.fragment, fragment, at: node.now, isSigned: false)
            },
            Flood(name: "fragments for one") { number, sender, node in
                let fragment = GossipSamples.fragment(stream: UInt64(number) + 1) + self.payload(number)
                return try sender.frame(
                    .fragment, fragment, at: node.now, recipient: Self.receiver.id, isSigned: false)
            },
        ]
    }

    private static let sender = ScriptedPeer(seed: 7, capabilities: ScriptedPeer.iPhone)
    private static let receiver = ScriptedPeer(seed: 8, capabilities: ScriptedPeer.iPhone)
    private static let flooder = ScriptedPeer(seed: 9)

    /// Floods one link for `seconds` at 100 frames a second, which is what 24 kB/s carry; the genuine sender's five
    /// directed packets and one broadcast a second come in on another.
    /// - Returns: shares of the genuine packets that went out to the receiver.
    private func run(
        _ floods: [Flood], seconds: Int
    ) throws -> (node: NodeHarness, out: LinkID, directed: Double, broadcast: Double) {
        let node = NodeHarness()
        let floodLinks = try floods.indices.map { try node.meet(ScriptedPeer(seed: 900 + UInt64($0))) }
        let link = try node.meet(Self.sender)
        let out = try node.meet(Self.receiver)
        node.advance(by: .seconds(3))
        node.clearSent()
        var number = 0
        var directed = 0
        var broadcast = 0
        for step in 0..<seconds * 100 {
            for (flood, floodLink) in zip(floods, floodLinks) {
                let forged = try flood.make(number, Self.crowd[number % 1_000], node)
                node.receive(forged, on: floodLink)
                number += 1
            }
            if step % 20 == 0 {
                let type: MessageType = directed % 2 == 0 ? .noiseEncrypted : .courierEnvelope
                node.receive(
                    try Self.sender.frame(
                        type, payload(directed, 300), at: node.now, recipient: Self.receiver.id, isSigned: false),
                    on: link)
                directed += 1
            }
            if step % 100 == 50 {
                node.receive(try Self.sender.message("genuine \(broadcast)", at: node.now), on: link)
                broadcast += 1
            }
            node.advance(by: .milliseconds(10))
        }
        node.advance(by: .seconds(1))
        let passed = node.sent.filter { $0.link == out && $0.frame.senderID == Self.sender.id }
        XCTAssertEqual(Set(passed.map(\.frame.bytes)).count, passed.count)
        let messages = passed.filter { $0.frame.type == .message }.count
        return (
            node, out, Double(passed.count - messages) / Double(directed), Double(messages) / Double(broadcast)
        )
    }

    private func assertBounded(_ node: NodeHarness, _ name: String) {
        node.node.measure { table, count, bound in XCTAssertLessThanOrEqual(count, bound, "\(name): \(table)") }
    }

    func testDirectedAndCourierPacketsPassEveryFloodOnAnotherLink() throws {
        for flood in floods {
            let (node, out, directed, broadcast) = try run([flood], seconds: 10)
            XCTAssertGreaterThanOrEqual(directed, 0.99, flood.name)
            XCTAssertGreaterThanOrEqual(broadcast, 0.99, flood.name)
            XCTAssertGreaterThan(node.drops(.linkBudget), 100, flood.name)
            let written = node.sent.filter { $0.link == out }.count
            XCTAssertLessThanOrEqual(written, 240 + 11 * 60 + 20, "\(flood.name): no more than a neighbour takes")
            assertBounded(node, flood.name)
        }
    }

    func testDirectedPacketsPassThreeFloodsAtOnce() throws {
        let all = floods
        for start in stride(from: 0, to: all.count, by: 3) {
            let three = (0..<3).map { all[(start + $0) % all.count] }
            let name = three.map(\.name).joined(separator: ", ")
            let (node, out, directed, _) = try run(three, seconds: 12)
            XCTAssertGreaterThanOrEqual(directed, 0.9, name)
            let written = node.sent.filter { $0.link == out }.count
            XCTAssertLessThanOrEqual(written, 240 + 13 * 60 + 20, "\(name): no more than a neighbour takes")
            assertBounded(node, name)
        }
    }

    func testCountersNameTheFlood() throws {
        let expected: [String: MeshDrop] = [
            "unsigned messages": .unverifiedRelayBudget, "signed messages of strangers": .unverifiedRelayBudget,
            "announces of invented identities": .identityBudget, "sealed packets to nobody": .relayThrottled,
            "unknown types": .relayThrottled, "fragments": .relayThrottled,
        ]
        for flood in floods {
            guard let reason = expected[flood.name] else { continue }
            let (node, _, _, _) = try run([flood, flood], seconds: 12)
            XCTAssertGreaterThan(node.drops(reason), 100, flood.name)
            XCTAssertGreaterThan(node.drops(.linkBudget), 400, flood.name)
        }
    }

    // MARK: Identities

    /// Announces of peers farther away, as they come in on a link every twenty seconds.
    private func announce(_ peers: [ScriptedPeer], on link: LinkID, _ node: NodeHarness) throws {
        for peer in peers { node.receive(try peer.announce(at: node.now, ttl: 5), on: link) }
    }

    func testAFloodOfIdentitiesOnOneLinkPushesNobodyOutOfTheRegistryOrTheBook() throws {
        let node = NodeHarness()
        let floodLink = try node.meet(Self.flooder)
        let link = try node.meet(Self.sender)
        let genuine = (0..<50).map { ScriptedPeer(seed: 300 + UInt64($0)) }
        try announce(genuine, on: link, node)
        XCTAssertEqual(node.node.registry.count, 52)
        var seed: UInt64 = 100_000
        for _ in 0..<9 {
            for _ in 0..<20 * 60 {
                node.receive(try ScriptedPeer(seed: seed).announce(at: node.now, ttl: 6), on: floodLink)
                seed += 1
            }
            node.advance(by: .seconds(20))
            try announce(genuine + [Self.sender, Self.flooder], on: link, node)
            for peer in genuine { XCTAssertNotNil(node.node.peer(peer.id, at: node.now)) }
        }
        for peer in genuine { XCTAssertNotNil(node.node.identities[peer.id]) }
        XCTAssertLessThanOrEqual(node.node.identities.count, 52 + 512 + 4 * 180)
        XCTAssertLessThan(node.node.registry.count, MeshLimits.peerCapacity)
        assertBounded(node, "identities")
        // Somebody new is welcome on the other link all the while.
        let newcomer = ScriptedPeer(seed: 2_000)
        try announce([newcomer], on: link, node)
        XCTAssertNotNil(node.node.peer(newcomer.id, at: node.now))
    }

    func testAnIdentityRefusedOnAFloodedLinkIsTakenFromAnother() throws {
        let node = NodeHarness()
        let floodLink = try node.meet(Self.flooder)
        let link = try node.meet(Self.sender)
        for number in 0..<800 {
            node.receive(try ScriptedPeer(seed: 100_000 + UInt64(number)).announce(at: node.now, ttl: 6), on: floodLink)
            node.advance(by: .milliseconds(20))
        }
        XCTAssertGreaterThan(node.drops(.identityBudget), 100)
        let newcomer = ScriptedPeer(seed: 2_000)
        let announce = try newcomer.announce(at: node.now, ttl: 6)
        node.clearSent()
        node.receive(announce, on: floodLink)
        XCTAssertNil(node.node.peer(newcomer.id, at: node.now))
        node.receive(announce, on: link)
        XCTAssertNotNil(node.node.peer(newcomer.id, at: node.now))
        node.advance(by: .seconds(1))
        XCTAssertTrue(node.frames(.announce).contains { $0.frame.senderID == newcomer.id }, "and relayed")
    }

    func testACrowdOnOneLinkIsKnownWithinAMinute() throws {
        let node = NodeHarness()
        let link = try node.meet(Self.sender)
        for number in 0..<700 {
            node.receive(try Self.crowd[number].announce(at: node.now, ttl: 6), on: link)
            node.advance(by: .milliseconds(60))
        }
        XCTAssertEqual(node.drops(.identityBudget), 25, accuracy: 25)
        XCTAssertGreaterThanOrEqual(node.node.registry.count, 670)
    }

    func testFullRegistryLetsTheLinkThatBroughtMostPayForItsOwn() {
        let registry = PeerRegistry()
        let identity = Self.sender.identity
        func peer(_ value: Int, on link: UInt64) -> Peer {
            Peer(
                id: PeerID(value: UInt64(value)), nickname: "", noiseKey: identity.noise.publicKey,
                signingKey: identity.signing.publicKey, isConnected: false, lastSeen: .zero + .seconds(value),
                announcedAt: WallTime(milliseconds: 0), link: LinkID(value: link))
        }
        // The genuine ones were heard of longest ago.
        for value in 0..<100 { _ = registry.upsert(peer(value, on: 1)) { _ in true } }
        for value in 100..<2_500 { _ = registry.upsert(peer(value, on: 2)) { _ in true } }
        for value in 0..<100 { XCTAssertNotNil(registry[PeerID(value: UInt64(value))]) }
        XCTAssertEqual(registry.count, MeshLimits.peerCapacity)
        // Once the flooding link is gone, what it brought goes first.
        let evicted = registry.upsert(peer(6_000, on: 3)) { $0 != LinkID(value: 2) }.evicted
        XCTAssertEqual(evicted.flatMap { registry[$0] }?.link, nil)
        XCTAssertEqual(registry.count, MeshLimits.peerCapacity)
        XCTAssertTrue((100..<2_500).contains(Int(evicted?.value ?? 0)))
    }

    func testAFullBookForgetsSlowly() throws {
        let book = IdentityBook(capacity: 100, displacementBurst: 10)
        func record(_ number: Int) -> IdentityRecord {
            let identity = Self.crowd[number].identity
            return IdentityRecord(
                noiseKey: identity.noise.publicKey, signingKey: identity.signing.publicKey, nickname: "n")
        }
        for number in 0..<100 { XCTAssertEqual(book.learn(record(number), at: .zero), .news) }
        let learned = (100..<1_000).filter { book.learn(record($0), at: .zero + .seconds(1)) == .news }
        XCTAssertEqual(learned.count, 10)
        XCTAssertNil(book.displaced, "who was refused displaced nobody")
        XCTAssertEqual(book.count, 100)
        for number in 10..<100 { XCTAssertNotNil(book[Self.crowd[number].id]) }
        XCTAssertEqual(book.learn(record(999), at: .zero + .seconds(12)), .news, "one in ten seconds")
        XCTAssertEqual(book.displaced, record(10), "the least recently heard")
        XCTAssertEqual(book.learn(record(998), at: .zero + .seconds(12)), .refused)
    }

    func testWhoeverIsForgottenIsForgottenOverARestartToo() throws {
        func record(_ number: Int, proven: Bool = false) throws -> IdentityRecord {
            let bytes = SHA256.hash(Array("\(number)".utf8))
            let signing = try XCTUnwrap(SigningPublicKey(bytes))
            return IdentityRecord(
                noiseKey: try XCTUnwrap(NoisePublicKey(bytes)), signingKey: signing,
                authenticatedSigningKey: proven ? signing : nil, nickname: "")
        }
        let node = MeshNode(
            configuration: MeshConfiguration(nickname: "n"), identity: Self.crowd[0].identity,
            random: SeededRandom(seed: 1))
        let all = try (0..<MeshLimits.identityCapacity).map { try record($0) }
        node.restore(all)
        let newcomer = try record(-1, proven: true)
        node.learn(newcomer)
        var told: [String] = []
        while let effect = node.nextEffect() {
            if case .event(.identityForgotten(let record)) = effect { told.append("-" + record.peerID.hex) }
            if case .event(.identityLearned(let record)) = effect { told.append("+" + record.peerID.hex) }
        }
        XCTAssertEqual(told, ["-" + all[0].peerID.hex, "+" + newcomer.peerID.hex])
    }

    func testProvenKeysYieldToNobodyFaster() throws {
        let book = IdentityBook(capacity: 100, displacementBurst: 10)
        func record(_ number: Int, proven: Bool) -> IdentityRecord {
            let identity = Self.crowd[number].identity
            return IdentityRecord(
                noiseKey: identity.noise.publicKey, signingKey: identity.signing.publicKey,
                authenticatedSigningKey: proven ? identity.signing.publicKey : nil, nickname: "n")
        }
        for number in 0..<100 { XCTAssertEqual(book.learn(record(number, proven: number < 50), at: .zero), .news) }
        let learned = (100..<1_000).filter { book.learn(record($0, proven: true), at: .zero) == .news }
        XCTAssertEqual(learned.count, 50 + 10, "all that were only believed, and what the budget allows")
        for number in 10..<50 { XCTAssertNotNil(book[Self.crowd[number].id]) }
    }

    // MARK: History

    func testMessagesOfInventedPeoplePushNoHistoryOfOtherLinksOut() throws {
        let node = NodeHarness()
        let floodLink = try node.meet(Self.flooder)
        let link = try node.meet(Self.sender)
        let genuine = try (0..<200).map { try Self.sender.message("genuine \($0)", at: node.now, age: Int64($0)) }
        for frame in genuine { node.receive(frame, on: link) }
        for peer in Self.crowd.prefix(200) { node.receive(try peer.announce(at: node.now, ttl: 6), on: floodLink) }
        for number in 0..<1_300 {
            node.receive(try Self.crowd[number % 200].message("\(number)", at: node.now), on: floodLink)
            node.advance(by: .milliseconds(17))
        }
        XCTAssertEqual(node.node.historyCount, SyncLimits.messages)
        for frame in genuine { XCTAssertNotNil(node.node.gossip.store.messages[try XCTUnwrap(frame.id)]) }
    }

    // MARK: Relays waiting

    func testOneLinkHoldsAnEighthOfThePendingRelays() {
        let schedule = RelaySchedule<Int, Int>(capacity: 80, share: 10)
        let due = Instant.zero + .seconds(1)
        let added = (0..<100).filter { schedule.add($0, $0, heardOn: LinkID(value: 1), due: due) }
        XCTAssertEqual(added, Array(0..<10))
        XCTAssertTrue(schedule.add(500, 0, heardOn: LinkID(value: 2), due: due))
        schedule.cancel(0)
        XCTAssertTrue(schedule.add(501, 0, heardOn: LinkID(value: 1), due: due), "what is cancelled makes room")
        XCTAssertFalse(schedule.add(502, 0, heardOn: LinkID(value: 1), due: due))
        var taken = 0
        while schedule.takeDue(at: due) != nil { taken += 1 }
        XCTAssertEqual(taken, 11)
        XCTAssertTrue(schedule.add(503, 0, heardOn: LinkID(value: 1), due: due), "and so does what was sent")
    }
}
