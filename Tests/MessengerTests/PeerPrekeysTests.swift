import Basics
import Crypto
import TestSupport
import Wire
import XCTest

@testable import Messenger

final class PeerPrekeysTests: XCTestCase {
    func testPrekeysOfOthersAreKeptAndSpentAsTheReferenceDoes() throws {
        try Vectors("prekey_store.json").run { vector in
            guard vector.kind == "script" else { throw vector.unknownKind }
            var store = PeerPrekeys()
            var now = WallTime(milliseconds: UInt64(try vector.int("startUnix")) * 1_000)
            var owners: Set<[UInt8]> = []
            for (index, operation) in try vector.objects("ops").enumerated() {
                let name = "\(vector.name) step \(index)"
                switch try operation.string("op") {
                case "ingest":
                    let bundle = try XCTUnwrap(PrekeyBundle(payload: operation.bytes("bundle")), name)
                    owners.insert(bundle.noisePublicKey)
                    XCTAssertEqual(store.store(bundle) != .outdated, try operation.bool("stored"), name)
                case "assign":
                    let owner = try XCTUnwrap(NoisePublicKey(operation.bytes("recipient")))
                    let prekey = store.prekey(for: try operation.string("messageID"), to: owner, at: now)
                    XCTAssertEqual(prekey.map { Int($0.id) }, try operation.optionalInt("prekeyID"), name)
                    XCTAssertEqual(prekey?.publicKey, try operation.optionalBytes("publicKey"), name)
                case "usable":
                    let owner = try XCTUnwrap(NoisePublicKey(operation.bytes("recipient")))
                    XCTAssertEqual(store.canSeal(to: owner, at: now), try operation.bool("usable"), name)
                case "advance": now = now.later(milliseconds: UInt64(try operation.int("seconds")) * 1_000)
                case let other: throw VectorError.unknownKind(other)
                }
            }
            let owner = try vector.bytes("owner")
            XCTAssertTrue(owners.isEmpty || owners.contains(owner), vector.name)
        }
    }

    private func bundle(_ owner: NoisePublicKey, ids: [UInt32] = [1, 2], at time: WallTime) -> PrekeyBundle {
        PrekeyBundle(
            noisePublicKey: owner.bytes,
            prekeys: ids.map { PrekeyBundle.Prekey(id: $0, publicKey: Samples.bytes(UInt8($0))) }, generatedAt: time,
            signature: [])
    }

    private func owner(_ number: UInt8) -> NoisePublicKey {
        guard let key = NoisePublicKey([number] + Samples.bytes(0x40).dropFirst()) else { fatalError("32 bytes") }
        return key
    }

    func testABundleServesForSevenDaysAndADateAheadIsFresh() {
        var store = PeerPrekeys()
        XCTAssertEqual(store.store(bundle(owner(1), at: Samples.time)), .kept(forgotten: nil))
        XCTAssertTrue(store.canSeal(to: owner(1), at: WallTime(milliseconds: 0)))
        XCTAssertTrue(store.canSeal(to: owner(1), at: Samples.time.later(hours: 168)))
        XCTAssertFalse(store.canSeal(to: owner(1), at: Samples.time.later(hours: 168, milliseconds: 1)))
        XCTAssertNil(store.prekey(for: "m", to: owner(1), at: Samples.time.later(hours: 169)))
    }

    func testAtMostTwoHundredOwnersAreKeptAndTheLongestUnchangedGoesFirst() {
        var store = PeerPrekeys()
        for number in UInt8(0)..<200 {
            XCTAssertEqual(store.store(bundle(owner(number), at: Samples.time)), .kept(forgotten: nil))
        }
        let newer = bundle(owner(0), at: Samples.time.later(hours: 1))
        XCTAssertEqual(store.store(newer), .kept(forgotten: nil))
        XCTAssertEqual(store.store(newer), .outdated)
        XCTAssertEqual(store.store(bundle(owner(200), at: Samples.time)), .kept(forgotten: owner(1)))
        XCTAssertEqual(store.count, 200)
        XCTAssertTrue(store.canSeal(to: owner(0), at: Samples.time))
        XCTAssertFalse(store.canSeal(to: owner(1), at: Samples.time))
        XCTAssertTrue(store.canSeal(to: owner(200), at: Samples.time))
    }

    func testUseSurvivesARestart() throws {
        var store = PeerPrekeys()
        XCTAssertEqual(store.store(bundle(owner(1), at: Samples.time)), .kept(forgotten: nil))
        XCTAssertEqual(store.store(bundle(owner(2), at: Samples.time)), .kept(forgotten: nil))
        XCTAssertEqual(store.prekey(for: "m", to: owner(1), at: Samples.time)?.id, 1)
        var restored = PeerPrekeys()
        restored.restore(store.records)
        XCTAssertEqual(restored.records, store.records)
        XCTAssertEqual(restored.prekey(for: "m", to: owner(1), at: Samples.time)?.id, 1)
        XCTAssertEqual(restored.prekey(for: "n", to: owner(1), at: Samples.time)?.id, 2)
        XCTAssertNil(restored.prekey(for: "o", to: owner(1), at: Samples.time))
    }
}
