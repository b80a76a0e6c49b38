import Basics
import TestSupport
import Wire
import XCTest

@testable import Crypto

final class SealedMailTests: XCTestCase {
    func testMailIsSealedOpenedAndRefusedAsTheReferencesIs() throws {
        try Vectors("courier.json").run { vector in
            switch vector.kind {
            case "seal", "seal_prekey": try self.checkSeal(vector)
            case "open_reject", "open_prekey_reject":
                let isPrekey = vector.kind == "open_prekey_reject"
                let key = try self.key(vector, isPrekey ? "prekeyPrivate" : "recipientStaticPrivate")
                let id = isPrekey ? UInt32(try vector.int("prekeyID")) : nil
                XCTAssertFalse(try vector.bool("opens"))
                let envelope = self.envelope(try vector.bytes("ciphertext"), prekeyID: id)
                XCTAssertNil(SealedMail.open(envelope, with: key), vector.name)
            case "sealed_message": try self.checkMessage(vector)
            default: throw vector.unknownKind
            }
        }
    }

    private func key(_ vector: VectorCase, _ member: String) throws -> NoiseStaticKey {
        try XCTUnwrap(NoiseStaticKey(privateKey: vector.bytes(member)))
    }

    private func envelope(_ ciphertext: [UInt8], prekeyID: UInt32?) -> CourierEnvelope {
        CourierEnvelope(recipientTag: [], expiry: Examples.time, ciphertext: ciphertext, prekeyID: prekeyID)
    }

    private func checkSeal(_ vector: VectorCase) throws {
        let isPrekey = vector.kind == "seal_prekey"
        let sender = try key(vector, "senderStaticPrivate")
        XCTAssertEqual(sender.publicKey.bytes, try vector.bytes("senderStaticPublic"), vector.name)
        let opener = try key(vector, isPrekey ? "prekeyPrivate" : "recipientStaticPrivate")
        let publicKey = try vector.bytes(isPrekey ? "prekeyPublic" : "recipientStaticPublic")
        XCTAssertEqual(opener.publicKey.bytes, publicKey, vector.name)
        let prekey =
            isPrekey ? PrekeyBundle.Prekey(id: UInt32(try vector.int("prekeyID")), publicKey: publicKey) : nil
        let recipient = isPrekey ? try Examples.b().noise.publicKey : opener.publicKey
        let envelope = try XCTUnwrap(
            SealedMail.seal(
                vector.bytes("payload"), to: recipient, prekey: prekey, from: sender, copies: 1, at: Examples.time,
                ephemeral: key(vector, "ephemeralPrivate")), vector.name)
        XCTAssertEqual(envelope.ciphertext, try vector.bytes("ciphertext"), vector.name)
        XCTAssertEqual(envelope.prekeyID, prekey?.id, vector.name)
        let opened = try XCTUnwrap(SealedMail.open(envelope, with: opener), vector.name)
        XCTAssertEqual(opened.sender, sender.publicKey, vector.name)
        XCTAssertEqual(opened.payload, try vector.bytes("payload"), vector.name)
    }

    private func checkMessage(_ vector: VectorCase) throws {
        let envelope = try XCTUnwrap(CourierEnvelope(payload: vector.bytes("envelopePayload")), vector.name)
        let recipient = try key(vector, "recipientStaticPrivate")
        let day = UInt32(try vector.int("epochDay"))
        XCTAssertEqual(envelope.recipientTag, CourierTag.tag(for: recipient.publicKey, day: day), vector.name)
        let isPrekey = !vector.isNull("prekeyPrivate")
        XCTAssertEqual(envelope.prekeyID != nil, isPrekey, vector.name)
        let opened = try XCTUnwrap(
            SealedMail.open(envelope, with: isPrekey ? key(vector, "prekeyPrivate") : recipient), vector.name)
        XCTAssertEqual(opened.sender.bytes, try vector.bytes("senderStaticPublic"), vector.name)
        XCTAssertEqual(opened.payload, try vector.bytes("innerPayload"), vector.name)
        if isPrekey { XCTAssertNil(SealedMail.open(envelope, with: recipient), vector.name) }
    }

    private let payload = hex(
        "01002430423845364639432d364433442d344332412d394331452d364231453544334637413130010568656c6c6f")

    private func node(_ byte: UInt8) throws -> NoiseStaticKey {
        try XCTUnwrap(NoiseStaticKey(privateKey: [UInt8](repeating: byte, count: 32)))
    }

    /// Chapter 02 §13.5.
    func testMailOfTheExamplesIsSealedAsWrittenAndOpens() throws {
        let (a, b) = (try node(0x11), try node(0x22))
        let now = WallTime(milliseconds: 1_784_000_000_000)
        let toStatic = SealedMail.seal(
            payload, to: b.publicKey, prekey: nil, from: a, copies: 4, at: now, ephemeral: try node(0x77))
        XCTAssertEqual(
            toStatic?.encoded(),
            hex(
                """
                01001036eb6421183cdf3bc5d5dc7d66d4bbd10200080000019f63d60c0003008e1cf579aba45a10ba1d1ef06d91fca2
                aa9ed0a1150515653155405d0b18cb9a67e0b31bc6d7fbb03e092a4760349dddd4f30f22078f0f54ec12a2c216aaf0ed
                b5480d44ba988179acef6c0fa634c376256c9ebc00a800fd1dd3070c003781e67df6b6bbf54294dd57f2a3dd1099d606
                4e06c4c5c1ac24173579443f0ce9eb4244bb5779fa48cb5b4a0aec42ae8cd704000104
                """))
        let prekey = try node(0x88)
        XCTAssertEqual(
            prekey.publicKey.hex, "30d3c865a48fceb3d6118577cf2e5f228d6ff69866264757785b253cb7a4806a")
        let toPrekey = SealedMail.seal(
            payload, to: b.publicKey, prekey: PrekeyBundle.Prekey(id: 7, publicKey: prekey.publicKey.bytes), from: a,
            copies: 1, at: now, ephemeral: try node(0x99))
        XCTAssertEqual(
            toPrekey?.encoded(),
            hex(
                """
                01001036eb6421183cdf3bc5d5dc7d66d4bbd10200080000019f63d60c0003008eba193836cff1f4e866c139715d3064
                08d26a76f76d638a39afc1001084d2541100cb2b20db546c9abf2317be53750b1562d653da605960dfc891ccffad5d7b
                ed84638dffcc6f4a0b9b213398081b84821d3c182a6baa45a3cd8188383c19d9d4f4b7b86d74219c30e4ee31b71a5b2d
                b13d34c87e567fb30c5b4f0e55856c2554737166b319783d420092c42dc1e305000400000007
                """))
    }

    func testOnlyAcceptableKeysAreSealedTo() throws {
        var random = SeededRandom(seed: 1)
        let a = try node(0x11)
        let zero = try XCTUnwrap(NoisePublicKey([UInt8](repeating: 0, count: 32)))
        let now = Examples.time
        XCTAssertNil(SealedMail.seal(payload, to: zero, from: a, at: now, using: &random))
        for key in [zero.bytes, [], [UInt8](repeating: 9, count: 31)] {
            let prekey = PrekeyBundle.Prekey(id: 1, publicKey: key)
            XCTAssertNil(SealedMail.seal(payload, to: a.publicKey, prekey: prekey, from: a, at: now, using: &random))
        }
    }

    func testTheLargestPayloadFitsAndOneByteMoreDoesNot() throws {
        var random = SeededRandom(seed: 1)
        let (a, b) = (try node(0x11), try node(0x22))
        let largest = [UInt8](repeating: 1, count: 16_384 - 96)
        let envelope = try XCTUnwrap(
            SealedMail.seal(largest, to: b.publicKey, from: a, at: Examples.time, using: &random))
        XCTAssertNotNil(envelope.encoded())
        XCTAssertEqual(SealedMail.open(envelope, with: b)?.payload, largest)
        XCTAssertNil(SealedMail.seal(largest + [1], to: b.publicKey, from: a, at: Examples.time, using: &random))
    }

    func testEachDepositOfAMessageIsAFreshSeal() throws {
        var random = SeededRandom(seed: 1)
        let (a, b) = (try node(0x11), try node(0x22))
        let first = SealedMail.seal(payload, to: b.publicKey, from: a, at: Examples.time, using: &random)
        let second = SealedMail.seal(payload, to: b.publicKey, from: a, at: Examples.time, using: &random)
        XCTAssertNotEqual(first?.ciphertext, second?.ciphertext)
        XCTAssertEqual(first?.copies, 4)
        XCTAssertEqual(first?.expiry.milliseconds, Examples.time.milliseconds + 86_400_000)
    }
}
