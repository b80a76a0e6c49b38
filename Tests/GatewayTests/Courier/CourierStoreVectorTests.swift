import Basics
import Crypto
import TestSupport
import Wire
import XCTest

@testable import Gateway

final class CourierStoreVectorTests: XCTestCase {
    /// Kinds of courier.json that concern bytes and keys, which WireTests and CryptoTests run.
    private static let notOurs: Set<String> = [
        "tag", "epoch_day", "candidates", "encode", "encode_reject", "accept", "reject", "expired", "seal",
        "open_reject", "seal_prekey", "open_prekey_reject", "sealed_message",
    ]

    func testScriptsOfTheStore() throws {
        try Vectors("courier_store.json").run { vector in
            guard vector.kind == "script" else { throw vector.unknownKind }
            try run(vector)
        }
    }

    private func run(_ script: VectorCase) throws {
        var store = CourierStore(quota: CourierLimits.phone)
        var now = WallTime(milliseconds: UInt64(try script.int("startUnix")) * 1_000)
        for (number, step) in try script.objects("ops").enumerated() {
            let place = "\(script.name), step \(number)"
            func key(_ member: String) throws -> NoisePublicKey {
                try XCTUnwrap(NoisePublicKey(try step.bytes(member)), place)
            }
            switch try step.string("op") {
            case "deposit":
                guard let envelope = CourierEnvelope(payload: try step.bytes("envelope")) else {
                    XCTAssertFalse(try step.bool("accepted"), place)
                    continue
                }
                let tier = try XCTUnwrap(CourierTier(named: try step.string("tier")), place)
                let isAccepted: Bool
                do {
                    _ = try store.deposit(envelope, from: try key("depositor"), tier: tier, at: now)
                    isAccepted = true
                } catch is CourierRefusal {
                    isAccepted = false
                }
                XCTAssertEqual(isAccepted, try step.bool("accepted"), place)
            case "spray":
                let courier = try key("courier")
                let shares = store.shares(for: courier, at: now)
                XCTAssertEqual(shares.map { $0.envelope.encoded() }, try step.bytesList("envelopes"), place)
                for share in shares { _ = store.gave(share, to: courier) }
            case "remote":
                let pause = UInt64(try step.int("cooldownSeconds")) * 1_000
                let mail = store.speculative(to: try key("peer"), at: now, pause: pause)
                XCTAssertEqual(
                    mail.map { $0.envelope.withCopies(1).encoded() }, try step.bytesList("envelopes"), place)
                for one in mail { _ = store.sentSpeculatively(one.id, at: now) }
            case "handover":
                let mail = store.addressed(to: try key("peer"), at: now)
                XCTAssertEqual(mail.map { $0.envelope.encoded() }, try step.bytesList("envelopes"), place)
                for one in mail { _ = store.handedOver(one.id) }
            case "advance":
                now = WallTime(milliseconds: now.milliseconds + UInt64(try step.int("seconds")) * 1_000)
            default: throw VectorError.unknownKind(try step.string("op"))
            }
            XCTAssertLessThanOrEqual(store.count, 40, place)
        }
    }

    func testDepositsIntoAnEmptyStore() throws {
        try Vectors("courier.json").run { vector in
            switch vector.kind {
            case "deposit": try depositsOne(vector)
            case "deposit_quota": try depositsMany(vector)
            case let kind where Self.notOurs.contains(kind): break
            default: throw vector.unknownKind
            }
        }
    }

    private func depositsOne(_ vector: VectorCase) throws {
        let fields = try vector.object("envelope")
        let envelope = CourierEnvelope(
            recipientTag: try fields.bytes("recipientTag"), expiry: WallTime(milliseconds: try fields.uint64("expiry")),
            ciphertext: try fields.bytes("ciphertext"), copies: try XCTUnwrap(UInt8(exactly: fields.int("copies"))),
            prekeyID: try fields.optionalInt("prekeyID").flatMap { UInt32(exactly: $0) })
        var store = CourierStore(quota: CourierLimits.phone)
        let now = WallTime(milliseconds: try vector.uint64("nowMs"))
        let isAccepted = (try? store.deposit(envelope, from: Correspondent(1).key, tier: .favorite, at: now)) != nil
        XCTAssertEqual(isAccepted, try vector.bool("accepted"), vector.name)
    }

    private func depositsMany(_ vector: VectorCase) throws {
        var store = CourierStore(quota: CourierLimits.phone)
        let tier = try XCTUnwrap(CourierTier(named: try vector.string("tier")))
        let now = Clock.now().wall
        let sequence = try vector.array("sequence")
        let outcomes = sequence.indices.map { number in
            let mail = Correspondent(9).mail(UInt8(number), at: now)
            return (try? store.deposit(mail, from: Correspondent(1).key, tier: tier, at: now)) != nil
        }
        XCTAssertEqual(outcomes, sequence as? [Bool], vector.name)
    }
}

extension CourierTier {
    init?(named name: String) {
        switch name {
        case "favorite": self = .favorite
        case "verified": self = .verified
        default: return nil
        }
    }
}
