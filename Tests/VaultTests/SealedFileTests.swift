import Basics
import Crypto
import EventLoop
import Foundation
import TestSupport
import XCTest

@testable import Vault

final class SealedFileTests: XCTestCase {
    private var folder = ""
    private var random = SeededRandom(seed: 1)

    override func setUpWithError() throws { folder = try makeFolder() }
    override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

    private func mode(_ path: String) -> mode_t {
        var info = stat()
        return lstat(path, &info) == 0 ? info.st_mode & 0o777 : 0
    }

    func testAMasterKeyIsMadeOnceAndReadBack() throws {
        XCTAssertThrowsError(try MasterKey.load(in: folder)) {
            XCTAssertEqual($0 as? PrivateFile.ReadProblem, .absent)
        }
        let key = try MasterKey.create(in: folder, using: &random)
        XCTAssertEqual(try MasterKey.load(in: folder), key)
        XCTAssertEqual(mode(folder + "/master.key"), 0o600)
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder), ["master.key"])
    }

    func testADamagedMasterKeyIsNotAbsent() throws {
        let path = folder + "/master.key"
        for bytes in [Data(), Data(count: 31), Data(count: 32), Data(repeating: 1, count: 33)] {
            try bytes.write(to: URL(fileURLWithPath: path))
            chmod(path, 0o600)
            XCTAssertThrowsError(try MasterKey.load(in: folder)) {
                XCTAssertNotEqual($0 as? PrivateFile.ReadProblem, .absent)
            }
        }
        try Data(repeating: 1, count: 32).write(to: URL(fileURLWithPath: path))
        chmod(path, 0o640)
        XCTAssertThrowsError(try MasterKey.load(in: folder))
    }

    func testASealedFileOpensOnlyUnderItsKeyAndPurpose() throws {
        let (key, other) = (MasterKey.generate(using: &random), MasterKey.generate(using: &random))
        let path = folder + "/thing"
        let file = SealedFile(path, purpose: "a", masterKey: key)
        let content = SecretBytes.random(count: 96, using: &random)
        XCTAssertThrowsError(try file.read()) { XCTAssertEqual($0 as? SealedFile.Problem, .absent) }
        try file.write(content, using: &random)
        XCTAssertEqual(try file.read(), content)
        XCTAssertEqual(mode(path), 0o600)
        for wrong in [
            SealedFile(path, purpose: "b", masterKey: key), SealedFile(path, purpose: "a", masterKey: other),
        ] {
            XCTAssertThrowsError(try wrong.read()) { XCTAssertEqual($0 as? SealedFile.Problem, .doesNotOpen) }
        }
        XCTAssertEqual(truncate(path, 20), 0)
        XCTAssertThrowsError(try file.read()) { XCTAssertEqual($0 as? SealedFile.Problem, .doesNotOpen) }
    }

    func testADestroyedFileIsOverwrittenBeforeItGoes() throws {
        let path = folder + "/key"
        let twin = folder + "/twin"
        try Data(repeating: 7, count: 5_000).write(to: URL(fileURLWithPath: path))
        XCTAssertEqual(link(path, twin), 0)
        try PrivateFile.destroy(path)
        XCTAssertFalse(FileManager.default.fileExists(atPath: path))
        XCTAssertEqual(FileManager.default.contents(atPath: twin), Data(repeating: 0xff, count: 5_000))
        XCTAssertNoThrow(try PrivateFile.destroy(path), "once more is as good")
    }

    func testReplacingLeavesNothingOfAnAttemptThatWasCutShort() throws {
        let path = folder + "/f"
        _ = FileManager.default.createFile(atPath: path + ".new", contents: Data([9]))
        try PrivateFile.replace(path, [1, 2])
        try PrivateFile.replace(path, [3])
        XCTAssertEqual(FileManager.default.contents(atPath: path), Data([3]))
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder), ["f"])
    }
}
