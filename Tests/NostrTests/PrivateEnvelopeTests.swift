import Basics
import Crypto
import TestSupport
import Wire
import XCTest

@testable import Nostr

final class PrivateEnvelopeTests: XCTestCase {
    func testEnvelopesAreMadeOpenedAndRefusedAsTheReferencesAre() throws {
        try Vectors("private_envelopes.json").run { vector in
            switch vector.kind {
            case "open":
                let letter = try XCTUnwrap(self.open(vector))
                try checkMaking(vector)
                XCTAssertEqual(letter.content, try vector.string("content"), vector.name)
                XCTAssertEqual(letter.sender.hex, try vector.string("senderPubkey"), vector.name)
                XCTAssertEqual(letter.sentAt, Int64(try vector.int("timestamp")), vector.name)
            case "reject": XCTAssertNil(try self.open(vector), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    private func open(_ vector: VectorCase) throws -> PrivateLetter? {
        let key = try XCTUnwrap(NostrSecretKey(vector.bytes("recipientPrivateKey")))
        if let recipient = try vector.optionalString("recipientPubkey") {
            XCTAssertEqual(key.publicKey.hex, recipient, vector.name)
        }
        return (try? vector.object("event").nostrEvent()).flatMap { VerifiedEvent(verifying: $0) }.flatMap {
            try? PrivateEnvelope.open($0, with: key)
        }
    }

    /// The sender's part: our own envelope for the same two opens likewise, and the reference's random bytes give the
    /// reference's layers, byte for byte, of the texts inside (the order of JSON members is free, so that the texts
    /// themselves differ from ours).
    private func checkMaking(_ vector: VectorCase) throws {
        guard let privateKey = try vector.optionalBytes("senderPrivateKey") else { return }
        let sender = try XCTUnwrap(NostrSecretKey(privateKey))
        let recipient = try XCTUnwrap(NostrSecretKey(vector.bytes("recipientPrivateKey")))
        XCTAssertEqual(sender.publicKey.hex, try vector.string("senderPubkey"), vector.name)
        let letter = PrivateLetter(
            sender: sender.publicKey, content: try vector.string("content"), sentAt: Int64(try vector.int("timestamp")))
        var random = SeededRandom(seed: 9)
        let now = WallTime(milliseconds: UInt64(letter.sentAt) * 1_000 + 999)
        let own = PrivateEnvelope.wrap(letter.content, from: sender, to: recipient.publicKey, at: now, using: &random)
        XCTAssertEqual(try PrivateEnvelope.open(XCTUnwrap(own), with: recipient), letter, vector.name)

        guard !vector.isNull("randomDraws") else { return }
        let draws = try vector.objects("randomDraws").map { (use: try $0.string("use"), bytes: try $0.bytes("bytes")) }
        let nonces = draws.filter { $0.bytes.count == 24 }.map(\.bytes)
        let once = try XCTUnwrap(draws.first { $0.use.hasSuffix("PrivateKey") }, vector.name).bytes
        let auxiliary = draws.filter { $0.bytes.count == 32 && !$0.use.hasSuffix("PrivateKey") }.map(\.bytes)
        guard nonces.count == 2, auxiliary.count == 2 else { return XCTFail("\(vector.name): other draws") }
        let wrap = try vector.object("event").nostrEvent()
        let inner = try check(
            wrap, by: XCTUnwrap(NostrSecretKey(once)), for: recipient, nonce: nonces[1], auxiliary: auxiliary[1],
            vector.name)
        let seal = try NostrEvent(json: inner)
        let message = try check(
            seal, by: sender, for: recipient, nonce: nonces[0], auxiliary: auxiliary[0], vector.name)
        XCTAssertEqual(try NostrEvent(json: message).content, letter.content, vector.name)
        for event in [wrap, seal] { XCTAssertLessThanOrEqual(abs(event.createdAt - letter.sentAt), 900, vector.name) }
    }

    /// - Returns: the text inside.
    private func check(
        _ event: NostrEvent, by author: NostrSecretKey, for recipient: NostrSecretKey, nonce: [UInt8],
        auxiliary: [UInt8], _ name: String
    ) throws -> [UInt8] {
        XCTAssertEqual(event.pubkey, author.publicKey.hex, name)
        let text = try XCTUnwrap(EnvelopeLayer.open(event.content, by: recipient, from: author.publicKey), name)
        let content = EnvelopeLayer.seal(text, from: author, to: recipient.publicKey, nonce: nonce)
        XCTAssertEqual(content, event.content, name)
        XCTAssertEqual(author.sign(event.computedID.bytes, auxiliary: auxiliary).map(Hex.encode), event.sig, name)
        return text
    }

    /// Envelopes that released apps made.
    func testFrozenEnvelopesOfBothAppsOpen() throws {
        let ios = try letter(
            "LegacyPrivateEnvelope733098bb.json", key: "LegacyPrivateEnvelope733098bbRecipientKey.json")
        XCTAssertEqual(ios.content, "legacy fixture from 733098bb")
        let android = try letter(
            "AndroidLegacyPrivateEnvelopeB7f0b33d.json", key: "AndroidLegacyPrivateEnvelopeB7f0b33dMetadata.json")
        XCTAssertEqual(android.content, "legacy fixture from Android b7f0b33d")
        XCTAssertEqual(android.sender.hex, "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798")
    }

    private func letter(_ file: String, key: String) throws -> PrivateLetter {
        let event = try Vectors.upstream(file)
        let about = try JSONSerialization.jsonObject(with: Vectors.upstream(key))
        let members = try XCTUnwrap(about as? [String: Any])
        let hex = try XCTUnwrap(members["recipient_private_key"] as? String)
        let secret = try XCTUnwrap(Hex.decode(hex).flatMap { NostrSecretKey($0) })
        let text = [UInt8](event)
        return try PrivateEnvelope.open(
            XCTUnwrap(VerifiedEvent(verifying: NostrEvent(json: text))), with: secret)
    }

    // MARK: Worked examples

    private func key(_ byte: UInt8) throws -> NostrSecretKey {
        try XCTUnwrap(NostrSecretKey([UInt8](repeating: byte, count: 32)))
    }

    /// Chapter 05 §17.5.
    func testWorkedExampleOfAnEnvelope() throws {
        let (sender, recipient, once) = (try key(0x11), try key(0x22), try key(0x33))
        let inner = NostrEvent(
            id: "", pubkey: sender.publicKey.hex, createdAt: 1_700_000_000, kind: 14, tags: [],
            content: "bitchat1:AQ", sig: nil)
        XCTAssertEqual(inner.json().count, 153)
        var content = try XCTUnwrap(
            EnvelopeLayer.seal(inner.json(), from: sender, to: recipient.publicKey, nonce: Array(0x40...0x57)))
        var seal = NostrEvent(
            pubkey: sender.publicKey.hex, createdAt: 1_700_000_137, kind: 13, tags: [], content: content)
        XCTAssertEqual(seal.id, "d7ee2df3ffe11a6bb0e769c177886ddcb3e29399ef37b9efb7049572362d8233")
        seal.sig = try signature(
            of: seal, by: sender,
            is: "a3af4200d92684a8c4508477d5fd7c15b88fe5d4e80f95397a16238ac5b87846"
                + "c41fe9d5b00b2d4dd129284b0075288081ecfb1bc3ca8287f5417918cd86f8b6")
        XCTAssertEqual(seal.json().count, 604)
        content = try XCTUnwrap(
            EnvelopeLayer.seal(seal.json(), from: once, to: recipient.publicKey, nonce: Array(0x80...0x97)))
        XCTAssertEqual(content.utf8.count, 862)
        var wrap = NostrEvent(
            pubkey: once.publicKey.hex, createdAt: 1_699_999_679, kind: 1_059, tags: [["p", recipient.publicKey.hex]],
            content: content)
        XCTAssertEqual(wrap.id, "be69fdd1b1bb86d1fc2847696273de589cabd843a5b978899d89fbc7c177ac4b")
        wrap.sig = try signature(
            of: wrap, by: once,
            is: "7f4db2368bb0c4af7f2a12d7cd52b8934b3d68b2feb1c1ca32c99b25b7eccc75"
                + "f3edcbe215ce9bbdecf83c56b3d4c179cdb8c9f16443643b57da269e148662b4")
        let letter = try PrivateEnvelope.open(XCTUnwrap(VerifiedEvent(verifying: wrap)), with: recipient)
        XCTAssertEqual(
            letter, PrivateLetter(sender: sender.publicKey, content: "bitchat1:AQ", sentAt: 1_700_000_000))
        XCTAssertNil(letter.packet)
    }

    private func signature(of event: NostrEvent, by key: NostrSecretKey, is expected: String) throws -> String {
        let bytes = try XCTUnwrap(key.sign(event.computedID.bytes, auxiliary: [UInt8](repeating: 0, count: 32)))
        XCTAssertEqual(Hex.encode(bytes), expected)
        return Hex.encode(bytes)
    }

    /// Chapter 05 §17.6.
    func testWorkedExamplesOfEmbeddedPackets() throws {
        let sender = PeerID(value: 0x0123_4567_89ab_cdef)
        let time = WallTime(milliseconds: 1_700_000_000_000)
        let body = try XCTUnwrap(PrivateMessage(messageID: "m1", content: "hi").encoded())
        let message = NoisePayload(type: .privateMessage, body: body)
        let cases: [(PeerID?, NoisePayload, String)] = [
            (nil, message, "77932b50eebc7bb88d0a8adf3732153da31cc6f0bf7d40650807a66c3690060d"),
            (
                PeerID(value: 0xfedc_ba98_7654_3210), message,
                "509b4ce78b4c62a042273935969337bc156675305dcbd45f908aaa48d55ddeb9"
            ),
            (
                nil, .delivered(messageID: "m1"),
                "d6fcd57512939c9fa905d5b6a3fb951ef2648dc7a1409707bde26a9ad3efd73c"
            ),
        ]
        for (recipient, payload, digest) in cases {
            let packet = EmbeddedPacket(senderID: sender, recipientID: recipient, timestamp: time, payload: payload)
            let text = try XCTUnwrap(packet.text)
            XCTAssertEqual(text.utf8.count, 351)
            XCTAssertEqual(Hex.encode(SHA256.hash(Array(text.utf8))), digest)
            XCTAssertEqual(EmbeddedPacket(text: text), packet)
        }
    }

    // MARK: Own envelopes

    private let now = WallTime(milliseconds: 1_784_000_000_000)

    private func wrapped(_ text: String = "bitchat1:AQ", seed: UInt64 = 1) throws -> VerifiedEvent {
        var random = SeededRandom(seed: seed)
        return try XCTUnwrap(
            PrivateEnvelope.wrap(text, from: key(0x11), to: key(0x22).publicKey, at: now, using: &random))
    }

    func testAnOwnEnvelopeOpensAndShowsRelaysNothingOfItsSender() throws {
        let envelope = try wrapped()
        let letter = try PrivateEnvelope.open(envelope, with: key(0x22))
        XCTAssertEqual(letter.sender, try key(0x11).publicKey)
        XCTAssertEqual(letter.sentAt, 1_784_000_000)
        XCTAssertNotEqual(envelope.author, letter.sender)
        XCTAssertFalse(String(decoding: envelope.json(), as: UTF8.self).contains(letter.sender.hex))
        XCTAssertNotEqual(try wrapped(seed: 2).author, envelope.author)
        XCTAssertEqual(try wrapped(seed: 1), envelope)
    }

    func testDatesAreSpreadOverTheLastQuarterOfAnHourAndNeverAhead() throws {
        let dates = try (0..<200).map { try wrapped(seed: $0).event.createdAt - 1_784_000_000 }
        XCTAssertTrue(dates.allSatisfy { (-900...0).contains($0) })
        XCTAssertLessThan(try XCTUnwrap(dates.min()), -800)
        XCTAssertGreaterThan(try XCTUnwrap(dates.max()), -100)
    }

    func testTextBeyondTheLimitIsNotWrapped() throws {
        var random = SeededRandom(seed: 1)
        let (a, b) = (try key(0x11), try key(0x22).publicKey)
        let possible = String(repeating: "a", count: 35_000)
        XCTAssertNotNil(PrivateEnvelope.wrap(possible, from: a, to: b, at: now, using: &random))
        let tooLong = String(repeating: "a", count: 37_000)
        XCTAssertNil(PrivateEnvelope.wrap(tooLong, from: a, to: b, at: now, using: &random))
    }

    func testEachRefusalHasItsReason() throws {
        var random = SeededRandom(seed: 3)
        let (sender, recipient, other) = (try key(0x11), try key(0x22), try key(0x33))
        func refusal(_ envelope: VerifiedEvent?) throws -> PrivateEnvelopeRejection? {
            let envelope = try XCTUnwrap(envelope)
            do throws(PrivateEnvelopeRejection) {
                _ = try PrivateEnvelope.open(envelope, with: recipient)
                return nil
            } catch {
                return error
            }
        }
        func event(
            _ kind: Int, _ content: String, tags: [[String]] = [], key: NostrSecretKey
        ) -> VerifiedEvent? {
            .signed(kind: kind, tags: tags, content: content, createdAt: 0, key: key, using: &random)
        }
        func wrap(_ bytes: [UInt8]?, tags: [[String]]? = nil, kind: Int = 1_059) throws -> VerifiedEvent? {
            let content = try XCTUnwrap(
                EnvelopeLayer.seal(
                    XCTUnwrap(bytes), from: other, to: recipient.publicKey, nonce: [UInt8](repeating: 1, count: 24)))
            return event(kind, content, tags: tags ?? [["p", recipient.publicKey.hex]], key: other)
        }
        func seal(_ bytes: [UInt8], kind: Int = 13, tags: [[String]] = []) throws -> [UInt8]? {
            let content = try XCTUnwrap(
                EnvelopeLayer.seal(
                    bytes, from: sender, to: recipient.publicKey, nonce: [UInt8](repeating: 2, count: 24)))
            return event(kind, content, tags: tags, key: sender)?.json()
        }
        func message(_ author: NostrSecretKey, kind: Int = 14, tags: [[String]] = [], sig: String? = nil) -> [UInt8] {
            NostrEvent(
                id: "", pubkey: author.publicKey.hex, createdAt: 0, kind: kind, tags: tags, content: "x", sig: sig
            ).json()
        }
        let good = message(sender)
        XCTAssertNil(try refusal(wrap(seal(good))))
        XCTAssertNil(try refusal(wrap(seal(message(sender, tags: [["p", recipient.publicKey.hex]])))))
        XCTAssertEqual(try refusal(wrap(seal(good), kind: 1_060)), .notAnEnvelope)
        let long = String(repeating: "v", count: 65_537)
        XCTAssertEqual(
            try refusal(event(1_059, long, tags: [["p", recipient.publicKey.hex]], key: other)), .notAnEnvelope)
        XCTAssertEqual(try refusal(wrap(seal(good), tags: [])), .notForUs)
        XCTAssertEqual(try refusal(wrap(seal(good), tags: [["p", other.publicKey.hex]])), .notForUs)
        XCTAssertEqual(
            try refusal(event(1_059, "v2:AA", tags: [["p", recipient.publicKey.hex]], key: other)), .undecryptable)
        XCTAssertEqual(try refusal(wrap([0x7b])), .malformedSeal)
        XCTAssertEqual(try refusal(wrap(seal(good, kind: 14))), .malformedSeal)
        XCTAssertEqual(try refusal(wrap(seal(good, tags: [["a"]]))), .malformedSeal)
        var forged = try NostrEvent(json: XCTUnwrap(seal(good)))
        forged.sig = String(repeating: "0", count: 128)
        XCTAssertEqual(try refusal(wrap(forged.json())), .badSealSignature)
        XCTAssertEqual(try refusal(wrap(seal([0x5b]))), .malformedMessage)
        XCTAssertEqual(try refusal(wrap(seal(message(sender, kind: 1)))), .malformedMessage)
        XCTAssertEqual(try refusal(wrap(seal(message(sender, tags: [["p", "me"]])))), .malformedMessage)
        XCTAssertEqual(try refusal(wrap(seal(message(sender, sig: "")))), .malformedMessage)
        XCTAssertEqual(try refusal(wrap(seal(message(other)))), .otherAuthor)
    }

    func testALetterCountsForADayAndAQuarterOfAnHourAround() throws {
        let author = try key(0x11).publicKey
        for (age, isCurrent) in [(-901, false), (-900, true), (0, true), (87_300, true), (87_301, false)] {
            let letter = PrivateLetter(sender: author, content: "", sentAt: 1_784_000_000 - Int64(age))
            XCTAssertEqual(letter.isCurrent(at: now), isCurrent, "\(age)")
        }
        for extreme in [Int64.min, .max] {
            XCTAssertFalse(PrivateLetter(sender: author, content: "", sentAt: extreme).isCurrent(at: now))
        }
    }

    func testOnlyEmbeddedPacketsAreLookedInto() throws {
        let author = try key(0x11).publicKey
        for content in ["verify:abc", "hello", "", "bitchat1:", "bitchat2:AREHAAABi8_laAAAAAkBI0VniavN7wEAAm0xAQJoaQ"] {
            XCTAssertNil(PrivateLetter(sender: author, content: content, sentAt: 0).packet)
        }
    }
}
