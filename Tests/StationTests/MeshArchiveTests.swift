import Basics
import Crypto
import EventLoop
import Gateway
import Mesh
import Nostr
import Radio
import TestSupport
import Vault
import Wire
import XCTest

@testable import Station

final class RecordCodingTests: XCTestCase {
    private var random = SeededRandom(seed: 4)

    func testHistoryComesBackAsItWas() {
        for frame in [nil, [], [1, 2, 3]] as [[UInt8]?] {
            let record = HistoryRecord(
                id: PacketID(high: 1, low: .max), timestamp: WallTime(milliseconds: 5), arrival: frame == nil ? 0 : 9,
                frame: frame)
            XCTAssertEqual(HistoryRecord(key: record.id.vaultKey, value: record.vaultValue), record)
        }
        for bad in [[], [1, 2], [UInt8](repeating: 0, count: 12)] as [[UInt8]] {
            XCTAssertNil(HistoryRecord(key: PacketID(high: 1, low: 2).vaultKey, value: bad))
        }
        XCTAssertNil(HistoryRecord(key: [1], value: [UInt8](repeating: 0, count: 8)))
    }

    func testTheBoardComesBackAsItWas() {
        let until = WallTime(milliseconds: 77)
        for retention in [nil, .init(until: until, isOrphan: false), .init(until: until, isOrphan: true)]
            as [BoardRecord.Retention?]
        {
            let record = BoardRecord(
                id: PacketID(high: 3, low: 4), arrival: 12, frame: [9, 8], retention: retention)
            XCTAssertEqual(BoardRecord(key: record.id.vaultKey, value: record.vaultValue), record)
        }
        XCTAssertNil(BoardRecord(key: PacketID(high: 3, low: 4).vaultKey, value: [0, 1]))
        XCTAssertNil(
            BoardRecord(key: PacketID(high: 3, low: 4).vaultKey, value: [3] + [UInt8](repeating: 0, count: 16)))
    }

    func testACopyOfAnOwnPostComesBackAsItWas() throws {
        let copy = BoardCopy(
            boardPost: random.bytes(16), id: try XCTUnwrap(EventID(random.bytes(32))), geohash: "u4pruydq",
            text: "wätér", postedAt: WallTime(milliseconds: 5), expiresAt: WallTime(milliseconds: 77))
        XCTAssertEqual(BoardCopy(key: copy.id.bytes, value: copy.vaultValue), copy)
        XCTAssertNil(BoardCopy(key: [1], value: copy.vaultValue))
        XCTAssertNil(BoardCopy(key: copy.id.bytes, value: Array(copy.vaultValue.prefix(35))))
    }

    func testOfAnIdentityOnlyTheKeysAreWrittenAndWhatEarlierVersionsWroteIsRead() {
        let node = NodeIdentity.generate(using: &random)
        for proven in [nil, node.signing.publicKey] {
            let record = IdentityRecord(
                noiseKey: node.noise.publicKey, signingKey: node.signing.publicKey, authenticatedSigningKey: proven,
                nickname: "zoë")
            var bare = record
            bare.nickname = ""
            XCTAssertEqual(record.vaultValue, bare.vaultValue)
            XCTAssertEqual(record.vaultValue.count, proven == nil ? 33 : 65)
            XCTAssertEqual(IdentityRecord(key: record.vaultKey, value: record.vaultValue), bare)
            let earlier = record.vaultValue + [0, 0, 1, 2, 3, 4, 5, 6] + Array("zoë".utf8)
            XCTAssertEqual(IdentityRecord(key: record.vaultKey, value: earlier), bare)
            XCTAssertNil(IdentityRecord(key: record.vaultKey, value: Array(record.vaultValue.prefix(32))))
        }
    }
}

/// A box that keeps its archive in a real file, in virtual time.
final class MeshArchiveTests: XCTestCase {
    private let loop = EmbeddedLoop(
        start: Now(monotonic: .zero, wall: WallTime(milliseconds: 1_800_000_000_000)))
    private var folder = ""
    private var random = SeededRandom(seed: 8)
    private var key = SecretBytes(copying: [UInt8](repeating: 3, count: 32))

    override func setUpWithError() throws { folder = try makeFolder() }
    override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

    private final class Box {
        let vault: Vault
        let switchboard: Switchboard
        init(_ vault: Vault, _ switchboard: Switchboard) { (self.vault, self.switchboard) = (vault, switchboard) }
        var mesh: MeshNode { switchboard.mesh }
    }

    private func start(
        on island: Island, identity: StationIdentity, relay: RelayInMemory? = nil
    ) throws -> Box {
        let vault = Vault(
            in: folder, masterKey: key, stores: BoxStores.all, loop: loop, random: SeededRandom(seed: random.next()))
        let archive = MeshArchive(vault)
        let switchboard = Switchboard(
            loop: loop, radio: island.makePort("box"),
            mesh: MeshNode(
                configuration: MeshConfiguration(nickname: "box"), identity: identity.node,
                random: SeededRandom(seed: random.next())),
            gateway: Gateway(
                configuration: GatewayConfiguration(), seed: identity.deviceSeed,
                random: SeededRandom(seed: random.next())),
            relays: relay?.makePort(), archive: archive, carried: NostrArchive(vault),
            notes: NotesDesk(seed: identity.deviceSeed, random: SeededRandom(seed: random.next())))
        try switchboard.radio.start()
        switchboard.perform { now in
            switchboard.notes?.restore(NostrArchive(vault).boardCopies)
            archive.restore(into: switchboard.mesh, at: now)
            switchboard.mesh.start(at: now)
        }
        return Box(vault, switchboard)
    }

    private func kill(_ box: Box) {
        box.switchboard.sever()
        box.switchboard.radio.stop()
        box.vault.abandon()
    }

    private func person(_ name: String, _ port: InProcessPort) throws -> Person {
        let person = Person(
            ChatPeer(
                loop: loop, radio: port, identity: .generate(using: &random), nickname: name, bridgeIsOn: false,
                random: SeededRandom(seed: random.next())))
        try person.peer.start()
        return person
    }

    /// Bella has met Alice, and was away when Alice spoke.
    func testHistoryIsServedAfterAKillAndNothingIsToldTwice() throws {
        let identity = StationIdentity.generate(using: &random)
        let island = Island(loop: loop, seed: 1)
        let (alicePort, bellaPort) = (island.makePort("alice"), island.makePort("bella"))
        let (alice, bella) = (try person("alice", alicePort), try person("bella", bellaPort))
        loop.advance(by: .seconds(5))
        island.air.unlink(alicePort, bellaPort)
        let first = try start(on: island, identity: identity)
        guard let firstPort = first.switchboard.radio as? InProcessPort else { return XCTFail() }
        island.air.unlink(bellaPort, firstPort)
        loop.advance(by: .seconds(5))
        for number in 1...3 {
            alice.peer.enter("message \(number)")
            loop.advance(by: .seconds(2))
        }
        XCTAssertEqual(first.mesh.historyCount, 3)
        // The archive is handed over every 30 s, and gathered for 60 s.
        loop.advance(by: .seconds(31) + VaultLimits.gathered)
        kill(first)
        XCTAssertEqual(bella.heard("message 1"), [])

        let second = try start(on: island, identity: identity)
        guard let secondPort = second.switchboard.radio as? InProcessPort else { return XCTFail() }
        XCTAssertEqual(second.mesh.historyCount, 3)
        let teller = Teller()
        second.switchboard.observer = teller
        island.air.unlink(alicePort, secondPort)
        loop.advance(by: .minutes(2))
        for number in 1...3 { XCTAssertEqual(bella.heard("message \(number)").count, 1, "\(number)") }
        island.air.link(alicePort, to: secondPort)
        loop.advance(by: .minutes(2))
        XCTAssertEqual(teller.messages, 0, "the box tells nothing again that it told before it died")
        XCTAssertEqual(bella.heard("message 2").count, 1)
    }

    private final class Teller: SwitchboardObserver {
        var messages = 0
        func happened(_ event: MeshEvent) { if case .publicMessage = event { messages += 1 } }
    }

    func testAStopWritesWhatIsLeft() throws {
        let identity = StationIdentity.generate(using: &random)
        let island = Island(loop: loop, seed: 1)
        let box = try start(on: island, identity: identity)
        let alice = try island.person("alice", bridge: false)
        loop.advance(by: .seconds(5))
        alice.peer.enter("the last word")
        loop.advance(by: .seconds(1))
        box.switchboard.perform { box.mesh.stop(at: $0) }
        box.vault.close()
        box.switchboard.radio.stop()
        let again = try start(on: Island(loop: loop, seed: 2), identity: identity)
        XCTAssertEqual(again.mesh.historyCount, 1)
    }

    /// Nobody else has it, and the power goes two seconds later.
    func testAPostAndItsCopyAtRelaysAreTakenDownByALaterLifeForGood() throws {
        let identity = StationIdentity.generate(using: &random)
        let relay = RelayInMemory(loop: loop)
        func life() throws -> Box {
            try start(on: Island(loop: loop, seed: random.next()), identity: identity, relay: relay)
        }
        func end(_ box: Box) {
            loop.advance(by: VaultLimits.horizon + .milliseconds(10))
            kill(box)
        }
        var box = try life()
        let pinned = box.switchboard.perform { now -> BoardPost? in
            let post = try? box.mesh.post(onBoard: "water", geohash: "u4pruydq", days: 1, isUrgent: false, at: now)
            guard let post else { return nil }
            _ = box.switchboard.notes?.post(
                post.content, at: post.geohash, nickname: "box", expiresAt: post.expiresAt, isUrgent: false, work: 0,
                copyOf: post.postID, at: now)
            return post
        }
        let post = try XCTUnwrap(pinned)
        end(box)
        let copy = try XCTUnwrap(relay.published.first)

        box = try life()
        XCTAssertEqual(box.mesh.boardPosts(at: loop.now), [post])
        XCTAssertEqual(box.switchboard.notes?.boardCopies(at: loop.now).map(\.id), [copy.id])
        box.switchboard.perform { now in
            XCTAssertEqual(try? box.mesh.remove(fromBoard: post.postID, at: now), post)
            XCTAssertEqual(box.switchboard.notes?.delete(copyOf: post.postID, at: now), true)
        }
        end(box)
        XCTAssertEqual(relay.published.dropFirst().map(\.event.kind), [EventKind.deletion])
        XCTAssertEqual(relay.published.last?.event.tags, [["e", copy.id.hex]])
        XCTAssertEqual(relay.published.last?.author, copy.author)

        box = try life()
        XCTAssertEqual(box.mesh.boardPosts(at: loop.now), [])
        XCTAssertEqual(box.switchboard.notes?.boardCopies(at: loop.now), [])
        end(box)
    }

    func testPinnedIdentitiesSurviveAKill() throws {
        let identity = StationIdentity.generate(using: &random)
        let island = Island(loop: loop, seed: 1)
        let box = try start(on: island, identity: identity)
        let alice = try island.person("alice", bridge: false)
        loop.advance(by: .seconds(5) + VaultLimits.gathered)
        kill(box)
        let vault = Vault(
            in: folder, masterKey: key, stores: BoxStores.all, loop: loop, random: SeededRandom(seed: 1))
        let pins = vault.records(in: BoxStores.identities).compactMap { IdentityRecord(key: $0.key, value: $0.value) }
        XCTAssertEqual(pins.map(\.peerID), [alice.peer.switchboard.mesh.me])
        withExtendedLifetime(alice) {}
    }

    func testAProvenKeyIsWrittenAtOnceAndItsNameIsNot() throws {
        let vault = Vault(
            in: folder, masterKey: key, stores: BoxStores.all, loop: loop, random: SeededRandom(seed: 1))
        let archive = MeshArchive(vault)
        let node = NodeIdentity.generate(using: &random)
        func record(_ name: String, proven: Bool) -> IdentityRecord {
            IdentityRecord(
                noiseKey: node.noise.publicKey, signingKey: node.signing.publicKey,
                authenticatedSigningKey: proven ? node.signing.publicKey : nil, nickname: name)
        }
        archive.keep(record("alice", proven: false), at: loop.now.monotonic)
        XCTAssertEqual(vault.counts[.written], 0)
        archive.keep(record("alice", proven: true), at: loop.now.monotonic)
        XCTAssertEqual(vault.counts[.written], 1)
        for number in 0..<100 {
            archive.keep(record("alice \(number)", proven: true), at: loop.now.monotonic)
            loop.advance(by: .seconds(1))
        }
        XCTAssertEqual(vault.counts[.written], 1)
    }

    func testWhoeverProvesManyKeysDoesNotMakeTheBoxWriteForEach() throws {
        let vault = Vault(
            in: folder, masterKey: key, stores: BoxStores.all, loop: loop, random: SeededRandom(seed: 1))
        let archive = MeshArchive(vault)
        for number in 0..<600 {
            let node = NodeIdentity.generate(using: &random)
            archive.keep(
                IdentityRecord(
                    noiseKey: node.noise.publicKey, signingKey: node.signing.publicKey,
                    authenticatedSigningKey: node.signing.publicKey, nickname: "\(number)"),
                at: loop.now.monotonic)
            loop.advance(by: .seconds(1))
        }
        // Ten minutes: a burst of 8, one a minute after it, and what has gathered, each minute.
        XCTAssertLessThanOrEqual(vault.counts[.written], 8 + 10 + 11)
        XCTAssertEqual(vault.count(in: BoxStores.identities), 600)
    }

    func testRecordsThatCannotBeReadLeaveTheVault() throws {
        let vault = Vault(
            in: folder, masterKey: key, stores: BoxStores.all, loop: loop, random: SeededRandom(seed: 1))
        vault.put([1], for: [1, 2], in: BoxStores.history)
        let node = StationIdentity.generate(using: &random)
        let mesh = MeshNode(
            configuration: MeshConfiguration(nickname: "x"), identity: node.node, random: SeededRandom(seed: 1))
        MeshArchive(vault).restore(into: mesh, at: loop.now)
        XCTAssertEqual(vault.count(in: BoxStores.history), 0)
    }

    func testASeveredBoxIsDeafAndDumbWhateverIsOnItsWay() throws {
        let island = Island(loop: loop, seed: 1)
        let box = try start(on: island, identity: .generate(using: &random))
        let alice = try island.person("alice", bridge: false)
        loop.advance(by: .seconds(5))
        box.switchboard.perform { _ = box.mesh.say("on its way", at: $0) }
        box.switchboard.sever()
        let timers = loop.pendingTimers
        box.switchboard.perform { _ = box.mesh.say("too late", at: $0) }
        box.switchboard.linkDown(LinkID(value: 1))
        loop.advance(by: .minutes(3))
        XCTAssertEqual(alice.heard("too late"), [])
        XCTAssertFalse(alice.lines.contains { $0.hasSuffix("box left") }, "no goodbye")
        XCTAssertGreaterThan(timers, 0)
        box.vault.abandon()
    }
}
