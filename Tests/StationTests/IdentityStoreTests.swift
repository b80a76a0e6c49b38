import Basics
import Crypto
import Foundation
import TestSupport
import Vault
import XCTest

@testable import Station

final class IdentityStoreTests: XCTestCase {
    private var folder = ""
    private var random = SeededRandom(seed: 1)

    override func setUpWithError() throws {
        folder = try makeFolder()
    }

    override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

    private var sealed: String { folder + "/identity.sealed" }
    private var key: String { folder + "/master.key" }
    private var legacy: String { folder + "/identity" }

    @discardableResult
    private func load() throws(StationFault) -> StationIdentity {
        try IdentityStore(directory: folder).loadOrCreate(using: &random).identity
    }

    /// The refusal, which must name the thing that is wrong and must not have changed anything.
    private func assertRefused(_ words: String, line: UInt = #line) {
        let before = contents()
        do {
            try load()
            XCTFail("started all the same", line: line)
        } catch {
            XCTAssertTrue(error.description.contains(words), error.description, line: line)
            XCTAssertEqual(error.exitStatus, ExitStatus.cannotCreate, line: line)
        }
        XCTAssertEqual(contents(), before, line: line)
    }

    private func contents() -> [String: Data] {
        var files: [String: Data] = [:]
        for name in (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? [] {
            files[name] = FileManager.default.contents(atPath: folder + "/" + name) ?? Data()
        }
        return files
    }

    private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }

    /// Keys as an earlier version left them.
    private func writeLegacy(of identity: StationIdentity) throws {
        try FileManager.default.createDirectory(
            atPath: legacy, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        for (name, secret) in [
            ("noise.key", identity.node.noise.privateKey), ("signing.key", identity.node.signing.seed),
            ("device.seed", identity.deviceSeed.secret),
        ] {
            let path = legacy + "/" + name
            XCTAssertTrue(FileManager.default.createFile(atPath: path, contents: secret.withBytes { Data($0) }))
            chmod(path, 0o600)
        }
    }

    func testTheFirstStartStoresKeysSealedForTheOwnerOnly() throws {
        let old = umask(0)
        defer { umask(old) }
        let identity = try load()
        XCTAssertEqual(try names(), ["identity.sealed", "master.key"])
        for path in [sealed, key] { XCTAssertEqual(mode(path), 0o600) }
        let bytes = contents().values.reduce(Data(), +)
        for secret in [identity.node.noise.privateKey, identity.node.signing.seed, identity.deviceSeed.secret] {
            XCTAssertNil(bytes.range(of: secret.withBytes { Data($0) }))
        }
    }

    func testLaterStartsHaveTheSameIdentity() throws {
        let first = try load()
        XCTAssertTrue(try load().hasSameSecrets(as: first))
    }

    func testAFirstStartThatWasCutShortBeginsAgain() throws {
        _ = try MasterKey.create(in: folder, using: &random)
        _ = FileManager.default.createFile(atPath: sealed + ".new", contents: Data([1, 2]))
        let identity = try load()
        XCTAssertEqual(try names(), ["identity.sealed", "master.key"])
        XCTAssertTrue(try load().hasSameSecrets(as: identity))
    }

    func testAMissingFileIsDamageNotAFirstStart() throws {
        try load()
        unlink(key)
        assertRefused("master.key is missing")
        try FileManager.default.removeItem(atPath: sealed)
        _ = FileManager.default.createFile(atPath: folder + "/vault.db", contents: Data())
        assertRefused("master.key is missing")
        unlink(folder + "/vault.db")
        try load()
        unlink(sealed)
        _ = FileManager.default.createFile(atPath: folder + "/vault.db", contents: Data())
        assertRefused("identity.sealed is missing")
    }

    func testADamagedFileIsRefused() throws {
        try load()
        let good = try XCTUnwrap(FileManager.default.contents(atPath: sealed))
        for bad in [Data(), good.dropLast(), good + Data([0]), Data(repeating: 0, count: good.count)] {
            try bad.write(to: URL(fileURLWithPath: sealed))
            chmod(sealed, 0o600)
            assertRefused("identity.sealed is damaged")
        }
        try good.write(to: URL(fileURLWithPath: sealed))
        chmod(sealed, 0o640)
        assertRefused("open to other users")
        chmod(sealed, 0o600)
        for (bytes, words) in [
            (Data(count: 31), "has 31 bytes"), (Data(count: 33), "larger than 32"), (Data(count: 32), "only zeros"),
            (Data(repeating: 5, count: 32), "was not sealed under"),
        ] {
            try bytes.write(to: URL(fileURLWithPath: key))
            chmod(key, 0o600)
            assertRefused(words)
        }
    }

    func testAnUnreadableFileIsRefused() throws {
        try load()
        try FileManager.default.removeItem(atPath: sealed)
        try FileManager.default.createDirectory(atPath: sealed, withIntermediateDirectories: false)
        assertRefused("not a regular file")
        try FileManager.default.removeItem(atPath: sealed)
        symlink("/dev/zero", sealed)
        assertRefused("identity.sealed")
    }

    // MARK: Keys of earlier versions

    func testTheKeysOfAnEarlierVersionAreTakenOverAndDestroyed() throws {
        let identity = StationIdentity.generate(using: &random)
        try writeLegacy(of: identity)
        let twin = folder + "-twin"
        defer { unlink(twin) }
        XCTAssertEqual(link(legacy + "/noise.key", twin), 0)
        XCTAssertTrue(try load().hasSameSecrets(as: identity))
        XCTAssertEqual(try names(), ["identity.sealed", "master.key"])
        XCTAssertEqual(FileManager.default.contents(atPath: twin), Data(repeating: 0xff, count: 32))
        XCTAssertTrue(try load().hasSameSecrets(as: identity))
    }

    func testATakeoverThatWasCutShortIsCompleted() throws {
        let identity = StationIdentity.generate(using: &random)
        try writeLegacy(of: identity)
        _ = try MasterKey.create(in: folder, using: &random)
        XCTAssertTrue(try load().hasSameSecrets(as: identity), "between master key and seal")
        try writeLegacy(of: identity)
        unlink(legacy + "/noise.key")
        XCTAssertTrue(try load().hasSameSecrets(as: identity), "among the removals")
        XCTAssertEqual(try names(), ["identity.sealed", "master.key"])
    }

    func testDamagedKeysOfAnEarlierVersionAreRefusedByName() throws {
        let identity = StationIdentity.generate(using: &random)
        for name in ["noise.key", "signing.key", "device.seed"] {
            try writeLegacy(of: identity)
            unlink(legacy + "/" + name)
            assertRefused("\(name) is missing")
        }
        for (size, words) in [(0, "has 0 bytes"), (31, "has 31 bytes"), (33, "larger than 32"), (32, "only zeros")] {
            try writeLegacy(of: identity)
            try Data(count: size).write(to: URL(fileURLWithPath: legacy + "/signing.key"))
            chmod(legacy + "/signing.key", 0o600)
            assertRefused(words)
        }
        try writeLegacy(of: identity)
        chmod(legacy, 0o750)
        assertRefused("open to other users")
        try FileManager.default.removeItem(atPath: legacy)
        _ = FileManager.default.createFile(atPath: legacy, contents: Data())
        assertRefused("not a directory")
    }

    // MARK: Other machines

    func testKeysThatBelongToAnotherMachineAreNotUsed() throws {
        func marks(_ machine: UInt8?, _ board: UInt8?) -> HostMarks {
            HostMarks(marks: [machine, board, nil].map { $0.map { [UInt8](repeating: $0, count: 32) } })
        }
        let store = IdentityStore(directory: folder)
        func isMoved(_ host: HostMarks) throws -> Bool {
            guard case .movedHere = try store.loadOrCreate(for: host, using: &random) else { return false }
            return true
        }
        XCTAssertFalse(try isMoved(marks(1, 2)))
        XCTAssertFalse(try isMoved(marks(1, 2)))
        XCTAssertFalse(try isMoved(marks(1, nil)), "what cannot be told proves nothing")
        XCTAssertFalse(try isMoved(.any))
        XCTAssertTrue(try isMoved(marks(9, 2)))
        XCTAssertTrue(try isMoved(marks(1, 9)))
        XCTAssertTrue(try isMoved(marks(nil, 9)))
    }

    func testThisMachineIsItself() {
        XCTAssertFalse(HostMarks.current.isOtherMachine(than: .current))
    }

    // MARK: The directory

    func testASecondProcessOnTheSameStateIsRefused() throws {
        let first = try StateDirectory(folder)
        XCTAssertThrowsError(try StateDirectory(folder)) {
            XCTAssertEqual(($0 as? StationFault)?.exitStatus, ExitStatus.tryLater)
        }
        withExtendedLifetime(first) {}
    }

    func testTheLockEndsWithItsHolder() throws {
        do {
            let first = try StateDirectory(folder)
            withExtendedLifetime(first) {}
        }
        XCTAssertNoThrow(try StateDirectory(folder))
    }

    func testAStateDirectoryOpenToOthersIsRefused() throws {
        chmod(folder, 0o755)
        XCTAssertThrowsError(try StateDirectory(folder)) {
            XCTAssertTrue("\($0)".contains("accessible to other users"), "\($0)")
        }
        XCTAssertThrowsError(try StateDirectory(folder + "/a/b")) {
            XCTAssertTrue("\($0)".contains("No such file"), "\($0)")
        }
    }
}

func mode(_ path: String) -> mode_t {
    var info = stat()
    return lstat(path, &info) == 0 ? info.st_mode & 0o777 : 0
}
