import Basics
import Crypto
import Wire
import XCTest

@testable import Messenger

final class VouchTests: XCTestCase {
    private let table = Table()

    private func verify(_ verifier: Table.Seat, _ others: Table.Seat...) throws {
        for other in others {
            let code = other.messenger.code(nickname: other.name, at: table.now).text
            _ = try table.does { try verifier.messenger.verify(code: code, at: $0) }
        }
        _ = verifier.news()
    }

    func testVerifiedPeopleVouchForOthersAndTheirWordEndsWithTheirTrust() throws {
        let (anna, bob, carl) = (try table.seat("anna", 1), try table.seat("bob", 2), try table.seat("carl", 3))
        bob.messenger.vouchesForOthers = true
        try verify(anna, bob)
        try verify(bob, carl, anna)
        XCTAssertEqual(anna.news().last, .vouched(by: bob.peer, count: 1))
        XCTAssertEqual(
            anna.messenger.report(on: carl.peer, at: table.now)?.vouchers, [bob.identity.fingerprint])
        try table.does { _ in try anna.messenger.unverify(bob.peer) }
        XCTAssertEqual(anna.messenger.report(on: carl.peer, at: table.now)?.vouchers, [])
    }

    func testNobodyVouchesUnlessAskedTo() throws {
        let (anna, bob, carl) = (try table.seat("anna", 1), try table.seat("bob", 2), try table.seat("carl", 3))
        try verify(anna, bob)
        try verify(bob, carl, anna)
        XCTAssertFalse(bob.sent.contains { $0.payload.type == .vouchBatch })
    }

    // MARK: The book

    private let now = Samples.time

    private func trusting(_ bytes: UInt8...) throws -> TrustBook {
        TrustBook(
            try bytes.map { byte in
                let identity = try Samples.identity(byte, byte &+ 0x40)
                var record = TrustRecord(noiseKey: identity.noise.publicKey, nickname: "\(byte)")
                record.verifiedAt = WallTime(milliseconds: UInt64(byte))
                record.signingKey = identity.signing.publicKey
                return record
            })
    }

    private func attestation(
        about byte: UInt8, by voucher: UInt8, at time: WallTime
    ) throws -> VouchAttestation {
        let vouchee = try Samples.identity(byte, byte &+ 0x40)
        var attestation = VouchAttestation(
            fingerprint: vouchee.fingerprint.bytes, signingPublicKey: vouchee.signing.publicKey.bytes, timestamp: time,
            signature: [])
        attestation.signature = try Samples.identity(voucher, voucher &+ 0x40).signing.sign(attestation.signedBytes)
        return attestation
    }

    /// Of one attestation, given to a book that trusts 1 and 5.
    private func refusal(_ attestation: VouchAttestation, from voucher: UInt8 = 1) throws -> VouchRefusal? {
        var book = VouchBook()
        var refusals = Tally<VouchRefusal>()
        let identity = try Samples.identity(voucher, voucher &+ 0x40)
        let accepted = book.take(
            try XCTUnwrap(VouchBatch.encoded([attestation])), from: identity.fingerprint,
            key: identity.signing.publicKey, trust: try trusting(1, 5), at: now, refusals: &refusals)
        XCTAssertEqual(accepted.isEmpty, refusals.total > 0)
        return VouchRefusal.allCases.first { refusals[$0] > 0 }
    }

    func testEachConditionIsNeeded() throws {
        XCTAssertNil(try refusal(attestation(about: 9, by: 1, at: now)))
        XCTAssertEqual(try refusal(attestation(about: 9, by: 2, at: now), from: 2), .unverifiedVoucher)
        XCTAssertEqual(try refusal(attestation(about: 1, by: 1, at: now)), .aboutVoucher)
        XCTAssertEqual(try refusal(attestation(about: 5, by: 1, at: now)), .alreadyVerified)
        XCTAssertEqual(try refusal(attestation(about: 9, by: 2, at: now)), .badSignature)
        let hour: UInt64 = 3_600_000
        func shifted(_ milliseconds: Int64) throws -> VouchRefusal? {
            let time = WallTime(milliseconds: UInt64(Int64(now.milliseconds) + milliseconds))
            return try refusal(try attestation(about: 9, by: 1, at: time))
        }
        XCTAssertNil(try shifted(Int64(hour)))
        XCTAssertEqual(try shifted(Int64(hour) + 1), .outdated)
        XCTAssertNil(try shifted(-Int64(hour) * 720))
        XCTAssertEqual(try shifted(-Int64(hour) * 720 - 1), .outdated)
    }

    func testTheEightNewestVouchersCountAndOlderWordsChangeNothing() throws {
        var book = VouchBook()
        var refusals = Tally<VouchRefusal>()
        let trust = try trusting(1, 2, 3, 4, 5, 6, 7, 8, 10)
        func take(_ voucher: UInt8, at time: WallTime) throws {
            let identity = try Samples.identity(voucher, voucher &+ 0x40)
            book.take(
                try XCTUnwrap(VouchBatch.encoded([attestation(about: 9, by: voucher, at: time)])),
                from: identity.fingerprint, key: identity.signing.publicKey, trust: trust, at: now,
                refusals: &refusals)
        }
        for voucher: UInt8 in [1, 2, 3, 4, 5, 6, 7, 8] {
            try take(voucher, at: WallTime(milliseconds: now.milliseconds - 1_000 + UInt64(voucher)))
        }
        let vouchee = try Samples.identity(9, 9 + 0x40).fingerprint
        XCTAssertEqual(book.vouchers(of: vouchee, trust: trust, at: now).count, 8)
        try take(10, at: now)
        let counting = book.vouchers(of: vouchee, trust: trust, at: now)
        XCTAssertEqual(counting.count, 8)
        XCTAssertFalse(counting.contains(try Samples.identity(1, 1 + 0x40).fingerprint))
        try take(10, at: now)
        try take(10, at: WallTime(milliseconds: now.milliseconds - 5))
        XCTAssertEqual(refusals[.olderThanKnown], 2)
        XCTAssertEqual(book.vouchers(of: vouchee, trust: trust, at: now.later(hours: 721)), [])
    }

    func testABatchHoldsTheSixteenVerifiedLastAndComesOnceADay() throws {
        var book = VouchBook()
        let trust = TrustBook(
            try (1...20).flatMap { try trusting(UInt8($0)).records })
        let signing = try Samples.a().signing
        let recipient = try Samples.identity(20, 20 + 0x40).fingerprint
        let body = try XCTUnwrap(book.batch(for: recipient, trust: trust, signing: signing, at: now))
        let attestations = VouchBatch.attestations(in: body)
        XCTAssertEqual(attestations.count, 16)
        let expected = try (4...19).reversed().map {
            try Samples.identity(UInt8($0), UInt8($0) + 0x40).fingerprint.bytes
        }
        XCTAssertEqual(attestations.map(\.fingerprint), expected)
        XCTAssertTrue(attestations.allSatisfy { Verified($0, under: signing.publicKey) != nil })
        XCTAssertNil(book.batch(for: recipient, trust: trust, signing: signing, at: now.later(hours: 23)))
        XCTAssertNotNil(book.batch(for: recipient, trust: trust, signing: signing, at: now.later(hours: 24)))
        let stranger = try Samples.identity(30, 70).fingerprint
        XCTAssertNil(book.batch(for: stranger, trust: trust, signing: signing, at: now))
    }
}
