import Basics
import Crypto
import EventLoop
import Foundation
import Nostr
import Vault
import XCTest

@testable import Station

/// Lessons 44 and 45 as one story, with a real vault on a real disk and a relay in virtual time.
final class TwentyRestartsTests: XCTestCase {
    private let loop = EmbeddedLoop(
        start: Now(monotonic: .zero, wall: WallTime(milliseconds: 1_800_000_000_000)))
    private var random = SeededRandom(seed: 21)
    private var folder = ""
    private lazy var masterKey = SecretBytes(copying: random.bytes(32))
    private let relayURL = RelaySet.builtIn[0]

    override func setUpWithError() throws {
        folder = NSTemporaryDirectory() + "restarts-\(getpid())-\(UInt32.random(in: 0...UInt32.max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

    /// A relay that keeps everything, says OK to it, and sends a mailbox's content to whoever asks.
    private final class Relay {
        var written: [(event: NostrEvent, at: Instant)] = []
        var mailbox: [VerifiedEvent] = []
        var answers = true
    }

    /// One life of the process, as far as it concerns the relay.
    private final class Life {
        let vault: Vault
        let client: NostrClient
        let durable: DurableUplink
        let archive: NostrArchive
        var processed: ProcessedEvents
        /// Mail that a person saw.
        var delivered: [EventID] = []
        private let loop: EmbeddedLoop
        private let relay: Relay

        init(_ loop: EmbeddedLoop, _ relay: Relay, _ url: NostrRelayURL, folder: String, key: SecretBytes) {
            self.loop = loop
            self.relay = relay
            let random = SeededRandom(seed: UInt64(loop.now.monotonic.nanoseconds))
            vault = Vault(
                in: folder, masterKey: key, stores: BoxStores.all + [BoxStores.processed], loop: loop, random: random)
            archive = NostrArchive(vault)
            client = NostrClient(defaultRelays: [url], random: random)
            client.followEarlierProcess(at: loop.now)
            durable = DurableUplink(client: client, archive: archive, random: random)
            processed = ProcessedEvents(archive.processed)
            durable.restore(at: loop.now)
            client.setGate(.open, at: loop.now)
            let mail = NostrFilter(kinds: [EventKind.privateEnvelope], limit: 500)
            client.subscribe("mail", mail, to: .defaultSet, movesSince: false, at: loop.now)
            settle()
        }

        func settle() {
            while true {
                if let effect = client.nextEffect() {
                    carry(effect)
                } else if durable.next(at: loop.now, relaysOf: { _ in [] }) == nil {
                    return
                }
            }
        }

        private func carry(_ effect: NostrEffect) {
            switch effect {
            case .dial(let socket): client.relayOpened(socket, at: loop.now)
            case .relayStateChanged(_, let isUp): durable.publications.setReady(isUp, at: loop.now)
            case .published(let id, let outcome): durable.publications.finished(id, outcome, at: loop.now)
            case .event(let event, _):
                guard processed.insert(event.id) else { return }
                archive.keep(processed: event.id)
                delivered.append(event.id)
            case .send(let bytes, let socket):
                let text = String(decoding: bytes, as: UTF8.self)
                if text.hasPrefix("[\"REQ\"") {
                    for mail in relay.mailbox {
                        let json = String(decoding: mail.json(), as: UTF8.self)
                        client.received(Array("[\"EVENT\",\"mail\",\(json)]".utf8), on: socket, at: loop.now)
                    }
                } else if let event = try? NostrEvent(json: Array(bytes.dropFirst(9).dropLast())) {
                    relay.written.append((event, loop.now.monotonic))
                    guard relay.answers else { return }
                    client.received(Array("[\"OK\",\"\(event.id)\",true,\"\"]".utf8), on: socket, at: loop.now)
                }
            default: break
            }
        }

        func run(_ span: Interval) {
            let end = loop.now.monotonic + span
            while true {
                let next = [client.nextDeadline, durable.publications.nextDeadline].compactMap { $0 }.min()
                guard let next, next <= end else { break }
                loop.advance(by: max(Interval(nanoseconds: 1), next - loop.now.monotonic))
                client.timeout(at: loop.now)
                durable.publications.timeout(at: loop.now)
                settle()
            }
            loop.advance(by: end - loop.now.monotonic)
        }

        func publish(_ text: String, _ template: EventTemplate) {
            let until = WallTime(milliseconds: loop.now.wall.milliseconds + 172_800_000)
            _ = durable.publications.publish(
                PublicationKey(hashing: Array(text.utf8)), .unlinkable(template), expiresAt: until, at: loop.now)
            settle()
        }
    }

    private func envelope(_ index: Int) -> EventTemplate {
        EventTemplate(kind: EventKind.courierDrop, tags: [["x", "\(index)"]], content: "\(index)")
    }

    private func mail(_ index: Int) throws -> VerifiedEvent {
        try XCTUnwrap(
            VerifiedEvent.signed(
                kind: EventKind.privateEnvelope, tags: [["p", "00"]], content: "\(index)", createdAt: 1_800_000_000,
                key: NostrSecretKey.generate(using: &random), using: &random))
    }

    func testTwentyRestartsWithOneUndeliveredMessageAndABacklogOfAHundred() throws {
        let relay = Relay()
        relay.mailbox = try (0..<100).map { try mail($0) }
        var deliveries: [EventID: Int] = [:]
        for round in 0..<20 {
            let life = Life(loop, relay, relayURL, folder: folder, key: masterKey)
            // The owner asks for all that it has no receipt for, whenever it starts.
            for index in 0...100 { life.publish("message \(index)", envelope(index)) }
            life.run(round.isMultiple(of: 3) ? .seconds(5) : .minutes(40))
            for id in life.delivered { deliveries[id, default: 0] += 1 }
            life.vault.close()
            loop.advance(by: .milliseconds(1))
        }
        XCTAssertEqual(deliveries.count, 100)
        XCTAssertEqual(Set(deliveries.values), [1], "each mail once over all restarts")
        var publications: [String: Int] = [:]
        for (event, _) in relay.written { publications[event.content, default: 0] += 1 }
        XCTAssertEqual(publications.count, 101)
        XCTAssertEqual(Set(publications.values), [1], "each message once in 24 hours")
        let times = relay.written.map(\.at)
        for start in times {
            XCTAssertLessThanOrEqual(times.count { $0 >= start && $0 <= start + .seconds(1) }, 3)
        }

        loop.advance(by: .hours(24))
        let next = Life(loop, relay, relayURL, folder: folder, key: masterKey)
        next.publish("message 0", envelope(0))
        next.run(.minutes(1))
        XCTAssertEqual(relay.written.count, 102, "a day later, once more")
        next.vault.close()
    }

    func testAPowerCutRightAfterTheOKDoesNotPublishAgain() {
        let relay = Relay()
        let life = Life(loop, relay, relayURL, folder: folder, key: masterKey)
        life.publish("message", envelope(0))
        life.run(.seconds(2))
        XCTAssertEqual(relay.written.count, 1)
        // Nothing of what waits in memory reaches the disk.
        life.vault.abandon()
        let next = Life(loop, relay, relayURL, folder: folder, key: masterKey)
        next.publish("message", envelope(0))
        next.run(.minutes(5))
        XCTAssertEqual(relay.written.count, 1)
    }

    func testAProcessThatEndsBeforeTheAnswerLeavesItToTheNextToWait() {
        let relay = Relay()
        relay.answers = false
        for _ in 0..<20 {
            let life = Life(loop, relay, relayURL, folder: folder, key: masterKey)
            life.publish("message", envelope(0))
            life.run(.milliseconds(1_100))
            life.vault.abandon()
        }
        XCTAssertEqual(relay.written.count, 1, "once within the first 30 s")
    }

    func testWhatNoRelayConfirmedIsTriedOnByTheNextProcess() {
        let relay = Relay()
        relay.answers = false
        let life = Life(loop, relay, relayURL, folder: folder, key: masterKey)
        life.publish("message", envelope(0))
        life.run(.seconds(12))
        life.vault.close()
        relay.answers = true
        let next = Life(loop, relay, relayURL, folder: folder, key: masterKey)
        XCTAssertTrue(next.durable.publications.isWaiting(PublicationKey(hashing: Array("message".utf8))))
        next.run(.minutes(1))
        XCTAssertEqual(relay.written.count, 2)
        XCTAssertEqual(next.durable.publications.waiting, 0)
    }

    func testRecordsComeBackAsTheyWereAndForgedOnesDoNot() throws {
        let key = PublicationKey(hashing: [1])
        let event = try mail(1)
        let states: [PublicationRecord.State] = [
            .published(at: WallTime(milliseconds: 7)),
            .waiting(
                .event(event, place: "u4pruy"), expiresAt: WallTime(milliseconds: 9), attempts: 3,
                lastAttempt: WallTime(milliseconds: 8)),
            .waiting(
                .event(event, place: nil), expiresAt: WallTime(milliseconds: 9), attempts: 0,
                lastAttempt: WallTime(milliseconds: 8)),
            .waiting(
                .unlinkable(envelope(1)), expiresAt: WallTime(milliseconds: 9), attempts: 255,
                lastAttempt: WallTime(milliseconds: 8)),
        ]
        for state in states {
            let record = PublicationRecord(key: key, state: state)
            let value = record.vaultValue
            XCTAssertEqual(PublicationRecord(key: key.bytes, value: value), record)
            for length in 0..<min(value.count, 40) {
                XCTAssertNil(PublicationRecord(key: key.bytes, value: Array(value.prefix(length))))
            }
        }
        var forged = PublicationRecord(key: key, state: states[1]).vaultValue
        forged[forged.count - 10] ^= 1
        XCTAssertNil(PublicationRecord(key: key.bytes, value: forged))
        XCTAssertNil(PublicationRecord(key: [1], value: PublicationRecord(key: key, state: states[0]).vaultValue))
    }

    func testTheDirectoryAndCarriedEventsComeBack() {
        var vault = Vault(in: folder, masterKey: masterKey, stores: BoxStores.all, loop: loop, random: random)
        XCTAssertNil(NostrArchive(vault).directory)
        NostrArchive(vault).keep(directory: [1, 2, 3], fetchedAt: WallTime(milliseconds: 5))
        let ids = (0..<600).map { EventID(hashing: Array("\($0)".utf8)) }
        for id in ids { NostrArchive(vault).keep(carried: id) }
        vault.close()
        vault = Vault(in: folder, masterKey: masterKey, stores: BoxStores.all, loop: loop, random: random)
        XCTAssertEqual(NostrArchive(vault).directory?.csv, [1, 2, 3])
        XCTAssertEqual(NostrArchive(vault).directory?.fetchedAt, WallTime(milliseconds: 5))
        let carried = NostrArchive(vault).carried
        XCTAssertLessThanOrEqual(carried.count, 512)
        XCTAssertTrue(carried.suffix(300) == ids.suffix(300), "the newest stay, in their order")
        vault.close()
    }
}
