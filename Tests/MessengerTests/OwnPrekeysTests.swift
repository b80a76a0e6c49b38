import Basics
import Crypto
import TestSupport
import Wire
import XCTest

@testable import Messenger

final class OwnPrekeysTests: XCTestCase {
    private var random = SeededRandom(seed: 1)

    func testLifecycleVector() throws {
        try Vectors("prekeys.json").run { vector in
            switch vector.kind {
            case "lifecycle": try self.checkLifecycle(vector)
            default: throw vector.unknownKind
            }
        }
    }

    private func checkLifecycle(_ vector: VectorCase) throws {
        var prekeys = OwnPrekeys()
        let owner = try Samples.b()
        var now = WallTime(milliseconds: 0)
        var consumed: [UInt32: WallTime] = [:]
        var isAskedAgain = false
        for step in try vector.objects("steps") {
            let name = try step.string("step")
            if !step.isNull("available") {
                // The second question comes once more than 48 h have passed since the consumption.
                if isAskedAgain { now = try XCTUnwrap(consumed[0], name).later(hours: 48, milliseconds: 1) }
                isAskedAgain = true
                XCTAssertEqual(prekeys.key(0, at: now) != nil, try step.bool("available"), name)
                continue
            }
            isAskedAgain = false
            now = WallTime(milliseconds: try step.uint64("nowMs"))
            let words = name.split(separator: " ").prefix(2)
            if words.first == "consume", let id = words.last.flatMap({ UInt32($0) }) {
                if consumed[id] == nil { consumed[id] = now }
                _ = prekeys.consume(id, at: now, using: &random)
            } else {
                _ = prekeys.maintain(at: now, using: &random)
            }
            let bundle = try XCTUnwrap(prekeys.bundle(of: owner), name)
            XCTAssertEqual(bundle.prekeys.map { Int($0.id) }, try XCTUnwrap(step.array("ids") as? [Int]), name)
            XCTAssertEqual(bundle.generatedAt.milliseconds, try step.uint64("generatedAt"), name)
            XCTAssertNotNil(Verified(bundle, under: owner.signing.publicKey), name)
        }
    }

    private func fresh() -> OwnPrekeys {
        var prekeys = OwnPrekeys()
        XCTAssertTrue(prekeys.maintain(at: Samples.time, using: &random))
        return prekeys
    }

    private func ids(_ prekeys: OwnPrekeys) throws -> [UInt32] {
        try prekeys.bundle(of: Samples.b())?.prekeys.map(\.id) ?? []
    }

    private func stamp(_ prekeys: OwnPrekeys) throws -> UInt64? {
        try prekeys.bundle(of: Samples.b())?.generatedAt.milliseconds
    }

    /// Chapter 02 §13.6.
    func testWorkedExampleOfABundle() throws {
        let b = try Samples.b()
        var bundle = PrekeyBundle(
            noisePublicKey: b.noise.publicKey.bytes,
            prekeys: [(7, 0x88), (8, 0x89)].map { id, byte in
                PrekeyBundle.Prekey(id: id, publicKey: (try? Samples.key(byte).publicKey.bytes) ?? [])
            }, generatedAt: Samples.time, signature: [])
        bundle.signature = b.signing.sign(try XCTUnwrap(bundle.signedBytes))
        XCTAssertEqual(
            bundle.encoded(),
            hex(
                """
                0100200faa684ed28867b97f4a6a2dee5df8ce974e76b7018e3f22a1c4cf2678570f200200480000000730d3c865a48f
                ceb3d6118577cf2e5f228d6ff69866264757785b253cb7a4806a00000008e01e2df4f6c166cbbc2ba185bee6ab3b51d2
                06f34fb81c5c5d1ff4668581205d0300080000019f5eafb000040040631ae9218bc269e7652e22a11519f194e3439652
                adffc7858c503bcf3225d518cc219f4162c766b045dce284acb4c5a411c803075c13bc3bbd0f3091d5e0c404
                """))
    }

    func testNoBundleIsSignedBeforeThereAreKeys() throws {
        XCTAssertNil(OwnPrekeys().bundle(of: try Samples.b()))
    }

    func testASecondUseChangesNothing() throws {
        var prekeys = fresh()
        let later = Samples.time.later(hours: 1)
        guard case .first = prekeys.consume(3, at: later, using: &random) else { return XCTFail("not first") }
        let stamp = try stamp(prekeys)
        guard case .repeated = prekeys.consume(3, at: later.later(hours: 1), using: &random) else {
            return XCTFail("not repeated")
        }
        XCTAssertEqual(try self.stamp(prekeys), stamp)
        guard case .repeated = prekeys.consume(99, at: later, using: &random) else { return XCTFail("unknown id") }
    }

    func testAnIdleBundleIsDatedAnewBeforeSendersRefuseIt() throws {
        var prekeys = fresh()
        let ids = try ids(prekeys)
        XCTAssertFalse(prekeys.maintain(at: Samples.time.later(hours: 143), using: &random))
        let sixDays = Samples.time.later(hours: 144)
        XCTAssertTrue(prekeys.maintain(at: sixDays, using: &random))
        XCTAssertEqual(try stamp(prekeys), sixDays.milliseconds)
        XCTAssertEqual(try self.ids(prekeys), ids)
    }

    func testABundleThatShrinksByAgeIsDatedAnewToo() throws {
        var prekeys = fresh()
        let day20 = Samples.time.later(hours: 20 * 24)
        for id in UInt32(0)..<6 { _ = prekeys.consume(id, at: day20, using: &random) }
        // Ids 6 and 7 are the first batch's last; 8 to 13 came at day 20.
        XCTAssertEqual(try ids(prekeys), Array(6...13))
        let day30 = Samples.time.later(hours: 30 * 24)
        let before = try XCTUnwrap(stamp(prekeys))
        XCTAssertTrue(prekeys.maintain(at: day30, using: &random))
        XCTAssertEqual(try ids(prekeys), Array(8...13))
        XCTAssertGreaterThan(try XCTUnwrap(stamp(prekeys)), before)
    }

    func testDatesGrowAlsoWhenTheClockGoesBack() throws {
        var prekeys = fresh()
        let before = try XCTUnwrap(stamp(prekeys))
        _ = prekeys.consume(0, at: WallTime(milliseconds: 0), using: &random)
        XCTAssertEqual(try stamp(prekeys), before + 1)
    }

    func testConsumedKeysOpenForTwoDaysAndAreBounded() throws {
        var prekeys = fresh()
        _ = prekeys.consume(0, at: Samples.time, using: &random)
        XCTAssertNotNil(prekeys.key(0, at: Samples.time.later(hours: 48)))
        XCTAssertNil(prekeys.key(0, at: Samples.time.later(hours: 48, milliseconds: 1)))
        for id in UInt32(1)...400 {
            _ = prekeys.consume(id, at: Samples.time.later(milliseconds: UInt64(id)), using: &random)
        }
        XCTAssertNil(prekeys.key(0, at: Samples.time))
        XCTAssertNil(prekeys.key(144, at: Samples.time))
        XCTAssertNotNil(prekeys.key(145, at: Samples.time))
        XCTAssertNotNil(prekeys.key(400, at: Samples.time))
    }

    // MARK: At rest

    func testASnapshotBringsEverythingBack() throws {
        var prekeys = fresh()
        for id in UInt32(0)..<6 { _ = prekeys.consume(id, at: Samples.time.later(hours: 2), using: &random) }
        var restored = try XCTUnwrap(OwnPrekeys(snapshot: prekeys.snapshot))
        XCTAssertEqual(try restored.bundle(of: Samples.b()), try prekeys.bundle(of: Samples.b()))
        XCTAssertEqual(
            restored.key(2, at: Samples.time)?.publicKey, prekeys.key(2, at: Samples.time)?.publicKey)
        XCTAssertEqual(restored.snapshot, prekeys.snapshot)
        XCTAssertNil(restored.key(2, at: Samples.time.later(hours: 51)))
        _ = restored.maintain(at: Samples.time.later(hours: 40 * 24), using: &random)
        XCTAssertEqual(try ids(restored), Array(14...21))
    }

    func testDamagedSnapshotsAreRefused() throws {
        let snapshot = fresh().snapshot.withBytes { [UInt8]($0) }
        for length in 0..<snapshot.count where length != 13 && (length < 13 || (length - 13) % 52 != 0) {
            XCTAssertNil(OwnPrekeys(snapshot: SecretBytes(copying: Array(snapshot.prefix(length)))))
        }
        XCTAssertNil(OwnPrekeys(snapshot: SecretBytes(copying: [2] + snapshot.dropFirst())))
        let twice = snapshot + snapshot.suffix(52)
        XCTAssertNil(OwnPrekeys(snapshot: SecretBytes(copying: twice)))
        // An id the counter has not reached would be given out again.
        var early = snapshot
        early[4] = 3
        XCTAssertNil(OwnPrekeys(snapshot: SecretBytes(copying: early)))
    }

    func testNothingOfItIsPrinted() {
        XCTAssertEqual("\(fresh())", "OwnPrekeys(…)")
    }
}
