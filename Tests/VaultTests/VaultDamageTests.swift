import Basics
import Crypto
import EventLoop
import Foundation
import XCTest

@testable import Vault

/// Files that cannot be read, and disks that take nothing.
final class VaultDamageTests: XCTestCase {
    private func filled() throws -> VaultHarness {
        let box = try VaultHarness()
        for number in 0..<50 { box.put("text \(number)", "k\(number)") }
        box.vault.close()
        return box
    }

    private func assertStartsAfresh(_ box: VaultHarness, line: UInt = #line) {
        XCTAssertEqual(box.vault.counts[.fileSetAside], 1, line: line)
        XCTAssertTrue(FileManager.default.fileExists(atPath: box.path + VaultFile.damagedSuffix), line: line)
        XCTAssertEqual(box.vault.status.records, 0, line: line)
        XCTAssertNil(box.vault.trouble, line: line)
        box.put("new", "n")
        XCTAssertTrue(box.vault.flush(), line: line)
        box.reopen()
        XCTAssertEqual(box.text("n"), "new", line: line)
        XCTAssertEqual(box.vault.counts[.fileSetAside], 0, line: line)
    }

    func testAFileThatIsNoDatabaseIsSetAside() throws {
        let box = try filled()
        try Data(repeating: 0x41, count: 5_000).write(to: URL(fileURLWithPath: box.path))
        box.reopen()
        assertStartsAfresh(box)
    }

    func testADamagedDatabaseIsSetAside() throws {
        let box = try filled()
        let handle = try XCTUnwrap(FileHandle(forUpdatingAtPath: box.path))
        for page in 1..<6 {
            try handle.seek(toOffset: UInt64(page) * UInt64(VaultLimits.pageSize))
            try handle.write(contentsOf: Data(repeating: 0xff, count: 300))
        }
        try handle.close()
        box.reopen()
        assertStartsAfresh(box)
    }

    func testATruncatedDatabaseIsSetAsideOrRead() throws {
        for length in [1, 100, 512, 1_024, 1_500, 4_096] {
            let box = try filled()
            XCTAssertEqual(truncate(box.path, length), 0)
            box.reopen()
            XCTAssertNil(box.vault.trouble, "\(length)")
            box.put("new", "n")
            XCTAssertTrue(box.vault.flush(), "\(length)")
        }
    }

    func testAnEmptyFileIsANewVault() throws {
        let box = try filled()
        XCTAssertEqual(truncate(box.path, 0), 0)
        box.reopen()
        XCTAssertEqual(box.vault.counts[.fileSetAside], 0)
        XCTAssertNil(box.vault.trouble)
    }

    func testAFileOfAnotherMasterKeyIsSetAside() throws {
        let box = try filled()
        var random = SeededRandom(seed: 99)
        box.reopen(key: MasterKey.generate(using: &random))
        XCTAssertEqual(box.vault.counts[.fileSetAside], 1)
        XCTAssertEqual(box.vault.status.records, 0)
    }

    func testADamagedLogCostsNoMoreThanItself() throws {
        let box = try VaultHarness()
        box.put("old", "a")
        box.vault.flush()
        box.crash()
        let log = box.path + "-wal"
        let size = try XCTUnwrap(try FileManager.default.attributesOfItem(atPath: log)[.size] as? Int)
        let handle = try XCTUnwrap(FileHandle(forUpdatingAtPath: log))
        try handle.seek(toOffset: UInt64(size - 500))
        try handle.write(contentsOf: Data(repeating: 0x55, count: 400))
        try handle.close()
        box.reopen()
        XCTAssertNil(box.vault.trouble)
        box.put("new", "b")
        XCTAssertTrue(box.vault.flush())
    }

    /// A version 1 of a file that has since got a column and another table.
    func testAnEarlierVersionIsBroughtUpToDate() throws {
        let box = try filled()
        let later = Schema(
            steps: Schema.current.steps + [
                Schema.Step(eachStore: "ALTER TABLE $ ADD COLUMN mood INTEGER NOT NULL DEFAULT 3"),
                Schema.Step(
                    once: "CREATE TABLE extra (id INTEGER PRIMARY KEY); INSERT INTO extra SELECT id FROM record_1"),
            ], storeTable: Schema.current.storeTable)
        box.reopen(schema: later)
        XCTAssertEqual(box.text("k7"), "text 7")
        XCTAssertEqual(try box.file.database?.integer("PRAGMA user_version"), 3)
        XCTAssertEqual(try box.file.database?.integer("SELECT sum(mood) FROM record_1"), 150)
        XCTAssertEqual(try box.file.database?.integer("SELECT count(*) FROM extra"), 50)
        box.vault.close()
        box.reopen()
        XCTAssertEqual(box.vault.counts[.fileSetAside], 1, "an older program does not touch a newer file")
    }

    func testAMigrationThatFailsChangesNothing() throws {
        let box = try filled()
        let broken = Schema(
            steps: Schema.current.steps + [Schema.Step(once: "CREATE TABLE x (y INTEGER); SELECT nonsense()")],
            storeTable: Schema.current.storeTable)
        box.reopen(schema: broken)
        XCTAssertEqual(box.vault.trouble, .refused)
        box.reopen(schema: .current)
        XCTAssertEqual(box.text("k1"), "text 1")
    }

    func testAFullDiskMeansMemoryUntilThereIsRoom() throws {
        let box = try VaultHarness()
        box.put("early", "a")
        box.vault.flush()
        try box.file.database?.execute("PRAGMA max_page_count = 8")
        var random = SeededRandom(seed: 1)
        for number in 0..<30 {
            box.vault.put(random.bytes(900), for: [UInt8(number)], in: notes)
        }
        box.loop.advance(by: .seconds(3))
        XCTAssertEqual(box.vault.trouble, .diskFull)
        XCTAssertEqual(box.vault.counts[.writeFailed], 1)
        XCTAssertGreaterThan(box.vault.status.waitingBytes, 27_000)
        XCTAssertEqual(box.vault.value(for: [5], in: notes)?.count, 900, "still there to be read")
        XCTAssertEqual(box.text("a"), "early")
        try box.file.database?.execute("PRAGMA max_page_count = 100000")
        box.loop.advance(by: VaultLimits.retry)
        XCTAssertNil(box.vault.trouble)
        XCTAssertEqual(box.vault.status.waitingBytes, 0)
        box.reopen()
        XCTAssertEqual(box.vault.value(for: [5], in: notes)?.count, 900)
    }

    func testAReadOnlyDiskMeansMemory() throws {
        let box = try VaultHarness()
        try box.file.database?.execute("PRAGMA query_only = 1")
        box.put("x", "a")
        XCTAssertFalse(box.vault.flush())
        XCTAssertEqual(box.vault.trouble, .diskFailing)
        XCTAssertEqual(box.text("a"), "x")
        try box.file.database?.execute("PRAGMA query_only = 0")
        XCTAssertTrue(box.vault.flush())
        XCTAssertNil(box.vault.trouble)
    }

    func testMemoryIsBoundedWhileTheDiskTakesNothing() throws {
        let big = VaultStore(number: 1, name: "notes", records: 100_000, bytes: 1 << 30)
        let box = try VaultHarness(stores: [big])
        try box.file.database?.execute("PRAGMA query_only = 1")
        box.vault.put([1], for: [0], in: big)
        box.vault.flush()
        var random = SeededRandom(seed: 1)
        let value = random.bytes(500_000)
        for number in 0..<40 { box.vault.put(value, for: [1, UInt8(number)], in: big) }
        XCTAssertLessThanOrEqual(box.vault.status.waitingBytes, VaultLimits.waitingBytes)
        XCTAssertGreaterThan(box.vault.counts[.refused], 0)
    }

    func testWhereThereCanBeNoFileTheVaultServesFromMemory() throws {
        let loop = EmbeddedLoop()
        var random = SeededRandom(seed: 1)
        let vault = Vault(
            in: "/proc", masterKey: MasterKey.generate(using: &random), stores: [notes], loop: loop,
            random: SeededRandom(seed: 2))
        XCTAssertEqual(vault.trouble, .diskFailing)
        XCTAssertTrue(vault.put([1], for: [1], in: notes))
        loop.advance(by: .minutes(5))
        XCTAssertEqual(vault.value(for: [1], in: notes), [1])
        XCTAssertEqual(vault.records(in: notes).count, 1)
    }

    func testAFileThatCouldNotBeOpenedIsOpenedWhenItCanBe() throws {
        let box = try filled()
        try FileManager.default.moveItem(atPath: box.path, toPath: box.path + ".away")
        try FileManager.default.createDirectory(atPath: box.path, withIntermediateDirectories: false)
        box.reopen()
        XCTAssertEqual(box.vault.trouble, .diskFailing)
        box.put("newer", "k3")
        box.put("fresh", "f")
        box.put("gone", "g")
        box.vault.remove(Array("g".utf8), from: notes)
        for _ in 0..<3 {
            box.loop.advance(by: VaultLimits.retry)
            XCTAssertEqual(box.vault.trouble, .diskFailing)
            XCTAssertEqual(box.text("k3"), "newer")
        }
        try FileManager.default.removeItem(atPath: box.path)
        try FileManager.default.moveItem(atPath: box.path + ".away", toPath: box.path)
        XCTAssertFalse(box.vault.flush(), "not at every occasion")
        box.loop.advance(by: VaultLimits.retry)
        XCTAssertNil(box.vault.trouble)
        for _ in 0..<2 {
            XCTAssertEqual(box.text("k3"), "newer")
            XCTAssertEqual(box.text("k7"), "text 7")
            let order = box.vault.records(in: notes).map { String(decoding: $0.key, as: UTF8.self) }
            XCTAssertEqual(order.count, 51)
            XCTAssertEqual(order.suffix(2), ["k3", "f"], "what is newer comes later")
            XCTAssertEqual(box.vault.status.waitingBytes, 0)
            box.vault.close()
            box.reopen()
        }
    }

    func testAnAbandonedVaultWritesNothingMore() throws {
        let box = try VaultHarness()
        box.put("lost", "a")
        box.vault.abandon()
        let before = box.bytesOnDisk
        box.loop.advance(by: .minutes(20))
        XCTAssertFalse(box.vault.flush())
        XCTAssertFalse(box.vault.put([1], for: [1], in: notes))
        XCTAssertEqual(box.bytesOnDisk, before)
    }
}
