import Basics
import Crypto
import Wire
import XCTest

@testable import Messenger

final class MailboxTests: XCTestCase {
    private var random = SeededRandom(seed: 1)
    private var prekeys = OwnPrekeys()
    private var box: Mailbox!
    private var blocked: Set<NoisePublicKey> = []

    override func setUpWithError() throws {
        box = Mailbox(identity: try Samples.b().noise)
        prekeys = OwnPrekeys()
        _ = prekeys.maintain(at: Samples.time, using: &random)
        blocked = []
    }

    private func mail(
        _ payload: [UInt8], prekey: PrekeyBundle.Prekey? = nil, from byte: UInt8 = 0x11, to: UInt8 = 0x22
    ) throws -> CourierEnvelope {
        try XCTUnwrap(
            SealedMail.seal(
                payload, to: Samples.key(to).publicKey, prekey: prekey, from: Samples.key(byte), at: Samples.time,
                using: &random))
    }

    private func open(_ envelope: CourierEnvelope, at now: WallTime = Samples.time) -> Mailbox.Opening {
        box.open(envelope, prekeys: &prekeys, at: now, isBlocked: { blocked.contains($0) }, using: &random)
    }

    private func drop(_ opening: Mailbox.Opening) -> EnvelopeRefusal? {
        if case .dropped(let why) = opening.result { why } else { nil }
    }

    private func offered(_ id: UInt32) throws -> PrekeyBundle.Prekey {
        try XCTUnwrap(prekeys.bundle(of: Samples.b())?.prekeys.first { $0.id == id })
    }

    func testMailToTheStaticKeyIsOpenedOnce() throws {
        let envelope = try mail(Samples.payload("hello"))
        let opening = open(envelope)
        guard case .letter(let letter) = opening.result else { return XCTFail("not opened") }
        XCTAssertEqual(letter.sender, try Samples.a().noise.publicKey)
        XCTAssertEqual(letter.message, PrivateMessage(messageID: Samples.messageID, content: "hello"))
        XCTAssertNil(opening.consumption)
        XCTAssertTrue(opening.isHandled)
        // Another seal of the same message, as a second courier brings it.
        let again = open(try mail(Samples.payload("hello")))
        XCTAssertEqual(drop(again), .repeated)
        XCTAssertTrue(again.isHandled)
    }

    func testMailToAPrekeyConsumesItAndRedeliveriesOpenForTwoDays() throws {
        let envelope = try mail(Samples.payload("hello"), prekey: offered(3))
        let opening = open(envelope, at: Samples.time.later(hours: 1))
        guard case .letter = opening.result, case .first = opening.consumption else { return XCTFail("not opened") }
        XCTAssertEqual(try prekeys.bundle(of: Samples.b())?.prekeys.map(\.id), [0, 1, 2, 4, 5, 6, 7])
        let again = open(envelope, at: Samples.time.later(hours: 2))
        XCTAssertEqual(drop(again), .repeated)
        guard case .repeated = again.consumption else { return XCTFail("consumed twice") }
        XCTAssertEqual(drop(open(envelope, at: Samples.time.later(hours: 25))), .expired)
    }

    func testAPrekeyIsConsumedBeforeTheContentIsLookedAt() throws {
        let opening = open(try mail([0x20, 1, 2], prekey: offered(0)))
        XCTAssertEqual(drop(opening), .otherPayload)
        XCTAssertTrue(opening.isHandled)
        guard case .first = opening.consumption else { return XCTFail("not consumed") }
    }

    func testTheBatchIsFilledUpWithTheUseThatLeavesTooFew() throws {
        for id in UInt32(0)..<6 {
            let opening = open(try mail(Samples.payload("hello", id: "\(id)"), prekey: offered(id)))
            switch opening.consumption {
            case .first: XCTAssertLessThan(id, 5)
            case .toppedUp: XCTAssertEqual(id, 5)
            default: XCTFail("\(id) not consumed")
            }
        }
        XCTAssertEqual(try prekeys.bundle(of: Samples.b())?.prekeys.count, 8)
    }

    func testRefusalsAreNamed() throws {
        let good = try mail(Samples.payload("hello"))
        XCTAssertEqual(drop(open(good, at: Samples.time.later(hours: 24))), .expired)
        XCTAssertEqual(drop(open(try mail(Samples.payload("x"), to: 0x44))), .otherAddressee)
        var unknown = good
        unknown.prekeyID = 77
        XCTAssertEqual(drop(open(unknown)), .unknownPrekey)
        XCTAssertFalse(open(unknown).isHandled)
        // Sealed to the static key, although it names a prekey.
        var mislabelled = good
        mislabelled.prekeyID = 2
        XCTAssertEqual(drop(open(mislabelled)), .undecryptable)
        XCTAssertFalse(open(mislabelled).isHandled)
        XCTAssertNotNil(try offered(2))
        var damaged = good
        damaged.ciphertext[40] ^= 1
        XCTAssertEqual(drop(open(damaged)), .undecryptable)
        for payload in [[], [0x01], [0x09] + good.ciphertext, [0x03, 0x6d], [0x01, 0x02, 0x00]] as [[UInt8]] {
            XCTAssertEqual(drop(open(try mail(payload))), .otherPayload)
        }
        blocked = [try Samples.a().noise.publicKey]
        XCTAssertEqual(drop(open(good)), .blockedSender)
        XCTAssertTrue(open(good).isHandled)
    }

    func testMailOfYesterdayAndTomorrowIsOurs() throws {
        let envelope = try mail(Samples.payload("hello"))
        XCTAssertTrue(box.isForUs(envelope, at: Samples.time.later(hours: 24)))
        XCTAssertTrue(box.isForUs(envelope, at: WallTime(milliseconds: Samples.time.milliseconds - 86_400_000)))
        XCTAssertFalse(box.isForUs(envelope, at: Samples.time.later(hours: 48)))
    }

    func testOnlyTheLast512MessagesAreRemembered() throws {
        let envelope = try mail(Samples.payload("hello", id: "first"))
        _ = open(envelope)
        for number in 0..<511 { _ = open(try mail(Samples.payload("x", id: "\(number)"))) }
        XCTAssertEqual(drop(open(envelope)), .repeated)
        _ = open(try mail(Samples.payload("x", id: "last")))
        XCTAssertNil(drop(open(envelope)))
    }
}
