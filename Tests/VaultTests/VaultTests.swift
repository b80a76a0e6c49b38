import Basics
import Crypto
import EventLoop
import Foundation
import XCTest

@testable import Vault

final class VaultTests: XCTestCase {
    func testWhatWasPutIsThereAfterARestart() throws {
        let box = try VaultHarness()
        box.put("hello", "a")
        box.put("world", "b")
        box.put("other", "a", in: letters)
        XCTAssertEqual(box.text("a"), "hello", "before it is written")
        XCTAssertTrue(box.vault.flush())
        box.reopen()
        XCTAssertEqual(box.text("a"), "hello")
        XCTAssertEqual(box.text("a", in: letters), "other")
        XCTAssertNil(box.text("c"))
        XCTAssertEqual(
            box.vault.records(in: notes),
            [
                VaultRecord(key: Array("a".utf8), value: Array("hello".utf8)),
                VaultRecord(key: Array("b".utf8), value: Array("world".utf8)),
            ])
    }

    func testAPowerCutCostsTwoSecondsAtMost() throws {
        let box = try VaultHarness()
        box.put("kept", "a")
        box.loop.advance(by: VaultLimits.horizon)
        box.put("lost", "b")
        box.loop.advance(by: .milliseconds(1_999))
        box.reopen()
        XCTAssertEqual(box.text("a"), "kept")
        XCTAssertNil(box.text("b"))
    }

    func testChangesAreWrittenTogether() throws {
        let box = try VaultHarness()
        for number in 0..<50 {
            box.put("\(number)", "k\(number)")
            box.loop.advance(by: .milliseconds(30))
        }
        box.loop.advance(by: .seconds(10))
        XCTAssertEqual(box.vault.counts[.written], 1)
        XCTAssertNil(box.loop.nextDeadline, "an idle vault wakes nobody")
    }

    func testWhatCanWaitGoesWithTheNextThatCannot() throws {
        let box = try VaultHarness()
        box.vault.put([1], for: [2], in: notes, within: VaultLimits.gathered)
        box.put("now", "b")
        box.loop.advance(by: VaultLimits.horizon)
        XCTAssertEqual(box.vault.counts[.written], 1)
        box.reopen()
        XCTAssertEqual(box.vault.records(in: notes).map(\.key), [[2], Array("b".utf8)])
    }

    func testWhatIsOnlyForgottenWaitsForItsOwnTime() throws {
        let box = try VaultHarness()
        for key in UInt8(0)..<3 { box.vault.put([key], for: [key], in: notes) }
        box.loop.advance(by: VaultLimits.horizon)
        box.vault.remove([0], from: notes, within: VaultLimits.relaxed)
        box.loop.advance(by: .minutes(20))
        box.vault.remove([1], from: notes, within: VaultLimits.relaxed)
        box.put("now", "b")
        box.loop.advance(by: .minutes(9))
        XCTAssertEqual(box.vault.counts[.written], 2)
        XCTAssertEqual(try box.file.database?.integer("SELECT count(*) FROM record_1"), 4)
        box.loop.advance(by: .minutes(1))
        XCTAssertEqual(box.vault.counts[.written], 3)
        XCTAssertEqual(try box.file.database?.integer("SELECT count(*) FROM record_1"), 2)
        XCTAssertNil(box.loop.nextDeadline)
    }

    /// What is forgotten is not kept in memory without a bound, and what one write takes stays small.
    func testSoMuchThatIsOnlyForgottenIsWrittenBeforeItsTime() throws {
        let box = try VaultHarness(stores: [VaultStore(number: 1, name: "notes", records: 2_000, bytes: 1 << 20)])
        let limit = VaultLimits.relaxedRecords
        for key in 0..<(2 * limit) { box.put("text", "\(key)") }
        box.loop.advance(by: VaultLimits.horizon)
        for key in 0..<(limit - 1) { box.vault.remove(Array("\(key)".utf8), from: notes, within: VaultLimits.relaxed) }
        box.loop.advance(by: .minutes(1))
        XCTAssertEqual(box.vault.counts[.written], 1)
        box.vault.remove(Array("\(limit)".utf8), from: notes, within: VaultLimits.relaxed)
        box.loop.advance(by: .zero)
        XCTAssertEqual(box.vault.counts[.written], 2)
        XCTAssertEqual(try box.file.database?.integer("SELECT count(*) FROM record_1"), Int64(limit))
        XCTAssertNil(box.loop.nextDeadline)
    }

    /// A message that is only remembered before it was ever written must be remembered on the disk all the same.
    func testAChangeThatCanWaitDoesNotPutOffOneThatCannot() throws {
        let box = try VaultHarness()
        box.put("message", "a")
        box.vault.put([7], for: Array("a".utf8), in: notes, within: VaultLimits.relaxed)
        box.loop.advance(by: VaultLimits.horizon)
        box.reopen()
        XCTAssertEqual(box.vault.value(for: Array("a".utf8), in: notes), [7])
    }

    func testAReplacedRecordIsOneRecord() throws {
        let box = try VaultHarness()
        for number in 0..<5 {
            box.put("version \(number)", "a")
            box.vault.flush()
        }
        box.reopen()
        XCTAssertEqual(box.text("a"), "version 4")
        XCTAssertEqual(box.vault.status.records, 1)
        XCTAssertEqual(try box.file.database?.integer("SELECT count(*) FROM record_1"), 1)
    }

    func testWhatIsRemovedIsGone() throws {
        let box = try VaultHarness()
        box.put("one", "a")
        box.put("two", "b")
        box.vault.flush()
        box.vault.remove(Array("a".utf8), from: notes)
        XCTAssertNil(box.text("a"))
        box.put("three", "c")
        box.vault.remove(Array("c".utf8), from: notes)
        box.vault.flush()
        box.reopen()
        XCTAssertNil(box.text("a"))
        XCTAssertNil(box.text("c"))
        box.vault.removeAll(from: notes)
        box.vault.flush()
        box.reopen()
        XCTAssertEqual(box.vault.records(in: notes), [])
    }

    func testNothingReadableIsOnTheDisk() throws {
        let box = try VaultHarness()
        let text = String(repeating: "meet at the lantern ", count: 40)
        box.put(text, "lookup-key")
        box.vault.flush()
        for needle in ["meet at the lantern", "lookup-key"] {
            XCTAssertNil(box.bytesOnDisk.range(of: Data(needle.utf8)), needle)
        }
        XCTAssertNil(box.bytesOnDisk.range(of: box.key.withBytes { Data($0) }))
        XCTAssertLessThan(box.vault.status.bytes, 200, "compressed before it was sealed")
    }

    func testTheFileIsForTheOwnerOnly() throws {
        let old = umask(0)
        defer { umask(old) }
        let box = try VaultHarness()
        box.put("x", "a")
        box.vault.flush()
        for name in try FileManager.default.contentsOfDirectory(atPath: box.folder) {
            var info = stat()
            XCTAssertEqual(lstat(box.folder + "/" + name, &info), 0)
            XCTAssertEqual(info.st_mode & 0o777, 0o600, name)
        }
    }

    func testARecordMovedToAnotherRowOrStoreDoesNotOpen() throws {
        for sql in [
            "UPDATE record_1 SET row = (SELECT row FROM record_1 WHERE id = 2) WHERE id = 1; "
                + "DELETE FROM record_1 WHERE id = 2",
            "INSERT INTO record_2 SELECT * FROM record_1 WHERE id = 1; DELETE FROM record_1 WHERE id = 1",
        ] {
            let box = try VaultHarness()
            box.put("one", "a")
            box.put("two", "b")
            try box.tamper(sql)
            XCTAssertNil(box.text("a"))
            _ = box.vault.records(in: notes) + box.vault.records(in: letters)
            XCTAssertEqual(box.vault.counts[.recordSetAside], 1, sql)
        }
    }

    func testARecordOfAnotherFormatVersionDoesNotOpen() throws {
        let box = try VaultHarness()
        box.put("one", "a")
        try box.tamper("UPDATE record_1 SET sealed = CAST(x'02' || substr(sealed, 2) AS BLOB)")
        XCTAssertNil(box.text("a"))
    }

    func testADamagedRecordIsSetAsideAndTheRestServes() throws {
        let box = try VaultHarness()
        for number in 0..<10 { box.put("text \(number)", "k\(number)") }
        try box.tamper("UPDATE record_1 SET sealed = CAST(substr(sealed, 1, 40) || x'00' AS BLOB) WHERE id = 4")
        XCTAssertEqual(box.vault.records(in: notes).count, 9)
        XCTAssertEqual(box.vault.counts[.recordSetAside], 1)
        XCTAssertEqual(try box.file.database?.integer("SELECT count(*) FROM quarantine"), 1)
        XCTAssertNil(box.vault.trouble)
        box.put("again", "k3")
        box.vault.flush()
        box.reopen()
        XCTAssertEqual(box.text("k3"), "again")
        XCTAssertEqual(box.vault.records(in: notes).count, 10)
    }

    func testTheQuarantineIsBounded() throws {
        let many = VaultStore(number: 1, name: "notes", records: 1_000, bytes: 1 << 20)
        let box = try VaultHarness(stores: [many])
        for number in 0..<200 { box.put("text", "k\(number)", in: many) }
        try box.tamper("UPDATE record_1 SET sealed = CAST(x'01' AS BLOB)")
        XCTAssertEqual(box.vault.records(in: many), [])
        XCTAssertEqual(try box.file.database?.integer("SELECT count(*) FROM quarantine"), VaultLimits.quarantined)
    }

    func testEveryFlippedByteOfASealedRecordIsNoticed() {
        var random = SeededRandom(seed: 3)
        let cipher = StoreCipher(store: "s", masterKey: MasterKey.generate(using: &random))
        let row = cipher.row(of: [1])
        let sealed = cipher.seal(Array("a record".utf8), row: row, nonce: random.bytes(24))
        XCTAssertEqual(cipher.open(sealed, row: row), Array("a record".utf8))
        for index in sealed.indices {
            var bad = sealed
            bad[index] ^= 1
            XCTAssertNil(cipher.open(bad, row: row))
            XCTAssertNil(cipher.open(Array(sealed.prefix(index)), row: row))
        }
        XCTAssertNil(cipher.open(sealed + [0], row: row))
        XCTAssertNil(cipher.open(sealed, row: cipher.row(of: [2])))
    }

    func testTheSameKeyHasAnotherRowInEveryStoreAndUnderEveryMaster() {
        var random = SeededRandom(seed: 3)
        let (one, two) = (MasterKey.generate(using: &random), MasterKey.generate(using: &random))
        let rows = [("a", one), ("b", one), ("a", two)].map { StoreCipher(store: $0, masterKey: $1).row(of: [1, 2]) }
        XCTAssertEqual(Set(rows).count, 3)
    }

    func testPackingComesBack() {
        var random = SeededRandom(seed: 5)
        for size in [0, 1, 5, 6, 100, 1_000, 70_000] {
            for content in [random.bytes(size), [UInt8](repeating: 7, count: size)] {
                let packed = RecordPacking.pack(content)
                XCTAssertEqual(RecordPacking.unpack(packed), content)
                XCTAssertLessThanOrEqual(packed.count, content.count + 1)
            }
        }
        XCTAssertLessThan(RecordPacking.pack([UInt8](repeating: 7, count: 1_000)).count, 50)
        for bad: [UInt8] in [[], [2, 0], [1], [1, 0, 0, 0], [1, 255, 255, 255, 255, 0], [1, 0, 0, 0, 9, 0]] {
            XCTAssertNil(RecordPacking.unpack(bad), "\(bad)")
        }
    }

    func testWhatIsTooLargeIsRefused() throws {
        let box = try VaultHarness()
        XCTAssertFalse(box.vault.put([UInt8](repeating: 0, count: VaultLimits.recordSize), for: [1], in: notes))
        XCTAssertFalse(box.vault.put([1], for: [UInt8](repeating: 0, count: 256), in: notes))
        let unknown = VaultStore(number: 7, name: "x", records: 1, bytes: 1)
        XCTAssertFalse(box.vault.put([1], for: [1], in: unknown))
        XCTAssertEqual(box.vault.counts[.refused], 3)
    }

    func testAFullStoreLetsGoOfTheLowestClassFirstThenTheOldest() throws {
        let small = VaultStore(number: 1, name: "notes", records: 4, bytes: 1 << 20)
        let box = try VaultHarness(stores: [small])
        func put(_ key: UInt8, _ evictionClass: UInt8) {
            box.vault.put([key], for: [key], in: small, evictionClass: evictionClass)
        }
        put(1, 1)
        put(2, 0)
        put(3, 0)
        put(4, 1)
        put(5, 1)
        XCTAssertEqual(box.vault.records(in: small).map { $0.key[0] }, [1, 3, 4, 5])
        put(6, 1)
        put(7, 1)
        XCTAssertEqual(box.vault.records(in: small).map { $0.key[0] }, [4, 5, 6, 7])
        XCTAssertEqual(box.vault.counts[.evicted], 3)
        box.vault.flush()
        box.reopen()
        XCTAssertEqual(box.vault.records(in: small).map { $0.key[0] }, [4, 5, 6, 7])
    }

    func testTheBytesOfAStoreAreBoundedToo() throws {
        let small = VaultStore(number: 1, name: "notes", records: 1_000, bytes: 10_000)
        let box = try VaultHarness(stores: [small])
        var random = SeededRandom(seed: 1)
        for key in UInt8(0)..<100 { box.vault.put(random.bytes(500), for: [key], in: small) }
        XCTAssertLessThanOrEqual(box.vault.status.bytes, 10_000)
        XCTAssertEqual(box.vault.records(in: small).last?.key, [99])
    }

    func testMemoryOnlyWritesNoFile() throws {
        let loop = EmbeddedLoop()
        var random = SeededRandom(seed: 1)
        let vault = Vault(
            in: nil, masterKey: MasterKey.generate(using: &random), stores: [notes], loop: loop,
            random: SeededRandom(seed: 2))
        vault.put([1, 2], for: [1], in: notes)
        loop.advance(by: .seconds(5))
        XCTAssertEqual(vault.value(for: [1], in: notes), [1, 2])
        XCTAssertFalse(vault.status.isPersistent)
        XCTAssertEqual(vault.status.writtenToday, 0)
        XCTAssertNil(vault.status.trouble)
    }

    func testTheLedgerForgetsAfterADay() {
        var ledger = WriteLedger()
        let start = Instant.zero + .hours(100)
        ledger.add(100, at: start)
        ledger.add(10, at: start + .hours(20))
        XCTAssertEqual(ledger.lastDay(at: start + .hours(23)), 110)
        XCTAssertEqual(ledger.lastDay(at: start + .hours(24)), 10)
        XCTAssertEqual(ledger.lastDay(at: start + .hours(500)), 0)
        XCTAssertEqual(ledger.total, 110)
    }
}
