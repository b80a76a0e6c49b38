import Basics
import Crypto
import Wire
import XCTest

@testable import Mesh

/// Group messages and prekey bundles of others, carried though the box is no member (chapter 04 §12.2, §13.1).
final class CarriedTypesTests: XCTestCase {
    private let owner = ScriptedPeer(seed: 7, capabilities: ScriptedPeer.iPhone)
    private let neighbour = ScriptedPeer(seed: 8, capabilities: ScriptedPeer.iPhone)

    private func bundle(_ peer: ScriptedPeer, isSigned: Bool = true, noiseKey: [UInt8]? = nil) throws -> [UInt8] {
        let key = noiseKey ?? peer.identity.noise.publicKey.bytes
        var bundle = PrekeyBundle(
            noisePublicKey: key, prekeys: [.init(id: 4, publicKey: [UInt8](repeating: 9, count: 32))],
            generatedAt: GossipSamples.now.wall, signature: [UInt8](repeating: 0, count: 64))
        if isSigned { bundle.signature = peer.identity.signing.sign(try XCTUnwrap(bundle.signedBytes)) }
        return try XCTUnwrap(bundle.encoded())
    }

    private func relayed(_ node: NodeHarness, _ type: MessageType) -> Int {
        node.advance(by: .seconds(1))
        return node.frames(type).count
    }

    func testBundleOfAKnownOwnerIsKeptAndRelayed() throws {
        let node = NodeHarness()
        let link = try node.meet(owner)
        _ = try node.meet(neighbour)
        node.receive(try owner.frame(.prekeyBundle, bundle(owner), at: node.now), on: link)
        XCTAssertEqual(node.node.gossip.store.prekeys.count, 1)
        XCTAssertEqual(relayed(node, .prekeyBundle), 1)
    }

    func testBundleWaitsForTheAnnounceOfItsOwner() throws {
        let node = NodeHarness()
        let link = try node.meet(neighbour)
        _ = try node.meet(ScriptedPeer(seed: 9))
        node.receive(try owner.frame(.prekeyBundle, bundle(owner), at: node.now, ttl: 5), on: link)
        XCTAssertEqual(node.node.gossip.store.prekeys.count, 0)
        XCTAssertEqual(relayed(node, .prekeyBundle), 1, "relaying does not wait")
        node.receive(try owner.announce(at: node.now, ttl: 5), on: link)
        XCTAssertEqual(node.node.gossip.store.prekeys[owner.id]?.heardFrom, neighbour.id)
    }

    func testWaitingBundlesAreBound() throws {
        let node = NodeHarness()
        let link = try node.meet(neighbour)
        let owners = (0..<66).map { ScriptedPeer(seed: 100 + UInt64($0)) }
        for peer in owners {
            node.receive(try peer.frame(.prekeyBundle, bundle(peer), at: node.now, ttl: 5), on: link)
        }
        for peer in owners { node.receive(try peer.announce(at: node.now, ttl: 5), on: link) }
        XCTAssertEqual(node.node.gossip.store.prekeys.count, 64)
    }

    func testOfWaitingBundlesTheLatestOfAnOwnerIsKept() throws {
        let node = NodeHarness()
        let link = try node.meet(neighbour)
        let owners = (0..<64).map { ScriptedPeer(seed: 100 + UInt64($0)) }
        for peer in owners {
            node.receive(try peer.frame(.prekeyBundle, bundle(peer), at: node.now, age: 9, ttl: 5), on: link)
        }
        let later = try owners[0].frame(.prekeyBundle, bundle(owners[0]), at: node.now, ttl: 5)
        node.receive(later, on: link)
        node.receive(try owners[0].announce(at: node.now, ttl: 5), on: link)
        XCTAssertEqual(node.node.gossip.store.prekeys[owners[0].id]?.id, later.id)
    }

    /// Unknown fields are skipped, so that a genuine bundle can be made as large as a packet may be.
    func testStuffedBundlesAndAnnouncesAreNotKept() throws {
        var random = SeededRandom(seed: 1)
        let stuffing: [UInt8] = [0x7f, 0x0f, 0xff] + random.bytes(4_095)
        let node = NodeHarness()
        let link = try node.meet(owner)
        node.receive(try owner.frame(.prekeyBundle, bundle(owner) + stuffing, at: node.now), on: link)
        XCTAssertEqual(node.node.gossip.store.prekeys.count, 0)
        let stranger = ScriptedPeer(seed: 9)
        node.receive(
            try stranger.frame(.prekeyBundle, bundle(stranger) + stuffing, at: node.now, ttl: 5), on: link)
        node.receive(try stranger.announce(at: node.now, ttl: 5), on: link)
        XCTAssertEqual(node.node.gossip.store.prekeys.count, 0)

        var store = GossipStore()
        for (size, outcome) in [(3_900, GossipStore.Outcome.stored), (4_200, .refused(.notCarried))] {
            let announce = try GossipSamples.frame(.announce, sender: UInt64(size), payload: random.bytes(size))
            XCTAssertEqual(store.insert(announce, at: GossipSamples.now), outcome)
        }
    }

    func testBundlesInInventedNamesKeepNobodyElsesFromWaiting() throws {
        let node = NodeHarness()
        let hostile = try node.meet(ScriptedPeer(seed: 9))
        let link = try node.meet(neighbour)
        func bring(_ peers: [ScriptedPeer], on link: LinkID) throws {
            for peer in peers {
                node.receive(try peer.frame(.prekeyBundle, bundle(peer), at: node.now, ttl: 5), on: link)
            }
        }
        let owners = (0..<20).map { ScriptedPeer(seed: 100 + UInt64($0)) }
        try bring(Array(owners[..<10]), on: link)
        try bring((0..<100).map { ScriptedPeer(seed: 1_000 + UInt64($0)) }, on: hostile)
        node.advance(by: .seconds(5))
        try bring(Array(owners[10...]), on: link)
        for peer in owners { node.receive(try peer.announce(at: node.now, ttl: 5), on: link) }
        XCTAssertEqual(node.node.gossip.store.prekeys.count, owners.count)
    }

    func testBundleWaitsTenMinutes() throws {
        for (minutes, count) in [(9, 1), (11, 0)] {
            let node = NodeHarness()
            let link = try node.meet(neighbour)
            node.receive(try owner.frame(.prekeyBundle, bundle(owner), at: node.now, ttl: 5), on: link)
            node.advance(by: .minutes(minutes))
            node.receive(try owner.announce(at: node.now, ttl: 5), on: link)
            XCTAssertEqual(node.node.gossip.store.prekeys.count, count)
        }
    }

    func testBundleThatProvesNothingIsNeitherKeptNorRelayed() throws {
        let node = NodeHarness()
        let link = try node.meet(owner)
        _ = try node.meet(neighbour)
        let stranger = ScriptedPeer(seed: 9)
        let bad = [
            try owner.frame(.prekeyBundle, bundle(owner, isSigned: false), at: node.now),
            try owner.frame(.prekeyBundle, bundle(owner), at: node.now, isSigned: false),
            try owner.frame(.prekeyBundle, bundle(stranger), at: node.now),
            try owner.frame(
                .prekeyBundle, bundle(owner, noiseKey: stranger.identity.noise.publicKey.bytes), at: node.now),
            try owner.frame(.prekeyBundle, [1, 2, 3], at: node.now),
        ]
        for frame in bad { node.receive(frame, on: link) }
        XCTAssertEqual(node.node.gossip.store.prekeys.count, 0)
        XCTAssertEqual(relayed(node, .prekeyBundle), 0)
    }

    func testWaitingBundleIsCheckedWhenItsOwnerAppears() throws {
        let node = NodeHarness()
        let link = try node.meet(neighbour)
        node.receive(try owner.frame(.prekeyBundle, bundle(owner, isSigned: false), at: node.now, ttl: 5), on: link)
        node.receive(try owner.announce(at: node.now, ttl: 5), on: link)
        XCTAssertEqual(node.node.gossip.store.prekeys.count, 0)
    }

    func testBundleStaysWhenItsOwnerLeaves() throws {
        let node = NodeHarness()
        let link = try node.meet(owner)
        node.receive(try owner.frame(.prekeyBundle, bundle(owner), at: node.now), on: link)
        node.receive(try owner.frame(.leave, [], at: node.now), on: link)
        XCTAssertNil(node.node.peer(owner.id, at: node.now))
        XCTAssertEqual(node.node.gossip.store.prekeys.count, 1)
    }

    // MARK: Groups

    private func envelope() throws -> [UInt8] {
        try XCTUnwrap(
            GroupEnvelope(
                groupID: [UInt8](repeating: 1, count: 16), epoch: 1, nonce: [UInt8](repeating: 2, count: 12),
                ciphertext: [UInt8](repeating: 3, count: 40)
            ).encoded())
    }

    func testGroupMessageIsKeptUnopenedAndOneWithoutFormOnlyRelayed() throws {
        let node = NodeHarness()
        let link = try node.meet(owner)
        _ = try node.meet(neighbour)
        node.receive(try owner.frame(.groupMessage, envelope(), at: node.now, isSigned: false), on: link)
        node.receive(try owner.frame(.groupMessage, [1, 2, 3], at: node.now, isSigned: false), on: link)
        node.receive(
            try owner.frame(
                .groupMessage, envelope(), at: node.now, age: 5, recipient: PeerID(value: 5), isSigned: false),
            on: link)
        XCTAssertEqual(node.node.gossip.store.groupMessages.count, 1)
        XCTAssertEqual(relayed(node, .groupMessage), 3)
    }

    /// A link that is bound to nobody may claim any name, and all of them count as one.
    func testGroupMessagesInInventedNamesPushOutNoneOfANeighbours() throws {
        for isReassembled in [false, true] {
            let node = NodeHarness()
            let link = try node.meet(neighbour)
            let hostile = node.addLink()
            func bring(_ number: Int, _ sender: ScriptedPeer, on link: LinkID) throws {
                let payload = try XCTUnwrap(
                    GroupEnvelope(
                        groupID: [UInt8](repeating: 1, count: 16), epoch: UInt32(number),
                        nonce: [UInt8](repeating: 2, count: 12), ciphertext: [UInt8](repeating: 3, count: 40)
                    ).encoded())
                let frame = try sender.frame(.groupMessage, payload, at: node.now, ttl: 5, isSigned: false)
                guard isReassembled, link == hostile else { return node.receive(frame, on: link) }
                var fragment: [UInt8] = []
                fragment.append(bigEndian: UInt64(number))
                fragment.append(bigEndian: UInt16(0))
                fragment.append(bigEndian: UInt16(1))
                fragment += [MessageType.groupMessage.rawValue] + frame.bytes
                node.receive(
                    try sender.frame(.fragment, fragment, at: node.now, ttl: 5, isSigned: false), on: link)
            }
            for number in 0..<100 { try bring(number, neighbour, on: link) }
            let kept = node.node.gossip.store.groupMessages.count
            for number in 0..<400 {
                try bring(1_000 + number, ScriptedPeer(seed: 2_000 + UInt64(number)), on: hostile)
                node.advance(by: .milliseconds(50))
            }
            let held = node.node.gossip.store.groupMessages.inOrder
            XCTAssertEqual(held.filter { $0.sender == neighbour.id }.count, kept)
            XCTAssertGreaterThan(held.filter { $0.sender != neighbour.id }.count, 50)
        }
    }

    func testGroupMessageIsServedAsItWas() throws {
        let node = NodeHarness()
        let link = try node.meet(owner)
        let frame = try owner.frame(.groupMessage, envelope(), at: node.now, isSigned: false)
        node.receive(frame, on: link)
        let asking = try node.meet(neighbour)
        node.advance(by: .seconds(4))
        node.receive(try neighbour.request(.groupMessage, to: node.me, at: node.now), on: asking)
        node.advance(by: .seconds(1))
        XCTAssertEqual(node.answers.map(\.frame.id), [frame.id])
    }

    // MARK: Presence (§9.4)

    func testMessagesOutliveTheirAuthorsPresenceForSixHours() throws {
        let node = NodeHarness()
        let link = try node.meet(owner)
        node.receive(try owner.message("I was here", at: node.now), on: link)
        node.receive(try owner.frame(.leave, [], at: node.now), on: link)
        XCTAssertNil(node.node.gossip.store.announces[owner.id])
        node.call { $0.linkDown(link, at: $1) }
        node.advance(by: .hours(5))
        let asking = try node.meet(neighbour)
        node.advance(by: .seconds(2))
        node.receive(try neighbour.request(to: node.me, at: node.now), on: asking)
        node.advance(by: .seconds(1))
        XCTAssertEqual(node.answers.filter { $0.frame.type == .message }.count, 1)
        XCTAssertFalse(node.answers.contains { $0.frame.type == .announce && $0.frame.senderID == owner.id })
        node.advance(by: .hours(1))
        XCTAssertEqual(node.node.historyCount, 0)
    }
}
