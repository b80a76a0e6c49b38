import Foundation
import XCTest

/// The daemon and the operator's command as processes.
final class DaemonTests: XCTestCase {
    private var scratch: Scratch!

    override func setUpWithError() throws { scratch = try Scratch() }
    override func tearDown() { scratch = nil }

    private func configuration(_ more: String = "", named name: String = "a") throws -> String {
        try scratch.write(
            """
            nickname = "box"
            state_directory = "\(scratch.path)/state-\(name)"
            control_socket = "\(scratch.path)/\(name).socket"
            radio.kind = "air"
            air.room = "\(scratch.path)/room"
            location.cell = "u4pruy"
            \(more)
            """, as: name + ".toml")
    }

    private func start(_ file: String) throws -> Programs.Running {
        try Programs.start(
            Programs.folder.appendingPathComponent("bitgated").path, ["--config", file], in: scratch)
    }

    private func status(_ name: String = "a") throws -> [String: Any]? {
        let answer = try Programs.run(
            "bitgate", "status", "--json", "--socket", "\(scratch.path)/\(name).socket", in: scratch)
        guard answer.status == 0 else { return nil }
        let top = try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any]
        return top?["status"] as? [String: Any]
    }

    func testTheDaemonAnswersAndLeavesNothingBehindWhenToldToStop() throws {
        let daemon = try start(try configuration())
        XCTAssertTrue(try Programs.eventually { try status() != nil })
        XCTAssertEqual(try status()?["nickname"] as? String, "box")
        XCTAssertTrue(
            try Programs.run("bitgate", "status", "--socket", "\(scratch.path)/a.socket", in: scratch).output.contains(
                "\ntor       "))
        for command in ["peers", "counters", "metrics", "mail", "limits", "board"] {
            XCTAssertEqual(
                try Programs.run("bitgate", command, "--socket", "\(scratch.path)/a.socket", in: scratch).status, 0)
        }
        let end = daemon.stop()
        XCTAssertEqual(end.status, 0, end.errors)
        XCTAssertEqual(try FileManager.default.contentsOfDirectory(atPath: scratch.path + "/room"), [])
        XCTAssertFalse(FileManager.default.fileExists(atPath: scratch.path + "/a.socket"))
    }

    func testTheIdentitySurvivesARestart() throws {
        let file = try configuration()
        var peers: [String?] = []
        for _ in 0..<2 {
            let daemon = try start(file)
            XCTAssertTrue(try Programs.eventually { try status() != nil })
            peers.append(try status()?["peer"] as? String)
            XCTAssertEqual(daemon.stop(SIGINT).status, 0)
        }
        XCTAssertNotNil(peers[0])
        XCTAssertEqual(peers[0], peers[1])
    }

    func testAKilledDaemonDoesNotKeepTheNextFromStarting() throws {
        let file = try configuration()
        let first = try start(file)
        XCTAssertTrue(try Programs.eventually { try status() != nil })
        _ = first.stop(SIGKILL)
        let second = try start(file)
        XCTAssertTrue(try Programs.eventually { try status() != nil })
        XCTAssertEqual(second.stop().status, 0)
    }

    func testASecondDaemonOnTheSameStateRefuses() throws {
        let file = try configuration()
        let first = try start(file)
        XCTAssertTrue(try Programs.eventually { try status() != nil })
        let second = try start(file).wait()
        XCTAssertEqual(second.status, 75, second.errors)
        XCTAssertTrue(second.errors.contains("another process uses this state"), second.errors)
        XCTAssertEqual(first.stop().status, 0)
    }

    func testADamagedIdentityIsRefusedByName() throws {
        let file = try configuration()
        let first = try start(file)
        XCTAssertTrue(try Programs.eventually { try status() != nil })
        XCTAssertEqual(first.stop().status, 0)
        let key = scratch.path + "/state-a/identity.sealed"
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: key))
        chmod(key, 0o600)
        let second = try start(file).wait()
        XCTAssertEqual(second.status, 73)
        XCTAssertTrue(second.errors.contains("identity.sealed is damaged"), second.errors)
    }

    func testMistakesInTheConfigurationEndTheStartWithTheirPlace() throws {
        let file = try configuration("air.mtu = 9\nbogus = 1")
        let outcome = try start(file).wait()
        XCTAssertEqual(outcome.status, 78)
        XCTAssertTrue(outcome.errors.contains("a.toml:7:11: air.mtu: must be a whole number"), outcome.errors)
        XCTAssertTrue(outcome.errors.contains("a.toml:8:1: bogus: there is no such key"), outcome.errors)
        XCTAssertEqual(try Programs.run("bitgate", "config", "check", file, in: scratch).status, 78)
        XCTAssertEqual(try start(scratch.path + "/none.toml").wait().status, 66)
    }

    func testAServiceThatCannotStartTellsWhyToWhoeverAsks() throws {
        for (more, state, status, words) in [
            ("bogus = 1", nil, 78, "bogus: there is no such key"),
            ("", "x", 73, "is not a directory"),
        ] as [(String, String?, Int32, String)] {
            let file = try configuration(more)
            if let state { _ = try scratch.write(state, as: "state-a") }
            let daemon = try Programs.start(
                Programs.folder.appendingPathComponent("bitgated").path, ["--config", file], in: scratch,
                environment: ["NOTIFY_SOCKET": scratch.path + "/nobody"])
            var told = ""
            XCTAssertTrue(
                try Programs.eventually {
                    told = try Programs.run(
                        "bitgate", "status", "--socket", "\(scratch.path)/a.socket", in: scratch
                    ).errors
                    return told.contains("bitgated cannot start: ")
                }, told)
            XCTAssertTrue(told.contains(words), told)
            let end = daemon.stop()
            XCTAssertEqual(end.status, status)
            XCTAssertTrue(end.errors.contains(words), end.errors)
        }
    }

    func testTheConfigurationIsReadAgainOnHangUp() throws {
        let file = try configuration()
        let daemon = try start(file)
        XCTAssertTrue(try Programs.eventually { try status() != nil })
        _ = try configuration("gateway.enabled = false\n").self
        let text = try String(contentsOfFile: file, encoding: .utf8).replacingOccurrences(
            of: "\"box\"", with: "\"new\"")
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        kill(daemon.process.processIdentifier, SIGHUP)
        XCTAssertTrue(try Programs.eventually { try status()?["nickname"] as? String == "new" })
        XCTAssertEqual((try status()?["gateway"] as? [String: Any])?["enabled"] as? Bool, false)
        try "nonsense".write(toFile: file, atomically: true, encoding: .utf8)
        kill(daemon.process.processIdentifier, SIGHUP)
        XCTAssertTrue(Programs.eventually { daemon.errors.text.contains("was not read again") })
        let attention = try status()?["attention"] as? [[String: Any]]
        XCTAssertEqual(attention?.contains { $0["code"] as? String == "configuration_refused" }, true)
        XCTAssertEqual(try status()?["nickname"] as? String, "new")
        XCTAssertEqual(daemon.stop().status, 0)
    }

    func testTheCommandSaysWhatToDoWhenNobodyAnswers() throws {
        let outcome = try Programs.run("bitgate", "status", "--socket", scratch.path + "/none", in: scratch)
        XCTAssertEqual(outcome.status, 69)
        XCTAssertEqual(
            outcome.errors,
            "bitgate: no daemon answers at \(scratch.path)/none: start bitgated, or pass --socket PATH\n")
        XCTAssertEqual(try Programs.run("bitgate", "nonsense", in: scratch).status, 64)
        XCTAssertEqual(try Programs.run("bitgate", "status", "--help", in: scratch).status, 0)
    }
}
