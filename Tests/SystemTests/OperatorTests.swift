import Foundation
import XCTest

/// What an operator meets besides a daemon that runs well.
final class OperatorTests: XCTestCase {
    private var scratch: Scratch!

    override func setUpWithError() throws { scratch = try Scratch() }
    override func tearDown() { scratch = nil }

    private func program(_ name: String) -> String { Programs.folder.appendingPathComponent(name).path }

    private func shell(_ script: String) throws -> Programs.Outcome {
        try Programs.start("/bin/sh", ["-c", script], in: scratch).wait()
    }

    /// A configuration with these paths in the place of good ones.
    private func configuration(state: String? = nil, socket: String? = nil, room: String? = nil) throws -> String {
        try scratch.write(
            """
            state_directory = "\(state ?? scratch.path + "/state")"
            control_socket = "\(socket ?? scratch.path + "/socket")"
            radio.kind = "air"
            air.room = "\(room ?? scratch.path + "/room")"
            """, as: "c.toml")
    }

    private func start(_ file: String) throws -> Programs.Running {
        try Programs.start(program("bitgated"), ["--config", file], in: scratch)
    }

    private func attention() throws -> [String] {
        let answer = try Programs.run("bitgate", "status", "--json", "--socket", scratch.path + "/socket", in: scratch)
        guard answer.status == 0 else { return [] }
        let top = try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any]
        let items = (top?["status"] as? [String: Any])?["attention"] as? [[String: String]] ?? []
        return items.map { "\($0["code"] ?? ""): \($0["message"] ?? "")" }
    }

    /// The commands that the overview lists, each once.
    private func listed(_ overview: String) -> [String] {
        var commands: [String] = []
        for line in overview.split(separator: "\n") where line.hasPrefix("  ") && !line.hasPrefix("   ") {
            let word = String(line.dropFirst(2).prefix { $0 != " " })
            if word != "help", !word.hasPrefix("-"), !commands.contains(word) { commands.append(word) }
        }
        return commands
    }

    func testEveryHelpFitsATerminal() throws {
        var texts = [try Programs.run("bitgated", "--help", in: scratch)]
        let overview = try Programs.run("bitgate", "help", in: scratch)
        texts.append(overview)
        let commands = listed(overview.output)
        XCTAssertGreaterThan(commands.count, 10, "the overview has another form than this test reads")
        for command in commands {
            let help = try Programs.run("bitgate", "help", command, in: scratch)
            XCTAssertEqual(help.output, try Programs.run("bitgate", command, "--help", in: scratch).output)
            texts.append(help)
        }
        for text in texts {
            XCTAssertEqual(text.status, 0)
            for line in text.output.split(separator: "\n") { XCTAssertLessThanOrEqual(line.count, 80, String(line)) }
        }
    }

    func testACommandProbablyMeantIsNamed() throws {
        let outcome = try Programs.run("bitgate", "staus", in: scratch)
        XCTAssertEqual(outcome.status, 64)
        XCTAssertEqual(outcome.errors, "bitgate: unknown command staus; did you mean status?\n")
    }

    func testAReportThatCannotBeWrittenIsAFailure() throws {
        let outcome = try shell("\(program("bitgate")) config defaults >/dev/full")
        XCTAssertEqual(outcome.status, 74)
        XCTAssertEqual(outcome.errors, "bitgate: cannot write: No space left on device\n")
    }

    func testWhatCannotBeMadeNamesTheSettingAndTheCure() throws {
        let file = try scratch.write("", as: "file")
        let long = scratch.path + "/" + String(repeating: "x", count: 98 - scratch.path.utf8.count)
        for (state, socket, room, status, words) in [
            ("/none/x/state", nil, nil, 73, "state_directory: /none/x/state: mkdir: No such file or directory: make"),
            (file, nil, nil, 73, "state_directory: \(file) is not a directory"),
            (nil, "/none/x/socket", nil, 71, "control_socket: /none/x: mkdir: No such file or directory: make"),
            (nil, file, nil, 71, "control_socket: \(file) exists and is not a socket: move it away"),
            (nil, nil, "/none/x/room", 71, "air.room: /none/x/room: mkdir: No such file or directory: make"),
            (nil, nil, file, 71, "air.room: \(file): bind: Not a directory: a part of this path is a file"),
            (nil, nil, long, 71, "air.room: \(long): bind: File name too long: choose a shorter path"),
        ] as [(String?, String?, String?, Int32, String)] {
            let outcome = try start(try configuration(state: state, socket: socket, room: room)).wait()
            XCTAssertEqual(outcome.status, status, outcome.errors)
            XCTAssertTrue(outcome.errors.hasPrefix("bitgated: " + words), outcome.errors)
            XCTAssertFalse(FileManager.default.fileExists(atPath: scratch.path + "/socket"), "left behind")
        }
    }

    func testWhatIsPrintedGoesIntoNoFileOrSocketWhenTheStandardOnesAreClosed() throws {
        let file = try configuration()
        let daemon = try Programs.start(
            "/bin/sh", ["-c", "exec \(program("bitgated")) --config \(file) <&- >&- 2>&-"], in: scratch)
        let pid = daemon.process.processIdentifier
        XCTAssertTrue(try Programs.eventually { try !attention().isEmpty })
        for descriptor in 0...2 {
            XCTAssertEqual(
                try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(pid)/fd/\(descriptor)"), "/dev/null")
        }
        XCTAssertEqual(daemon.stop().status, 0)
    }

    func testKeysThatWaitForARestartAreNamed() throws {
        let file = try configuration()
        let daemon = try start(file)
        XCTAssertTrue(try Programs.eventually { try !attention().isEmpty })
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try (text + "\nair.mtu = 185\nair.seed = 4\n").write(toFile: file, atomically: true, encoding: .utf8)
        kill(daemon.process.processIdentifier, SIGHUP)
        XCTAssertTrue(
            try Programs.eventually {
                try attention().contains { $0.hasPrefix("restart_needed") && $0.hasSuffix(": air.mtu, air.seed.") }
            })
        XCTAssertTrue(daemon.errors.text.contains("warning: air.mtu was changed, which needs a restart"))
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        kill(daemon.process.processIdentifier, SIGHUP)
        XCTAssertTrue(try Programs.eventually { try !attention().contains { $0.hasPrefix("restart_needed") } })
        XCTAssertEqual(daemon.stop().status, 0)
    }

    func testAnOnionRelayDoesNotGoMissingFromTheStatus() throws {
        let file = try configuration()
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try (text + "\nnostr.relays = [\"ws://abcdef.onion\"]\nnetwork.tor = \"off\"\n").write(
            toFile: file, atomically: true, encoding: .utf8)
        let daemon = try start(file)
        XCTAssertTrue(try Programs.eventually { try !attention().isEmpty })
        let status = try Programs.run("bitgate", "status", "--socket", scratch.path + "/socket", in: scratch).output
        XCTAssertTrue(status.contains("ws://abcdef.onion: skipped (an onion service is reached through Tor"), status)
        XCTAssertEqual(daemon.stop().status, 0)
    }

    // MARK: Chat without a terminal

    private func chat(_ input: String, _ name: String = "ann") throws -> Programs.Outcome {
        try shell("\(input) \(program("bitgate")) chat --room \(scratch.path)/room --name \(name)")
    }

    private func room() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scratch.path + "/room")
    }

    func testChatEndsWithItsInputWhateverThatIs() throws {
        for input in ["</dev/null", "</tmp", "<&-", "printf '' |"] {
            let outcome = try chat(input)
            XCTAssertEqual(outcome.status, 0, "\(input) \(outcome.errors)")
            XCTAssertEqual(outcome.errors, "", input)
            XCTAssertEqual(try room(), [], input)
        }
    }

    func testLinesOfAPipeAreSaidToWhoeverIsThereAndNothingAfterQuit() throws {
        // A pipe whose writing end stays open: input that does not end.
        let (open, alsoOpen) = (Pipe(), Pipe())
        let listener = try Programs.start(
            program("bitgate"), ["chat", "--room", scratch.path + "/room", "--name", "bob"], in: scratch, input: open)
        XCTAssertTrue(Programs.eventually { (try? room())?.isEmpty == false })
        let outcome = try chat("printf 'hello\\n/quit\\nnot said\\n' |")
        XCTAssertEqual(outcome.status, 0, outcome.errors)
        XCTAssertEqual(outcome.output, "* bob came\n")
        XCTAssertTrue(Programs.eventually { listener.output.text.contains("* ann left\n") })
        XCTAssertEqual(listener.output.text, "* ann came\n<ann> hello\n* ann left\n")
        let deaf = try Programs.start(
            "/bin/sh", ["-c", "exec \(program("bitgate")) chat --room \(scratch.path)/room --name dan >/dev/full"],
            in: scratch, input: alsoOpen
        ).wait()
        XCTAssertEqual(deaf.status, 74)
        XCTAssertEqual(deaf.errors, "bitgate: cannot write: No space left on device\n")
        let second = try chat("<&-", "bob")
        XCTAssertEqual(second.status, 75)
        XCTAssertTrue(second.errors.hasPrefix("bitgate: --name: another node in the room already answers as bob"))
        XCTAssertEqual(listener.stop().status, 0)
    }
}
