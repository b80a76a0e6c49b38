import Crypto
import EventLoop
import Foundation
import TestSupport
import XCTest

@testable import Vault

/// A wipe's files on disks that do not help.
final class TroubledDiskTests: XCTestCase {
    private var folder = ""
    private var mounts: [String] = []

    override func setUpWithError() throws { folder = try makeFolder() }
    override func tearDown() {
        for place in mounts.reversed() { _ = try? run("umount", ["-l", place]) }
        try? FileManager.default.removeItem(atPath: folder)
    }

    private func run(_ program: String, _ arguments: [String]) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/" + program)
        process.arguments = arguments
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// A disk of its own; mounts need root.
    private func disk(_ name: String, _ options: String) throws -> String {
        try XCTSkipUnless(geteuid() == 0, "only root may mount")
        let place = folder + "/" + name
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        let status = try run("mount", ["-t", "tmpfs", "-o", options, "bitgate-test", place])
        try XCTSkipUnless(status == 0, "file systems cannot be mounted here")
        mounts.append(place)
        return place
    }

    private func wipe(_ state: String, _ markers: WipeMarkers) -> PanicWipe.Outcome {
        PanicWipe.run(with: StateWipe(.panic, of: state, markers: markers, keeping: [], forgetKeys: {}))
    }

    func testASecondPlaceThatCannotBeWrittenDoesNotMatter() throws {
        let second = try disk("second", "ro")
        let state = folder + "/state"
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        for passing in [folder, second] {
            let markers = WipeMarkers(state: state, second: second, passing: passing)
            XCTAssertEqual(wipe(state, markers), .complete)
            XCTAssertNil(markers.pending)
        }
    }

    func testNoPlaceIsForgottenWhereAnotherRefuses() throws {
        let second = try disk("second", "size=1M")
        let state = folder + "/state"
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        let markers = WipeMarkers(state: state, second: second, passing: folder)
        try markers.write(.panic, inState: false)
        let passing = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("bitgate-") }
        XCTAssertEqual(passing.count, 1)
        XCTAssertEqual(try run("mount", ["-o", "remount,ro", second]), 0)
        XCTAssertThrowsError(try markers.remove(inState: false))
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: folder).filter { passing.contains($0) }, [])
        XCTAssertEqual(markers.pending, .panic)
    }

    func testAFullDiskTakesTheNoteOfAPanicAndOfNothingElse() throws {
        let state = try disk("state", "size=64k,mode=700")
        let filler = open(state + "/filler", O_WRONLY | O_CREAT, 0o600)
        let block = [UInt8](repeating: 7, count: 4_096)
        while write(filler, block, block.count) > 0 {}
        XCTAssertEqual(errno, ENOSPC)
        close(filler)
        let markers = WipeMarkers(state: state, second: folder + "/none")
        XCTAssertThrowsError(try markers.write(.moved, inState: true))
        XCTAssertNil(markers.pending, "or settings that a move spares were lost")
        try markers.write(.panic, inState: true)
        XCTAssertEqual(markers.pending, .panic)
        XCTAssertTrue(markers.isLasting)
        XCTAssertEqual(wipe(state, markers), .complete)
        XCTAssertNil(markers.pending)
    }

    func testWhatStandsInAMarkersPlaceAndIsNoneNotesNothing() throws {
        let markers = WipeMarkers(state: folder, second: folder + "/none")
        let place = folder + "/" + WipeMarkers.stateName
        XCTAssertFalse(markers.isLasting)
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        XCTAssertEqual(markers.pending, .panic, "whoever cannot tell does not go on the air")
        XCTAssertFalse(markers.isLasting)
        try FileManager.default.removeItem(atPath: place)
        try markers.write(.panic, inState: true)
        XCTAssertTrue(markers.isLasting)
    }

    func testAKeyThatMayOnlyBeReadIsOverwrittenAllTheSame() throws {
        let state = folder + "/state"
        try FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
        let key = state + "/" + MasterKey.fileName
        try Data(repeating: 0x6b, count: 32).write(to: URL(fileURLWithPath: key))
        XCTAssertEqual(link(key, folder + "/twin"), 0)
        chmod(key, 0o400)
        // Root may write to everything.
        let isRoot = geteuid() == 0
        if isRoot {
            for path in [folder, state, key] { XCTAssertEqual(chown(path, 65_534, 65_534), 0) }
            XCTAssertEqual(seteuid(65_534), 0)
        }
        defer { if isRoot { XCTAssertEqual(seteuid(0), 0) } }
        XCTAssertEqual(wipe(state, WipeMarkers(state: state, second: folder)), .complete)
        XCTAssertEqual(FileManager.default.contents(atPath: folder + "/twin"), Data(repeating: 0xff, count: 32))
    }

    func testAKeyThatCannotBeOpenedKeepsItsNameAndTheStepFromSucceeding() throws {
        let key = folder + "/key"
        try FileManager.default.createDirectory(atPath: key, withIntermediateDirectories: true)
        XCTAssertThrowsError(try PrivateFile.destroy(key))
        // No file, and so no key.
        for make in [{ symlink("/nowhere", $0) }, { mkfifo($0, 0o600) }] as [(String) -> Int32] {
            let other = folder + "/other"
            XCTAssertEqual(make(other), 0)
            XCTAssertNoThrow(try PrivateFile.destroy(other))
            XCTAssertFalse(FileManager.default.fileExists(atPath: other))
        }
    }
}
