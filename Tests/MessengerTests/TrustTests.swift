import Basics
import Crypto
import Wire
import XCTest

@testable import Messenger

final class TrustTests: XCTestCase {
    private let table = Table()

    // MARK: Verification

    func testACodeVerifiesItsOwnerByAChallengeInTheSession() throws {
        let (anna, bob) = (try table.seat("anna", 1), try table.seat("bob", 2))
        let code = table.does { bob.messenger.code(nickname: "bob", at: $0).text }
        XCTAssertEqual(try table.does { try anna.messenger.verify(code: code, at: $0) }, bob.peer)
        XCTAssertEqual(anna.news(), [.verified(bob.peer)])
        XCTAssertEqual(bob.news(), [.beingVerified(by: anna.peer)])
        let record = try XCTUnwrap(anna.stored[bob.identity.fingerprint])
        XCTAssertTrue(record.isVerified)
        XCTAssertEqual(record.signingKey, bob.identity.signing.publicKey)
        XCTAssertEqual(record.nickname, "bob")
        try table.does { try bob.messenger.say("hi", to: anna.peer, at: $0) }
        XCTAssertEqual(anna.news(), [.message(from: bob.peer, isVerified: true, text: "hi")])
        XCTAssertFalse(bob.messenger.trust.isVerified(anna.identity.fingerprint))
    }

    /// Somebody shows a code with bob's Noise key and a signing key of their own.
    func testACodeThatNamesSomebodyElsesKeyVerifiesNobody() throws {
        let (anna, bob, eve) = (try table.seat("anna", 1), try table.seat("bob", 2), try table.seat("eve", 3))
        var code = table.does { bob.messenger.code(nickname: "bob", at: $0) }
        code.signingKeyHex = eve.identity.signing.publicKey.hex
        code.signatureHex = Hex.encode(eve.identity.signing.sign(code.signedBytes))
        _ = try table.does { try anna.messenger.verify(code: code.text, at: $0) }
        XCTAssertEqual(anna.news(), [.verificationFailed(bob.peer, .wrongKey)])
        XCTAssertNil(anna.messenger.trust[bob.identity.fingerprint])
    }

    func testCodesAreRefusedByName() throws {
        let (anna, bob) = (try table.seat("anna", 1), try table.seat("bob", 2))
        func refusal(_ text: String) -> VerificationRefusal? {
            do throws(VerificationRefusal) {
                _ = try anna.messenger.verify(code: text, at: table.now)
                return nil
            } catch { return error }
        }
        let code = bob.messenger.code(nickname: "bob", at: table.now)
        XCTAssertEqual(refusal("hello"), .notACode)
        XCTAssertEqual(refusal(code.text.replacing("nick=bob", with: "nick=eve")), .badSignature)
        XCTAssertEqual(refusal(anna.messenger.code(nickname: "anna", at: table.now).text), .ownCode)
        table.pass(.seconds(301))
        XCTAssertEqual(refusal(code.text), .outdated)
        let fresh = bob.messenger.code(nickname: "bob", at: table.now).text
        table.separate(anna, bob)
        XCTAssertEqual(refusal(fresh), .notInReach)
        table.join(anna, bob)
        try table.does { try anna.messenger.setBlocked(true, bob.peer, at: $0) }
        XCTAssertEqual(refusal(fresh), .blocked)
    }

    func testAChallengeWithoutAnAnswerFailsInTime() throws {
        let (anna, bob) = (try table.seat("anna", 1), try table.seat("bob", 2))
        table.losing = [.verifyResponse]
        let code = bob.messenger.code(nickname: "bob", at: table.now).text
        _ = try table.does { try anna.messenger.verify(code: code, at: $0) }
        table.pass(.seconds(29))
        XCTAssertEqual(anna.news(), [])
        table.pass(.seconds(1))
        XCTAssertEqual(anna.news(), [.verificationFailed(bob.peer, .noAnswer)])
        XCTAssertNil(anna.messenger.nextDeadline)
    }

    func testOnlyChallengesForOurKeyAreAnsweredAndTheSameOnce() throws {
        let (anna, bob) = (try table.seat("anna", 1), try table.seat("bob", 2))
        table.renew(anna, bob)
        func challenge(_ hex: String, _ nonce: UInt8) throws {
            let body = try XCTUnwrap(
                VerificationChallenge(noiseKeyHex: hex, nonce: [UInt8](repeating: nonce, count: 16)).encoded())
            table.does {
                bob.messenger.take(
                    NoisePayload(type: .verifyChallenge, body: body), from: anna.peer,
                    fingerprint: anna.identity.fingerprint, at: $0)
            }
        }
        let own = bob.identity.noise.publicKey.hex
        try challenge(anna.identity.noise.publicKey.hex, 1)
        XCTAssertEqual(bob.sent.count, 0)
        try challenge(own.uppercased(), 1)
        try challenge(own, 1)
        XCTAssertEqual(bob.sent.count, 1)
        try challenge(own, 2)
        XCTAssertEqual(bob.sent.count, 2)
        XCTAssertEqual(bob.messenger.drops[.refusedChallenge], 2)
        XCTAssertEqual(bob.news(), [.beingVerified(by: anna.peer)])
        // The key text comes back as it was sent.
        let response = VerificationResponse(body: try XCTUnwrap(bob.sent.first).payload.body)
        XCTAssertEqual(response?.noiseKeyHex, own.uppercased())
        XCTAssertEqual(anna.messenger.drops[.unexpectedResponse], 2)
    }

    func testACodeStaysForAMinuteUnlessTheNameChanges() throws {
        let anna = try table.seat("anna", 1)
        func code(_ name: String) -> String { anna.messenger.code(nickname: name, at: table.now).text }
        let first = code("anna")
        table.pass(.seconds(59))
        XCTAssertEqual(code("anna"), first)
        XCTAssertNotEqual(code("ann"), first)
        let second = code("anna")
        table.pass(.seconds(60))
        XCTAssertNotEqual(code("anna"), second)
    }

    func testAFingerprintComparedByHandVerifiesToo() throws {
        let (anna, bob) = (try table.seat("anna", 1), try table.seat("bob", 2))
        XCTAssertThrowsError(
            try anna.messenger.verify(bob.peer, fingerprint: anna.identity.fingerprint.hex, at: table.now))
        let text = bob.identity.fingerprint.hex.uppercased().enumerated().map { index, digit in
            index % 4 == 0 ? " \(digit)" : "\(digit)"
        }
        try table.does { try anna.messenger.verify(bob.peer, fingerprint: text.joined(), at: $0) }
        XCTAssertEqual(anna.news(), [.verified(bob.peer)])
        try table.does { _ in try anna.messenger.unverify(bob.peer) }
        XCTAssertNil(anna.stored[bob.identity.fingerprint])
    }

    // MARK: Blocking

    func testABlockedPersonIsNeitherShownNorAnswered() throws {
        let (anna, bob) = (try table.seat("anna", 1), try table.seat("bob", 2))
        table.losing = [.privateMessage]
        try table.does { try anna.messenger.say("still here?", to: bob.peer, at: $0) }
        table.losing = []
        try table.does { try anna.messenger.setBlocked(true, bob.peer, at: $0) }
        XCTAssertEqual(
            anna.news().last, .delivery(number: 1, to: bob.peer, .failed(.blocked)))
        let answers = anna.sent.count
        try table.does { try bob.messenger.say("let me in", to: anna.peer, at: $0) }
        try table.does { try bob.messenger.setFavorite(true, anna.peer, at: $0) }
        _ = try table.does {
            try bob.messenger.verify(code: anna.messenger.code(nickname: "anna", at: $0).text, at: $0)
        }
        table.renew(anna, bob)
        XCTAssertEqual(anna.news(), [])
        XCTAssertEqual(anna.sent.count, answers)
        XCTAssertFalse(anna.messenger.trust[bob.identity.fingerprint]?.favorsUs ?? true)
        XCTAssertTrue(anna.messenger.trust.isBlocked(bob.peer))
        XCTAssertThrowsError(try anna.messenger.say("x", to: bob.peer, at: table.now))
        XCTAssertThrowsError(try anna.messenger.setFavorite(true, bob.peer, at: table.now))
        try table.does { try anna.messenger.setBlocked(false, bob.peer, at: $0) }
        XCTAssertNil(anna.stored[bob.identity.fingerprint])
        table.renew(anna, bob)
        XCTAssertEqual(
            anna.news(),
            [
                .beingVerified(by: bob.peer), .message(from: bob.peer, isVerified: false, text: "let me in"),
                .favorite(by: bob.peer, true),
            ])
    }

    func testSomebodyGoneCanBeUnblocked() throws {
        let (anna, bob) = (try table.seat("anna", 1), try table.seat("bob", 2))
        try table.does { try anna.messenger.setBlocked(true, bob.peer, at: $0) }
        table.separate(anna, bob)
        XCTAssertTrue(anna.messenger.report(on: bob.peer, at: table.now)?.record?.isBlocked ?? false)
        try table.does { try anna.messenger.setBlocked(false, bob.peer, at: $0) }
        XCTAssertFalse(anna.messenger.trust.isBlocked(bob.peer))
        XCTAssertThrowsError(try anna.messenger.setBlocked(true, PeerID(value: 9), at: table.now))
    }

    // MARK: Favourites

    func testAFavoriteIsToldAndBothSidesMakeItMutual() throws {
        let (anna, bob) = (try table.seat("anna", 1), try table.seat("bob", 2))
        try table.does { try anna.messenger.setFavorite(true, bob.peer, at: $0) }
        XCTAssertEqual(bob.news(), [.favorite(by: anna.peer, true)])
        XCTAssertEqual(anna.news(), [])
        XCTAssertEqual(anna.messenger.undelivered, 0)
        XCTAssertTrue(bob.stored[anna.identity.fingerprint]?.favorsUs ?? false)
        try table.does { try bob.messenger.setFavorite(true, anna.peer, at: $0) }
        XCTAssertTrue(bob.stored[anna.identity.fingerprint]?.isMutualFavorite ?? false)
        XCTAssertTrue(anna.stored[bob.identity.fingerprint]?.isMutualFavorite ?? false)
        // Only a change is told.
        let told = anna.sent.count
        try table.does { try anna.messenger.setFavorite(true, bob.peer, at: $0) }
        XCTAssertEqual(anna.sent.count, told)
        try table.does { try anna.messenger.setFavorite(false, bob.peer, at: $0) }
        XCTAssertEqual(bob.news().last, .favorite(by: anna.peer, false))
        // Kept while they favour us.
        XCTAssertTrue(anna.stored[bob.identity.fingerprint]?.favorsUs ?? false)
    }

    func testTheNpubOfANoticeIsKeptAndANonsenseOneIsNot() throws {
        let (anna, bob) = (try table.seat("anna", 1), try table.seat("bob", 2))
        let npub = "npub1lycg5qvjtrp3qjf5f7zl382j9x6nrjz9sdhenvyxq8c3808qxmus6gq266"
        func notice(_ text: String, _ id: String) throws {
            let body = try XCTUnwrap(PrivateMessage(messageID: id, content: text).encoded())
            table.does {
                anna.messenger.take(
                    NoisePayload(type: .privateMessage, body: body), from: bob.peer,
                    fingerprint: bob.identity.fingerprint, at: $0)
            }
        }
        try notice("[FAVORITED]:\(npub)", "1")
        XCTAssertEqual(anna.stored[bob.identity.fingerprint]?.npub, npub)
        try notice("[FAVORITED]:npub1nonsense", "2")
        try notice("[FAVORITED]", "3")
        XCTAssertEqual(anna.stored[bob.identity.fingerprint]?.npub, npub)
        XCTAssertEqual(anna.news(), [.favorite(by: bob.peer, true)])
    }

    // MARK: The book

    func testARecordComesBackAsItWasStored() throws {
        var record = TrustRecord(noiseKey: try Samples.key(7).publicKey, nickname: "Zoë")
        XCTAssertEqual(TrustRecord(decoding: record.encoded()), record)
        record.signingKey = try Samples.a().signing.publicKey
        record.verifiedAt = Samples.time
        record.isBlocked = true
        record.favorsUs = true
        record.npub = "npub1x"
        XCTAssertEqual(TrustRecord(decoding: record.encoded()), record)
        let bytes = record.encoded()
        for length in bytes.indices { XCTAssertNil(TrustRecord(decoding: Array(bytes.prefix(length)))) }
        XCTAssertNil(TrustRecord(decoding: bytes + [0]))
        XCTAssertNil(TrustRecord(decoding: [9] + bytes.dropFirst()))
    }

    func testWhatIsReadBackFromARecordIsWrittenTheSameAgain() throws {
        let key = try Samples.key(7).publicKey
        for name in ["é", "\u{fffd}", "😀", "👩‍👩‍👧", "e\u{301}"] {
            for lead in 0...4 {
                let long = String(repeating: "a", count: lead) + String(repeating: name, count: 256)
                let bytes = TrustRecord(noiseKey: key, nickname: long).encoded()
                let again = try XCTUnwrap(TrustRecord(decoding: bytes))
                XCTAssertTrue(long.utf8.starts(with: again.nickname.utf8))
                XCTAssertEqual(again.encoded(), bytes)
            }
        }
        // Length 255 of what is no UTF-8: each byte is read as three.
        var bytes = TrustRecord(noiseKey: key, nickname: "").encoded()
        bytes.replaceSubrange((bytes.count - 2)..., with: [255] + [UInt8](repeating: 0x80, count: 255) + [0])
        let first = try XCTUnwrap(TrustRecord(decoding: bytes)).encoded()
        XCTAssertEqual(TrustRecord(decoding: first)?.encoded(), first)
    }

    func testTrustSurvivesARestart() throws {
        let (anna, bob) = (try table.seat("anna", 1), try table.seat("bob", 2))
        try table.does { try anna.messenger.setBlocked(true, bob.peer, at: $0) }
        let later = Messenger(
            identity: anna.identity, trust: Array(anna.stored.values), random: SeededRandom(seed: 5))
        XCTAssertTrue(later.trust.isBlocked(bob.peer))
        XCTAssertEqual(later.trust.records.map(\.nickname), ["bob"])
    }

    private func record(_ number: Int, isDecided: Bool) -> TrustRecord? {
        var key = Samples.bytes(0x30)
        key[0] = UInt8(truncatingIfNeeded: number)
        key[1] = UInt8(truncatingIfNeeded: number >> 8)
        var record = NoisePublicKey(key).map { TrustRecord(noiseKey: $0, nickname: "\(number)") }
        record?.favorsUs = true
        record?.isFavorite = isDecided
        return record
    }

    func testStrangersGiveWayToDecisionsAndDecisionsToNothing() throws {
        var book = TrustBook()
        for number in 0..<2_000 { XCTAssertTrue(book.set(try XCTUnwrap(record(number, isDecided: number > 0)))) }
        XCTAssertTrue(book.set(try XCTUnwrap(record(2_000, isDecided: true))))
        XCTAssertEqual(book.count, 2_000)
        XCTAssertNil(book[try XCTUnwrap(record(0, isDecided: true)).fingerprint])
        XCTAssertFalse(book.set(try XCTUnwrap(record(2_001, isDecided: true))))
        XCTAssertTrue(book.set(try XCTUnwrap(record(5, isDecided: false))))
    }
}
