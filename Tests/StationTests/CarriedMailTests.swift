import Basics
import Crypto
import EventLoop
import Foundation
import Gateway
import Mesh
import Nostr
import Radio
import TestSupport
import Vault
import Wire
import XCTest

@testable import Station

/// Boxes that carry mail, with real vaults on a real disk, and a relay in virtual time.
final class CarriedMailTests: XCTestCase {
    private let loop = EmbeddedLoop(
        start: Now(monotonic: .zero, wall: WallTime(milliseconds: 1_800_000_000_000)))
    private var folders: [String] = []
    private var random = SeededRandom(seed: 31)
    private let key = SecretBytes(copying: [UInt8](repeating: 3, count: 32))

    override func tearDown() {
        for folder in folders { try? FileManager.default.removeItem(atPath: folder) }
    }

    // MARK: Stage

    private struct Place {
        let folder: String
        let identity: StationIdentity
        let island: Island
    }

    private final class Box {
        let vault: Vault
        let switchboard: Switchboard
        let courier: Courier

        init(_ vault: Vault, _ switchboard: Switchboard, _ courier: Courier) {
            (self.vault, self.switchboard, self.courier) = (vault, switchboard, courier)
        }

        func kill() {
            switchboard.sever()
            switchboard.radio.stop()
            vault.abandon()
        }

        func count(_ outcome: CourierOutcome) -> UInt64 { courier.outcomes[outcome] }
        func carried(at now: Now) -> Int {
            let status = courier.status(at: now)
            return status.verified.carried + status.favorite.carried
        }
    }

    /// A phone, as far as letters go.
    private final class Phone: SwitchboardObserver {
        let identity: NodeIdentity
        let switchboard: Switchboard
        private(set) var letters: [CourierEnvelope] = []

        init(_ identity: NodeIdentity, _ switchboard: Switchboard) {
            (self.identity, self.switchboard) = (identity, switchboard)
            switchboard.observer = self
        }

        var key: NoisePublicKey { identity.noise.publicKey }

        func happened(_ event: MeshEvent) {
            if case .mail(let envelope, _, _) = event { letters.append(envelope) }
        }

        func leave(_ envelope: CourierEnvelope, with box: Box) -> Bool {
            switchboard.perform {
                switchboard.mesh.sendMail(envelope, to: box.switchboard.mesh.me, over: .flood, at: $0)
            }
        }
    }

    private func place(_ seed: UInt64) throws -> Place {
        let folder = try makeFolder()
        folders.append(folder)
        return Place(
            folder: folder, identity: .generate(using: &random), island: Island(loop: loop, seed: seed))
    }

    private func box(at place: Place, relay: RelayInMemory? = nil, trusted: [Fingerprint] = []) throws -> Box {
        let vault = Vault(
            in: place.folder, masterKey: key, stores: BoxStores.all, loop: loop,
            random: SeededRandom(seed: random.next()))
        let courier = Courier(
            configuration: CourierConfiguration(
                own: place.identity.node.noise.publicKey, trusted: Set(trusted)),
            random: SeededRandom(seed: random.next()))
        var node = MeshConfiguration(nickname: "box")
        node.takesMail = true
        let port = relay?.makePort()
        let archive = MailArchive(vault)
        let switchboard = Switchboard(
            loop: loop, radio: place.island.makePort("box-\(random.next() % 100_000)"),
            mesh: MeshNode(
                configuration: node, identity: place.identity.node, random: SeededRandom(seed: random.next())),
            gateway: Gateway(
                configuration: GatewayConfiguration(), seed: place.identity.deviceSeed,
                random: SeededRandom(seed: random.next())), relays: port, courier: courier, mailArchive: archive)
        try switchboard.radio.start()
        switchboard.perform { now in
            archive.restore(into: courier, at: now)
            switchboard.mesh.start(at: now)
            courier.start(at: now)
            courier.setClock(isUsable: true, isTrusted: true, at: now)
        }
        port?.connect()
        return Box(vault, switchboard, courier)
    }

    private func phone(_ name: String, _ identity: NodeIdentity, on island: Island) throws -> Phone {
        var node = MeshConfiguration(nickname: name, capabilities: [.prekeys])
        node.takesMail = true
        let switchboard = Switchboard(
            loop: loop, radio: island.makePort(name),
            mesh: MeshNode(configuration: node, identity: identity, random: SeededRandom(seed: random.next())),
            gateway: Gateway(configuration: GatewayConfiguration(), seed: nil, random: SeededRandom(seed: 1)))
        try switchboard.radio.start()
        switchboard.perform { switchboard.mesh.start(at: $0) }
        return Phone(identity, switchboard)
    }

    private func leave(_ phone: Phone) {
        phone.switchboard.perform { phone.switchboard.mesh.stop(at: $0) }
        phone.switchboard.radio.stop()
    }

    private func letter(_ text: String, to bob: NodeIdentity, from alice: NodeIdentity) throws -> CourierEnvelope {
        try XCTUnwrap(
            SealedMail.seal(
                Array(text.utf8), to: bob.noise.publicKey, from: alice.noise, at: loop.now.wall, using: &random))
    }

    private func texts(_ phone: Phone) -> [String] {
        phone.letters.compactMap { SealedMail.open($0, with: phone.identity.noise) }.map {
            String(decoding: $0.1, as: UTF8.self)
        }
    }

    // MARK: The journey

    func testALetterGoesFromRoomToRoomOverKilledBoxesAndArrivesOnce() throws {
        let (a, b) = (try place(1), try place(2))
        let relay = RelayInMemory(loop: loop)
        let (aliceKeys, bobKeys) = (
            NodeIdentity.generate(using: &random), NodeIdentity.generate(using: &random)
        )
        let alice = try phone("alice", aliceKeys, on: a.island)
        let first = try box(at: a)
        loop.advance(by: .seconds(5))
        XCTAssertTrue(alice.leave(try letter("come home", to: bobKeys, from: aliceKeys), with: first))
        loop.advance(by: .milliseconds(100))
        XCTAssertEqual(first.count(.deposited), 1)
        // The power fails before the vault had its two seconds.
        first.kill()

        let second = try box(at: a, relay: relay)
        loop.advance(by: .seconds(1))
        XCTAssertEqual(relay.published.map(\.event.kind), [EventKind.courierDrop])
        XCTAssertEqual(second.count(.dropConfirmed), 1)
        second.kill()

        let bob = try phone("bob", bobKeys, on: b.island)
        var box = try box(at: b, relay: relay)
        loop.advance(by: .minutes(3))
        // Once on the chance that it arrives, once for good: phones know a letter by what is in it.
        XCTAssertEqual(Set(texts(bob)), ["come home"])
        XCTAssertEqual(box.count(.dropDelivered), 1)
        let letters = bob.letters.count
        // What a relay tells again after a restart is known, as soon as it is on the disk.
        box.kill()
        box = try self.box(at: b, relay: relay)
        loop.advance(by: .minutes(3))
        XCTAssertEqual(bob.letters.count, letters)
        XCTAssertEqual(box.count(.dropRepeated), 1)

        // A third process of room A does not publish again what a relay has confirmed.
        let third = try self.box(at: a, relay: relay)
        loop.advance(by: .minutes(5))
        XCTAssertEqual(relay.published.count, 1)
        XCTAssertEqual(third.carried(at: loop.now), 1)
    }

    func testWhoeverComesByGetsTheLetterByHandAndItIsGoneFromTheDisk() throws {
        let a = try place(1)
        let (aliceKeys, bobKeys) = (
            NodeIdentity.generate(using: &random), NodeIdentity.generate(using: &random)
        )
        let alice = try phone("alice", aliceKeys, on: a.island)
        var box = try box(at: a)
        loop.advance(by: .seconds(5))
        XCTAssertTrue(alice.leave(try letter("by hand", to: bobKeys, from: aliceKeys), with: box))
        loop.advance(by: .seconds(5))
        leave(alice)
        box.kill()
        box = try self.box(at: a)
        XCTAssertEqual(box.carried(at: loop.now), 1)
        let bob = try phone("bob", bobKeys, on: a.island)
        loop.advance(by: .minutes(2))
        // First on the chance that it arrives, then for good.
        XCTAssertEqual(Set(texts(bob)), ["by hand"])
        XCTAssertEqual(box.count(.handedOver), 1)
        XCTAssertEqual(box.carried(at: loop.now), 0)
        box.kill()
        box = try self.box(at: a)
        XCTAssertEqual(box.carried(at: loop.now), 0)
    }

    func testQuotasHoldOverRestartsAndTrustedPeopleMayLeaveMore() throws {
        let a = try place(1)
        let aliceKeys = NodeIdentity.generate(using: &random)
        let alice = try phone("alice", aliceKeys, on: a.island)
        var box = try box(at: a)
        loop.advance(by: .seconds(5))
        func leave(_ count: Int) throws {
            for _ in 0..<count {
                let bob = NodeIdentity.generate(using: &random)
                XCTAssertTrue(alice.leave(try letter("x", to: bob, from: aliceKeys), with: box))
                loop.advance(by: .seconds(1))
            }
        }
        try leave(9)
        XCTAssertEqual(box.carried(at: loop.now), 8)
        XCTAssertEqual(box.count(.depositorQuota), 1)
        box.kill()
        box = try self.box(at: a)
        loop.advance(by: .seconds(5))
        try leave(1)
        XCTAssertEqual(box.carried(at: loop.now), 8)
        box.switchboard.perform { now in
            box.courier.configure(trusted: [alice.key.fingerprint], usesRelays: true, at: now)
        }
        try leave(13)
        XCTAssertEqual(box.carried(at: loop.now), 20)
        XCTAssertEqual(box.courier.status(at: loop.now).favorite.carried, 12)
    }

    func testAFullStoreFitsTheVault() throws {
        let a = try place(1)
        let box = try box(at: a)
        let depositors = (0..<20).map { _ in NodeIdentity.generate(using: &random) }
        box.switchboard.perform { now in
            for depositor in depositors {
                for number in 0..<8 {
                    let envelope = CourierEnvelope(
                        recipientTag: [UInt8](repeating: UInt8(number), count: 16),
                        expiry: WallTime(milliseconds: now.wall.milliseconds + 86_400_000),
                        ciphertext: random.bytes(CourierEnvelope.ciphertextSizes.upperBound), copies: 8)
                    box.courier.arrived(envelope, depositor: depositor.noise.publicKey, at: now)
                }
            }
        }
        XCTAssertEqual(box.carried(at: loop.now), 160)
        loop.advance(by: .seconds(5))
        XCTAssertEqual(box.vault.counts[.evicted], 0)
        XCTAssertEqual(box.vault.count(in: BoxStores.mail), 160)
        box.kill()
        XCTAssertEqual(try self.box(at: a).carried(at: loop.now), 160)
    }

    func testNothingIsLetGoOfByAClockThatMayBeWrong() throws {
        let a = try place(1)
        let box = try box(at: a)
        let (aliceKeys, bobKeys) = (
            NodeIdentity.generate(using: &random), NodeIdentity.generate(using: &random)
        )
        let envelope = try letter("patience", to: bobKeys, from: aliceKeys)
        box.switchboard.perform { box.courier.arrived(envelope, depositor: aliceKeys.noise.publicKey, at: $0) }
        box.kill()

        let vault = Vault(
            in: a.folder, masterKey: key, stores: BoxStores.all, loop: loop, random: SeededRandom(seed: 9))
        let courier = Courier(
            configuration: CourierConfiguration(own: a.identity.node.noise.publicKey), random: SeededRandom(seed: 2))
        let wrong = Now(
            monotonic: loop.now.monotonic,
            wall: WallTime(milliseconds: loop.now.wall.milliseconds + 400 * 86_400_000))
        MailArchive(vault).restore(into: courier, at: wrong)
        courier.start(at: wrong)
        XCTAssertEqual(vault.count(in: BoxStores.mail), 1)
        while courier.nextEffect() != nil {}
        courier.setClock(isUsable: true, isTrusted: true, at: loop.now)
        XCTAssertEqual(courier.status(at: loop.now).verified.carried, 1)
    }

    func testMailUnderTheNamesOfAnEarlierVersionIsCarriedOnAndGoesWhenItIsDelivered() throws {
        let a = try place(1)
        let vault = Vault(
            in: a.folder, masterKey: key, stores: BoxStores.all, loop: loop, random: SeededRandom(seed: 9))
        let bob = NodeIdentity.generate(using: &random).noise.publicKey
        let envelope = CourierEnvelope(
            recipientTag: CourierTag.candidates(for: bob, at: loop.now.wall)[0],
            expiry: WallTime(milliseconds: loop.now.wall.milliseconds + 3_600_000), ciphertext: [1, 2, 3])
        let mail = CarriedEnvelope(
            envelope, depositor: NodeIdentity.generate(using: &random).noise.publicKey, storedAt: loop.now.wall,
            tier: .verified)
        vault.put(mail.vaultValue, for: MailID.byCiphertext(envelope), in: BoxStores.mail)
        let courier = Courier(
            configuration: CourierConfiguration(own: a.identity.node.noise.publicKey), random: SeededRandom(seed: 2))
        let archive = MailArchive(vault)
        archive.restore(into: courier, at: loop.now)
        courier.setClock(isUsable: true, isTrusted: true, at: loop.now)
        courier.start(at: loop.now)
        XCTAssertEqual(courier.status(at: loop.now).verified.carried, 1)
        XCTAssertEqual(vault.count(in: BoxStores.mail), 1)
        XCTAssertNotNil(vault.value(for: mail.id.bytes, in: BoxStores.mail))
        archive.forget(mail.id, at: loop.now.monotonic)
        XCTAssertEqual(vault.count(in: BoxStores.mail), 0)
    }

    func testWhoeverMakesNamesDoesNotMakeTheBoxWriteForEachLetter() throws {
        let a = try place(1)
        let box = try box(at: a)
        for _ in 0..<600 {
            let depositor = NodeIdentity.generate(using: &random)
            let now = loop.now
            let envelope = CourierEnvelope(
                recipientTag: random.bytes(16), expiry: WallTime(milliseconds: now.wall.milliseconds + 500),
                ciphertext: random.bytes(100), copies: 1)
            box.switchboard.perform { box.courier.arrived(envelope, depositor: depositor.noise.publicKey, at: $0) }
            loop.advance(by: .seconds(1))
        }
        // Ten minutes: a burst of 32, one in 30 s after it, for what comes and for what goes, and what has gathered.
        XCTAssertLessThanOrEqual(box.vault.counts[.written], 2 * (32 + 20) + 11)
    }
}

final class MailRecordTests: XCTestCase {
    private var random = SeededRandom(seed: 4)

    private func carried(couriers: Int = 0, handover: UInt64? = nil, published: UInt64? = nil) -> CarriedEnvelope {
        CarriedEnvelope(
            CourierEnvelope(
                recipientTag: random.bytes(16), expiry: WallTime(milliseconds: 77), ciphertext: random.bytes(40),
                copies: 3, prekeyID: 9),
            depositor: NodeIdentity.generate(using: &random).noise.publicKey, storedAt: WallTime(milliseconds: 5),
            tier: couriers == 0 ? .favorite : .verified,
            couriers: Set((0..<couriers).map { _ in NodeIdentity.generate(using: &random).noise.publicKey }),
            lastRemoteHandover: handover.map { WallTime(milliseconds: $0) },
            lastPublished: published.map { WallTime(milliseconds: $0) }, publications: published == nil ? 0 : 3)
    }

    func testMailComesBackAsItWas() throws {
        for mail in [carried(), carried(couriers: 3), carried(handover: 8), carried(couriers: 8, published: 9)] {
            XCTAssertEqual(CarriedEnvelope(key: mail.id.bytes, value: mail.vaultValue), mail)
        }
    }

    func testWhatIsNoMailIsRefused() {
        let mail = carried(couriers: 2)
        let value = mail.vaultValue
        // What follows are fields that may be absent.
        for length in 0..<value.count - 11 {
            XCTAssertNil(CarriedEnvelope(key: mail.id.bytes, value: Array(value.prefix(length))), "\(length)")
        }
        XCTAssertNil(CarriedEnvelope(key: random.bytes(16), value: value), "another's key")
        XCTAssertNil(CarriedEnvelope(key: mail.id.bytes, value: [7] + value.dropFirst()), "no such tier")
    }

    func testDealtDropsComeBackAsTheyWere() {
        var value: [UInt8] = []
        value.append(bigEndian: UInt64(99))
        for size in [16, 32] {
            let name = random.bytes(size)
            XCTAssertEqual(
                DealtDrop(key: name, value: value), DealtDrop(name: name, at: WallTime(milliseconds: 99)))
        }
        XCTAssertNil(DealtDrop(key: random.bytes(20), value: value))
        XCTAssertNil(DealtDrop(key: random.bytes(16), value: Array(value.dropLast())))
        XCTAssertNil(DealtDrop(key: random.bytes(16), value: value + [0]))
    }
}
