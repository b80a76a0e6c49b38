import Basics
import EventLoop
import Foundation
import XCTest

/// A wipe where the file system does not help: it must be over in the end, or say that it is not. Mounts need root.
final class WipeUnderTroubleTests: XCTestCase {
    private var scratch: Scratch!
    private var mounts: [String] = []

    override func setUpWithError() throws { scratch = try Scratch() }

    override func tearDown() {
        while let place = mounts.popLast() { _ = try? mount("umount", ["-l", place]) }
        scratch = nil
    }

    private var disk: String { scratch.path + "/disk" }
    private var state: String { disk + "/state" }
    private var socket: String { scratch.path + "/socket" }

    private func configuration(_ more: String = "", state: String? = nil, markers: String? = nil) throws -> String {
        try scratch.write(
            """
            state_directory = "\(state ?? self.state)"
            control_socket = "\(socket)"
            radio.kind = "air"
            air.room = "\(scratch.path)/room"
            panic.marker_directory = "\(markers ?? disk)"
            panic.helper = "none"
            clock.trust_system = true
            network.tor = "off"
            nostr.use_builtin_relays = false
            \(more)
            """, as: "c.toml")
    }

    @discardableResult
    private func mount(_ program: String, _ arguments: [String]) throws -> Int32 {
        let path = ["/usr/bin/", "/bin/"].map { $0 + program }.first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
        return try Programs.start(try XCTUnwrap(path, program), arguments, in: scratch).wait().status
    }

    private func mountDisk() throws {
        try XCTSkipUnless(geteuid() == 0, "only root may mount")
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        let status = try mount("mount", ["-t", "tmpfs", "-o", "size=2M,mode=700", "bitgate-test", disk])
        try XCTSkipUnless(status == 0, "file systems cannot be mounted here")
        mounts.append(disk)
    }

    private func makeReadOnly() throws {
        XCTAssertEqual(try mount("mount", ["--bind", disk, disk]), 0)
        mounts.append(disk)
        XCTAssertEqual(try mount("mount", ["-o", "remount,bind,ro", disk]), 0)
    }

    private func start(_ file: String, program: String? = nil) throws -> Programs.Running {
        let running = try Programs.start(
            program ?? Programs.folder.appendingPathComponent("bitgated").path, ["--config", file], in: scratch)
        XCTAssertTrue(try Programs.eventually { try bitgate("wipe", "--status").status != 69 }, running.errors.text)
        return running
    }

    private func bitgate(_ arguments: String...) throws -> Programs.Outcome {
        try Programs.start(
            Programs.folder.appendingPathComponent("bitgate").path, arguments + ["--socket", socket], in: scratch
        ).wait()
    }

    private func peer() throws -> String? {
        let answer = try bitgate("status", "--json")
        let top = try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any]
        return (top?["status"] as? [String: Any])?["peer"] as? String
    }

    private var room: [String] { (try? FileManager.default.contentsOfDirectory(atPath: scratch.path + "/room")) ?? [] }

    func testAFullDiskDoesNotKeepAWipeFromSucceeding() throws {
        try mountDisk()
        let daemon = try start(try configuration())
        let before = try XCTUnwrap(try peer())
        let key = try XCTUnwrap(FileManager.default.contents(atPath: state + "/master.key"))
        let filler = open(disk + "/filler", O_WRONLY | O_CREAT, 0o600)
        let block = [UInt8](repeating: 7, count: 4_096)
        while write(filler, block, block.count) > 0 {}
        XCTAssertEqual(errno, ENOSPC)
        close(filler)

        let outcome = try bitgate("wipe", "--yes", "destroy")
        XCTAssertEqual(outcome.status, 0, outcome.output + daemon.errors.text)
        XCTAssertNotEqual(try XCTUnwrap(try peer()), before)
        XCTAssertNotEqual(FileManager.default.contents(atPath: state + "/master.key"), key)
        XCTAssertEqual(daemon.stop().status, 0)
    }

    /// The boot partition of many a box, which the configuration may name.
    func testAReadOnlyPlaceForTheSecondMarkerDoesNotKeepAWipeFromSucceeding() throws {
        try mountDisk()
        XCTAssertEqual(try mount("mount", ["-o", "remount,ro", disk]), 0)
        let daemon = try start(try configuration(state: scratch.path + "/state", markers: disk))
        let before = try XCTUnwrap(try peer())
        let outcome = try bitgate("wipe", "--yes", "destroy")
        XCTAssertEqual(outcome.status, 0, outcome.output + daemon.errors.text)
        XCTAssertNotEqual(try XCTUnwrap(try peer()), before)
        XCTAssertEqual(daemon.stop().status, 0)
    }

    func testAConfigurationOfOursOnADiskThatBecameReadOnlyIsNotSaidToBeEmptied() throws {
        try mountDisk()
        let text = try String(
            contentsOfFile: try configuration("nickname = \"the-pub\"", state: scratch.path + "/state"),
            encoding: .utf8)
        let file = disk + "/pub.toml"
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let link = scratch.path + "/current.toml"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file)
        let daemon = try start(link)
        try makeReadOnly()
        let outcome = try bitgate("wipe", "--yes", "destroy")
        XCTAssertEqual(outcome.status, 1, outcome.output + daemon.errors.text)
        XCTAssertTrue(outcome.output.contains("removeTraces"), outcome.output)
        XCTAssertEqual(try mount("umount", ["-l", disk]), 0)
        mounts.removeLast()
        XCTAssertEqual(try bitgate("wipe", "--yes", "destroy").status, 0, daemon.errors.text)
        XCTAssertFalse(try String(contentsOfFile: file, encoding: .utf8).contains("the-pub"))
        XCTAssertEqual(daemon.stop().status, 0)
    }

    /// With everything the daemon's own wipe does, while its helper takes its time.
    func testADaemonKilledInTheMiddleOfAWipeCompletesItAtTheNextStart() throws {
        let folder = scratch.path + "/helper"
        try FileManager.default.createDirectory(atPath: folder + "/ask", withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        let file = try configuration("nickname = \"the-pub\"")
        let text = try String(contentsOfFile: file, encoding: .utf8)
            .replacingOccurrences(of: "panic.helper = \"none\"", with: "panic.helper = \"\(folder)\"")
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        let daemon = try start(file)
        let before = try XCTUnwrap(try peer())
        let asking = try Programs.start(
            Programs.folder.appendingPathComponent("bitgate").path,
            ["wipe", "--yes", "destroy", "--socket", socket], in: scratch)
        defer { _ = asking.stop(SIGKILL) }
        let asked = { FileManager.default.fileExists(atPath: folder + "/ask/clear") }
        XCTAssertTrue(Programs.eventually { asked() }, daemon.errors.text)
        XCTAssertFalse(FileManager.default.fileExists(atPath: state + "/master.key"))
        XCTAssertTrue(FileManager.default.fileExists(atPath: state + "/wiping"))
        XCTAssertTrue(try String(contentsOfFile: file, encoding: .utf8).contains("the-pub"), "half done")
        _ = daemon.stop(SIGKILL)

        let helper = try Programs.start(
            "/bin/sh",
            [
                "-c",
                "while sleep 0.05; do rm -f ask/clear; [ ! -e ask/now ] || { echo ok >outcome; rm ask/now; }; done",
            ],
            in: scratch, folder: folder)
        defer { _ = helper.stop() }
        let next = try start(file)
        XCTAssertTrue(try Programs.eventually { try peer() != nil }, next.errors.text)
        XCTAssertNotEqual(try peer(), before)
        XCTAssertTrue(try bitgate("wipe", "--status").output.hasPrefix("wiped"))
        XCTAssertFalse(FileManager.default.fileExists(atPath: state + "/wiping"))
        XCTAssertFalse(try String(contentsOfFile: file, encoding: .utf8).contains("the-pub"))
        XCTAssertEqual(next.stop().status, 0)
    }

    /// Stopped as the service manager stops it, while the helper takes its time.
    func testAStopDuringAWipeWaitsForItAndIsNotLost() throws {
        let folder = scratch.path + "/helper"
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        for words in ["ok", "the journal"] {
            try? FileManager.default.removeItem(atPath: folder)
            try FileManager.default.createDirectory(atPath: folder + "/ask", withIntermediateDirectories: true)
            let file = try configuration()
            let text = try String(contentsOfFile: file, encoding: .utf8)
                .replacingOccurrences(of: "panic.helper = \"none\"", with: "panic.helper = \"\(folder)\"")
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            let daemon = try start(file)
            let before = try XCTUnwrap(try peer())
            let asking = try Programs.start(
                Programs.folder.appendingPathComponent("bitgate").path,
                ["wipe", "--yes", "destroy", "--socket", socket], in: scratch)
            let asked = { FileManager.default.fileExists(atPath: folder + "/ask/clear") }
            XCTAssertTrue(Programs.eventually { asked() }, daemon.errors.text)
            kill(daemon.process.processIdentifier, SIGTERM)
            let helper = try Programs.start(
                "/bin/sh",
                [
                    "-c",
                    """
                    while sleep 0.05; do
                        rm -f ask/clear
                        [ ! -e ask/now ] || { echo \(words) >outcome; rm ask/now; }
                    done
                    """,
                ],
                in: scratch, folder: folder)
            XCTAssertEqual(daemon.wait().status, words == "ok" ? 0 : 1, daemon.errors.text)
            _ = asking.stop(SIGKILL)
            XCTAssertEqual(FileManager.default.fileExists(atPath: state + "/wiping"), words != "ok")
            XCTAssertEqual(room, [])
            let next = try start(file)
            if words == "ok" {
                XCTAssertNotEqual(try XCTUnwrap(try peer()), before)
            } else {
                XCTAssertEqual(try bitgate("wipe", "--status").status, 1)
            }
            XCTAssertEqual(next.stop().status, words == "ok" ? 0 : 1)
            _ = helper.stop()
        }
    }

    /// The one that knows has to stay, then, and to say why.
    func testAWipeAfterWhichNoFreshProcessCanBeMadeSaysSo() throws {
        let program = scratch.path + "/bitgated"
        try FileManager.default.copyItem(
            atPath: Programs.folder.appendingPathComponent("bitgated").path, toPath: program)
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        let file = try configuration("nickname = \"the-pub\"")
        let daemon = try start(file, program: program)
        let marker = "/bitgate-wiping-" + Hex.encode(SHA256.hash(Array(state.utf8)).prefix(4)) + ".new"
        let obstacles = [file + ".new", state + "/wiping.new", disk + marker, scratch.path + marker]
        for path in obstacles {
            // Deeper than a wipe goes.
            try FileManager.default.createDirectory(
                atPath: path + String(repeating: "/x", count: 12), withIntermediateDirectories: true)
        }
        chmod(program, 0o600)
        let outcome = try bitgate("wipe", "--yes", "destroy")
        XCTAssertEqual(outcome.status, 1, daemon.errors.text)
        XCTAssertTrue(outcome.output.contains("clearMemory: /proc/self/exe: execv"), outcome.output)
        XCTAssertTrue(outcome.output.contains("destroy the card"), outcome.output)
        XCTAssertEqual(room, [])
        XCTAssertEqual(try bitgate("status").status, 76)
        chmod(program, 0o700)
        for path in obstacles { try FileManager.default.removeItem(atPath: path) }
        XCTAssertEqual(try bitgate("wipe", "--yes", "destroy").status, 0, daemon.errors.text)
        XCTAssertNotNil(try peer())
        XCTAssertEqual(daemon.stop().status, 0)
    }

    func testOnAReadOnlyDiskAWipeFailsAndTheRadioStaysOffThroughANewProcess() throws {
        try mountDisk()
        let file = try configuration()
        let daemon = try start(file)
        let before = try XCTUnwrap(try peer())
        XCTAssertFalse(room.isEmpty)
        try makeReadOnly()

        let outcome = try bitgate("wipe", "--yes", "destroy")
        XCTAssertEqual(outcome.status, 1, outcome.output + daemon.errors.text)
        XCTAssertTrue(outcome.output.contains("INCOMPLETE"), outcome.output)
        XCTAssertTrue(outcome.output.contains("destroyKey"), outcome.output)
        XCTAssertEqual(room, [])
        XCTAssertTrue(daemon.process.isRunning)
        _ = daemon.stop(SIGKILL)

        let second = try start(file)
        XCTAssertEqual(try bitgate("wipe", "--status").status, 1, "a new process knows of it")
        XCTAssertEqual(room, [])

        XCTAssertEqual(try mount("umount", ["-l", disk]), 0)
        mounts.removeLast()
        XCTAssertEqual(try bitgate("wipe", "--yes", "destroy").status, 0, second.errors.text)
        XCTAssertNotEqual(try XCTUnwrap(try peer()), before)
        XCTAssertEqual(second.stop().status, 0)
    }

    func testWithoutANetworkAWipeIsTheSame() throws {
        try XCTSkipUnless(geteuid() == 0, "only root may leave the network")
        let file = try configuration()
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        let unshare = "/usr/bin/unshare"
        try XCTSkipUnless(FileManager.default.isExecutableFile(atPath: unshare), "there is no unshare")
        let daemon = try Programs.start(
            unshare, ["--net", Programs.folder.appendingPathComponent("bitgated").path, "--config", file], in: scratch)
        XCTAssertTrue(try Programs.eventually { try bitgate("status").status == 0 }, daemon.errors.text)
        let before = try XCTUnwrap(try peer())
        XCTAssertEqual(try bitgate("wipe", "--yes", "destroy").status, 0, daemon.errors.text)
        XCTAssertNotEqual(try XCTUnwrap(try peer()), before)
        XCTAssertEqual(daemon.stop().status, 0)
    }

    func testTheHelperOfTheSystemIsAskedAndWhatItLeavesIsAFailure() throws {
        let folder = scratch.path + "/helper"
        try FileManager.default.createDirectory(atPath: folder + "/ask", withIntermediateDirectories: true)
        let file = try configuration()
        let text = try String(contentsOfFile: file, encoding: .utf8)
            .replacingOccurrences(of: "panic.helper = \"none\"", with: "panic.helper = \"\(folder)\"")
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        try FileManager.default.createDirectory(atPath: disk, withIntermediateDirectories: true)
        // In the place of systemd and its root helpers.
        _ = try scratch.write("the journal\n", as: "words")
        let helper = try Programs.start(
            "/bin/sh",
            [
                "-c",
                """
                while sleep 0.05; do
                    rm -f ask/clear
                    [ ! -e ask/now ] || { sleep 0.2; cat ../words >outcome; rm ask/now; }
                done
                """,
            ], in: scratch, folder: folder)
        defer { _ = helper.stop() }
        let daemon = try start(file)
        let outcome = try bitgate("wipe", "--yes", "destroy")
        XCTAssertEqual(outcome.status, 1)
        XCTAssertTrue(outcome.output.contains("left behind: the journal"), outcome.output)
        _ = try scratch.write("ok\n", as: "words")
        XCTAssertEqual(try bitgate("wipe", "--yes", "destroy").status, 0, daemon.errors.text)
        XCTAssertEqual(daemon.stop().status, 0)
    }
}
