import Basics
import Crypto
import EventLoop
import Foundation
import Nostr
import TestSupport
import Vault
import Wire
import XCTest

@testable import Station

/// The mailbox at relays, against whoever writes to it (chapter 05 §12.4, §13).
final class RelayMailTests: XCTestCase {
    private let loop = EmbeddedLoop(
        start: Now(monotonic: .zero, wall: WallTime(milliseconds: 1_780_272_000_000)))
    private var random = SeededRandom(seed: 9)
    private var folder = ""
    private lazy var me = NostrSecretKey.generate(using: &random)
    private lazy var friend = NostrSecretKey.generate(using: &random)
    private lazy var masterKey = MasterKey.generate(using: &random)
    private var payloads: [(NoisePayload, NostrPublicKey)] = []
    private var isActedUpon = true

    override func setUpWithError() throws { folder = try makeFolder() }
    override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

    private func vault() -> Vault {
        Vault(
            in: folder, masterKey: masterKey, stores: [BoxStores.trust, BoxStores.processed], loop: loop,
            random: SeededRandom(seed: 2))
    }

    private func mailbox(_ archive: NostrArchive? = nil) -> RelayMail {
        let mail = RelayMail(
            account: me,
            client: NostrClient(
                defaultRelays: [], configuration: NostrClient.Configuration(), random: SeededRandom(seed: 3)),
            archive: archive, me: PeerID(value: 7), random: SeededRandom(seed: 4))
        mail.onPayload = { [unowned self] in
            payloads.append(($0, $1))
            return isActedUpon
        }
        return mail
    }

    private func content(_ text: String = "hi") throws -> String {
        try XCTUnwrap(
            EmbeddedPacket(
                senderID: PeerID(value: 1), recipientID: nil, timestamp: loop.now.wall,
                payload: NoisePayload(
                    type: .privateMessage,
                    body: XCTUnwrap(PrivateMessage(messageID: text, content: text).encoded()))
            ).text)
    }

    private func envelope(
        _ content: String? = nil, from sender: NostrSecretKey? = nil, at wall: WallTime? = nil
    ) throws -> VerifiedEvent {
        try XCTUnwrap(
            PrivateEnvelope.wrap(
                content ?? self.content(), from: sender ?? friend, to: me.publicKey, at: wall ?? loop.now.wall,
                using: &random))
    }

    /// An envelope whose layers the test makes up.
    private func wrap(
        seal: String, of kind: Int = EventKind.privateEnvelope, tags: [[String]]? = nil
    ) throws -> VerifiedEvent {
        let once = NostrSecretKey.generate(using: &random)
        let content = try XCTUnwrap(
            EnvelopeLayer.seal(Array(seal.utf8), from: once, to: me.publicKey, nonce: random.bytes(24)))
        return try XCTUnwrap(
            VerifiedEvent.signed(
                kind: kind, tags: tags ?? [["p", me.publicKey.hex]], content: content,
                createdAt: loop.now.wall.unixSeconds, key: once, using: &random))
    }

    func testALetterIsTakenOnceHoweverOftenItComes() throws {
        let mail = mailbox()
        let event = try envelope()
        for _ in 0..<5 { mail.take(event, at: loop.now) }
        XCTAssertEqual(payloads.count, 1)
        XCTAssertEqual(payloads.first?.1, friend.publicKey)
        XCTAssertEqual(mail.drops[.repeated], 4)
    }

    func testALetterIsNotTakenAgainAfterARestart() throws {
        let event = try envelope()
        let first = vault()
        mailbox(NostrArchive(first)).take(event, at: loop.now)
        first.close()
        let second = vault()
        let mail = mailbox(NostrArchive(second))
        mail.take(event, at: loop.now)
        XCTAssertEqual(payloads.count, 1)
        XCTAssertEqual(mail.drops[.repeated], 1)
        second.close()
    }

    func testWhatStrangersSendDoesNotPushOutWhatFavouritesSent() throws {
        let store = vault()
        let mail = mailbox(NostrArchive(store))
        mail.take(try envelope(), at: loop.now)
        isActedUpon = false
        for number in 0..<50 {
            mail.take(try envelope(content("\(number)"), from: .generate(using: &random)), at: loop.now)
        }
        XCTAssertEqual(store.records(in: BoxStores.processed).count, 1)
        store.close()
    }

    func testForgedAndMisshapenEnvelopesAreCountedByWhatIsWrong() throws {
        let mail = mailbox()
        let stranger = NostrSecretKey.generate(using: &random)
        func inner(pubkey: NostrPublicKey, kind: Int = EventKind.privateMessage, sig: String? = nil) throws -> [UInt8] {
            NostrEvent(
                id: "", pubkey: pubkey.hex, createdAt: loop.now.wall.unixSeconds, kind: kind, tags: [],
                content: try content(), sig: sig
            ).json()
        }
        func seal(_ inner: [UInt8], by key: NostrSecretKey, claiming author: NostrPublicKey? = nil) throws -> String {
            let content = try XCTUnwrap(
                EnvelopeLayer.seal(inner, from: key, to: me.publicKey, nonce: random.bytes(24)))
            let event = try XCTUnwrap(
                VerifiedEvent.signed(
                    kind: EventKind.seal, tags: [], content: content, createdAt: loop.now.wall.unixSeconds, key: key,
                    using: &random)
            ).event
            let json = String(decoding: event.json(), as: UTF8.self)
            return author.map { json.replacingOccurrences(of: key.publicKey.hex, with: $0.hex) } ?? json
        }
        // The friend's name on a stranger's seal, and inside it.
        mail.take(
            try wrap(seal: seal(inner(pubkey: friend.publicKey), by: stranger, claiming: friend.publicKey)),
            at: loop.now)
        XCTAssertEqual(mail.rejections[.badSealSignature], 1)
        mail.take(try wrap(seal: seal(inner(pubkey: friend.publicKey), by: stranger)), at: loop.now)
        XCTAssertEqual(mail.rejections[.otherAuthor], 1)
        mail.take(try wrap(seal: seal(inner(pubkey: friend.publicKey, kind: 1), by: friend)), at: loop.now)
        XCTAssertEqual(mail.rejections[.malformedMessage], 1)
        mail.take(try wrap(seal: "{}"), at: loop.now)
        XCTAssertEqual(mail.rejections[.malformedSeal], 1)
        mail.take(try wrap(seal: seal(inner(pubkey: friend.publicKey), by: friend), of: 1), at: loop.now)
        XCTAssertEqual(mail.rejections[.notAnEnvelope], 1)
        mail.take(
            try wrap(seal: seal(inner(pubkey: friend.publicKey), by: friend), tags: [["p", friend.publicKey.hex]]),
            at: loop.now)
        XCTAssertEqual(mail.rejections[.notForUs], 1)
        XCTAssertTrue(payloads.isEmpty)
    }

    func testTheTimeInsideCounts() throws {
        let mail = mailbox()
        for (seconds, isCurrent) in [(-900, true), (-960, false), (87_000, true), (87_400, false)] as [(Int64, Bool)] {
            let wall = WallTime(milliseconds: UInt64(Int64(loop.now.wall.milliseconds) - seconds * 1_000))
            let before = payloads.count
            mail.take(try envelope(content("\(seconds)"), at: wall), at: loop.now)
            XCTAssertEqual(payloads.count - before, isCurrent ? 1 : 0, "\(seconds)")
        }
        XCTAssertEqual(mail.drops[.outdated], 2)
    }

    func testOtherContentIsIgnored() throws {
        let mail = mailbox()
        for content in ["hello", "verify:x", "bitchat1:", "bitchat1:!!", ""] {
            mail.take(try envelope(content), at: loop.now)
        }
        XCTAssertEqual(mail.drops[.otherContent], 5)
        XCTAssertTrue(payloads.isEmpty)
    }

    func testAFloodOfWhatDoesNotOpenLosesNoLetter() throws {
        let mail = mailbox()
        let junk = try wrap(seal: String(repeating: "x", count: 20_000))
        for _ in 0..<500 { mail.take(junk, at: loop.now) }
        mail.take(try envelope(), at: loop.now)
        XCTAssertEqual(mail.rejections[.malformedSeal], 500)
        XCTAssertEqual(payloads.count, 1)
    }

    func testTheMailboxIsAskedForApartAndThreeDaysBack() throws {
        let mail = mailbox()
        mail.open(at: loop.now)
        XCTAssertEqual(MailLimits.lookBack, 72 * 3_600)
        XCTAssertEqual(RelayMail.subscription, "chat-messages")
    }
}
