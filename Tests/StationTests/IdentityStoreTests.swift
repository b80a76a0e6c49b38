import Basics
import Foundation
import XCTest

@testable import Station

final class IdentityStoreTests: XCTestCase {
    private var folder = ""
    private var random = SeededRandom(seed: 1)

    override func setUpWithError() throws {
        folder = try makeFolder()
    }

    override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

    private var identity: String { folder + "/identity" }

    private func load() throws(StationFault) -> StationIdentity {
        try IdentityStore(parent: folder).loadOrCreate(using: &random)
    }

    /// The refusal, which must name the thing that is wrong and must not have changed anything.
    private func assertRefused(_ words: String, line: UInt = #line) {
        let before = contents()
        do {
            _ = try load()
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

    func testTheFirstStartStoresRawKeysForTheOwnerOnly() throws {
        let identity = try load()
        for (name, secret) in [
            ("noise.key", identity.node.noise.privateKey), ("signing.key", identity.node.signing.seed),
            ("device.seed", identity.deviceSeed.secret),
        ] {
            let path = self.identity + "/" + name
            XCTAssertEqual(FileManager.default.contents(atPath: path), secret.withBytes { Data($0) })
            XCTAssertEqual(mode(path), 0o600)
        }
        XCTAssertEqual(mode(self.identity), 0o700)
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder), ["identity"])
    }

    func testTheUmaskDoesNotMatter() throws {
        let old = umask(0)
        defer { umask(old) }
        _ = try load()
        XCTAssertEqual(mode(identity + "/noise.key"), 0o600)
        XCTAssertEqual(mode(identity), 0o700)
    }

    func testLaterStartsHaveTheSameIdentity() throws {
        let first = try load()
        XCTAssertTrue(try load().hasSameSecrets(as: first))
    }

    func testAFirstStartThatWasCutShortBeginsAgain() throws {
        for step in 0...3 {
            try FileManager.default.createDirectory(atPath: folder + "/identity.new", withIntermediateDirectories: true)
            for name in ["noise.key", "signing.key", "device.seed"].prefix(step) {
                _ = FileManager.default.createFile(atPath: folder + "/identity.new/" + name, contents: Data([1, 2]))
            }
            _ = try load()
            XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder), ["identity"])
            try FileManager.default.removeItem(atPath: identity)
        }
    }

    func testAMissingFileIsDamageNotAFirstStart() throws {
        for name in ["noise.key", "signing.key", "device.seed"] {
            _ = try load()
            try FileManager.default.removeItem(atPath: identity + "/" + name)
            assertRefused("\(name) is missing")
            try FileManager.default.removeItem(atPath: identity)
        }
    }

    func testAFileOfTheWrongSizeIsRefused() throws {
        for (size, words) in [
            (0, "has 0 bytes"), (31, "has 31 bytes"), (33, "larger than 32"), (9_000, "larger than 32"),
        ] {
            _ = try load()
            try Data(repeating: 7, count: size).write(to: URL(fileURLWithPath: identity + "/signing.key"))
            chmod(identity + "/signing.key", 0o600)
            assertRefused(words)
            try FileManager.default.removeItem(atPath: identity)
        }
    }

    func testAFileOfZerosIsRefused() throws {
        _ = try load()
        try Data(repeating: 0, count: 32).write(to: URL(fileURLWithPath: identity + "/device.seed"))
        chmod(identity + "/device.seed", 0o600)
        assertRefused("only zeros")
    }

    func testAnUnreadableFileIsRefused() throws {
        _ = try load()
        let path = identity + "/noise.key"
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        assertRefused("not a regular file")
        try FileManager.default.removeItem(atPath: path)
        symlink("/dev/zero", path)
        assertRefused("noise.key")
        unlink(path)
        mkfifo(path, 0o600)
        assertRefused("not a regular file")
    }

    func testKeysOpenToOthersAreRefused() throws {
        _ = try load()
        chmod(identity + "/noise.key", 0o640)
        assertRefused("open to other users")
        chmod(identity + "/noise.key", 0o600)
        chmod(identity, 0o750)
        assertRefused("open to other users")
    }

    func testAnIdentityThatIsNoDirectoryIsRefused() throws {
        _ = FileManager.default.createFile(atPath: identity, contents: Data())
        assertRefused("not a directory")
    }

    func testAnIdentityThatCannotBeStoredIsNotUsed() throws {
        _ = FileManager.default.createFile(atPath: folder + "/identity.new", contents: Data())
        XCTAssertThrowsError(try load())
        XCTAssertFalse(FileManager.default.fileExists(atPath: identity))
    }

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
            XCTAssertTrue("\($0)".contains("open to other users"), "\($0)")
        }
        XCTAssertThrowsError(try StateDirectory(folder + "/a/b")) {
            XCTAssertTrue("\($0)".contains("No such file"), "\($0)")
        }
    }
}

/// A new directory of mode 0700 for one test.
func makeFolder() throws -> String {
    var template = Array("/tmp/bitgate-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw POSIXError(.EIO) }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
}

func mode(_ path: String) -> mode_t {
    var info = stat()
    return lstat(path, &info) == 0 ? info.st_mode & 0o777 : 0
}
