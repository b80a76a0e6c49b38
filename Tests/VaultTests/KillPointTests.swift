import Basics
import Crypto
import EventLoop
import Foundation
import TestSupport
import VaultDriver
import XCTest

@testable import Vault

/// Processes that die in the middle of what they do.
final class KillPointTests: XCTestCase {
    private var folder = ""
    private var second = ""
    private var random = SeededRandom(seed: 20)

    override func setUpWithError() throws { (folder, second) = (try makeFolder(), try makeFolder()) }
    override func tearDown() {
        for path in [folder, second] { try? FileManager.default.removeItem(atPath: path) }
    }

    private func driver(_ arguments: String..., output: FileHandle = .nullDevice) throws -> Process {
        let process = Process()
        process.executableURL = Bundle.main.bundleURL.appendingPathComponent("VaultDriver")
        process.arguments = arguments
        process.standardOutput = output
        process.standardInput = FileHandle.nullDevice
        try process.run()
        return process
    }

    /// Kills a busy vault at a random moment, 200 times over the same file: all that was said to be on the disk is,
    /// nothing is torn, and nothing needs setting aside.
    func testABusyVaultKilledAtRandomMomentsLosesNothingItHadWritten() throws {
        let key = try MasterKey.create(in: folder, using: &random)
        var versions: [UInt16: UInt32] = [:]
        for round in 0..<200 {
            let log = folder + "-out"
            _ = FileManager.default.createFile(atPath: log, contents: nil)
            defer { try? FileManager.default.removeItem(atPath: log) }
            let process = try driver(
                "busy", folder, "\(round)", output: try FileHandle(forWritingTo: URL(fileURLWithPath: log)))
            usleep(UInt32.random(in: 5_000...60_000, using: &random))
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            XCTAssertEqual(process.terminationReason, .uncaughtSignal, "round \(round)")
            for line in try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n") {
                let words = line.split(separator: " ")
                guard words.count == 2, let slot = UInt16(words[0]), let version = UInt32(words[1]) else { continue }
                versions[slot] = version
            }
            try check(key, versions, round: round)
        }
        XCTAssertGreaterThan(versions.count, 100, "the driver got to work")
    }

    private func check(_ key: SecretBytes, _ versions: [UInt16: UInt32], round: Int) throws {
        let vault = Vault(
            in: folder, masterKey: key, stores: [DriverStore.busy], loop: EmbeddedLoop(),
            random: SystemRandomNumberGenerator())
        defer { vault.abandon() }
        XCTAssertNil(vault.trouble, "round \(round)")
        let records = vault.records(in: DriverStore.busy)
        XCTAssertEqual(vault.counts[.recordSetAside] + vault.counts[.fileSetAside], 0, "round \(round)")
        var found: [UInt16: UInt32] = [:]
        for record in records {
            let slot = UInt16(record.key[0]) << 8 | UInt16(record.key[1])
            let version = try XCTUnwrap(DriverStore.version(in: record.value))
            XCTAssertEqual(record.value, DriverStore.value(slot, version), "round \(round)")
            found[slot] = version
        }
        for (slot, version) in versions {
            XCTAssertGreaterThanOrEqual(found[slot] ?? 0, version, "slot \(slot), round \(round)")
        }
    }

    /// What must be gone: keys raw and in hex, and texts as they were put.
    private func fill() throws -> [Data] {
        let key = try MasterKey.create(in: folder, using: &random)
        let identity = SecretBytes.random(count: 96, using: &random)
        try SealedFile(folder + "/identity.sealed", purpose: "identity", masterKey: key).write(
            identity, using: &random)
        let vault = Vault(
            in: folder, masterKey: key, stores: [DriverStore.busy], loop: EmbeddedLoop(),
            random: SystemRandomNumberGenerator())
        for slot in UInt16(0)..<50 {
            vault.put(Array("nickname-of-somebody \(slot)".utf8), for: DriverStore.key(slot), in: DriverStore.busy)
        }
        vault.flush()
        vault.abandon()
        let secret = key.withBytes { Data($0) }
        let sealed = try XCTUnwrap(FileManager.default.contents(atPath: folder + "/identity.sealed"))
        return [
            secret, Data(Hex.encode(secret).utf8), Data(Hex.encode(secret).uppercased().utf8),
            secret.base64EncodedData(), identity.withBytes { Data($0) }, Data("nickname-of-somebody".utf8),
            sealed.suffix(40),
        ]
    }

    func testAWipeKilledAfterAnyStepIsCompletedByTheNext() throws {
        for step in WipeStep.allCases {
            try? FileManager.default.removeItem(atPath: folder + "/" + WipeMarkers.stateName)
            let needles = try fill()
            let killed = try driver("wipe", folder, second, step.rawValue)
            killed.waitUntilExit()
            XCTAssertEqual(killed.terminationReason, .uncaughtSignal, step.rawValue)
            let markers = WipeMarkers(state: folder, second: second)
            let isOver = step == .unmarkConfiguration
            if step != .block { XCTAssertEqual(markers.pending, isOver ? nil : .panic, step.rawValue) }
            if !isOver {
                let again = try driver("wipe", folder, second)
                again.waitUntilExit()
                XCTAssertEqual(again.terminationStatus, 0, step.rawValue)
            }
            XCTAssertNil(markers.pending)
            for (index, needle) in needles.enumerated() {
                XCTAssertNil(filesUnder(folder).range(of: needle), "\(step.rawValue): needle \(index)")
                XCTAssertNil(filesUnder(second).range(of: needle), "\(step.rawValue): needle \(index)")
            }
            let key = try MasterKey.load(in: folder)
            let identity = try SealedFile(folder + "/identity.sealed", purpose: "identity", masterKey: key).read()
            XCTAssertEqual(identity.count, 96)
        }
    }

    func testAWipeKilledAtAnyMomentIsCompletedByTheNext() throws {
        for round in 0..<60 {
            let needles = try fill()
            let whole = needles.filter { (filesUnder(folder) + filesUnder(second)).range(of: $0) != nil }
            XCTAssertGreaterThan(whole.count, 1)
            let killed = try driver("wipe", folder, second)
            usleep(UInt32.random(in: 0...25_000, using: &random))
            kill(killed.processIdentifier, SIGKILL)
            killed.waitUntilExit()
            let markers = WipeMarkers(state: folder, second: second)
            if markers.pending == nil {
                // Not begun, or over: nothing would take up what is half done.
                let files = filesUnder(folder) + filesUnder(second)
                let found = needles.filter { files.range(of: $0) != nil }
                XCTAssertTrue(found.isEmpty || found == whole, "round \(round): \(found.count) of \(whole.count)")
                if found.isEmpty { XCTAssertNoThrow(try MasterKey.load(in: folder)) }
            }
            let again = try driver("wipe", folder, second)
            again.waitUntilExit()
            XCTAssertEqual(again.terminationStatus, 0)
            XCTAssertNil(markers.pending)
            let left = filesUnder(folder) + filesUnder(second)
            for needle in needles { XCTAssertNil(left.range(of: needle), "round \(round)") }
            XCTAssertNoThrow(try MasterKey.load(in: folder))
        }
    }

    /// With no second place and no helper, the name of a marker is all there is room for.
    func testAWipeOfAFullDiskKilledAfterTheKeyIsGoneIsCompletedByTheNext() throws {
        try XCTSkipUnless(geteuid() == 0, "only root may mount")
        let mount = Process()
        mount.executableURL = URL(fileURLWithPath: "/bin/mount")
        mount.arguments = ["-t", "tmpfs", "-o", "size=512k,mode=700", "bitgate-test", folder]
        mount.standardError = FileHandle.nullDevice
        try mount.run()
        mount.waitUntilExit()
        try XCTSkipUnless(mount.terminationStatus == 0, "file systems cannot be mounted here")
        defer { umount2(folder, Int32(MNT_DETACH)) }
        _ = try fill()
        let filler = open(folder + "/filler", O_WRONLY | O_CREAT, 0o600)
        let block = [UInt8](repeating: 7, count: 4_096)
        while write(filler, block, block.count) > 0 {}
        XCTAssertEqual(errno, ENOSPC)
        close(filler)
        let killed = try driver("wipe", folder, second + "/none", WipeStep.destroyKey.rawValue)
        killed.waitUntilExit()
        XCTAssertEqual(killed.terminationReason, .uncaughtSignal)
        XCTAssertFalse(MasterKey.exists(in: folder))
        let markers = WipeMarkers(state: folder, second: second + "/none")
        XCTAssertEqual(markers.pending, .panic)
        let again = try driver("wipe", folder, second + "/none")
        again.waitUntilExit()
        XCTAssertEqual(again.terminationStatus, 0)
        XCTAssertNil(markers.pending)
        XCTAssertNoThrow(try MasterKey.load(in: folder))
    }

    /// Neither in the buffers it was sealed and opened in, nor in what became of those.
    func testASealedSecretLiesNowhereButInItsLockedMemory() throws {
        try XCTSkipIf(
            ProcessInfo.processInfo.environment["ASAN_OPTIONS"] != nil, "a sanitized process may not read all it has")
        let process = try driver("residue", folder)
        process.waitUntilExit()
        XCTAssertEqual(process.terminationStatus, 0)
    }

    /// In a process of its own: secrets of other tests lie in this one's.
    func testEverySecretOfTheProcessIsOverwritten() throws {
        let process = try driver("forget", folder, second)
        process.waitUntilExit()
        XCTAssertEqual(process.terminationStatus, 0)
    }
}
