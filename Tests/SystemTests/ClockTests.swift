import Foundation
import XCTest

/// A daemon whose system clock is really wrong, among people whose clocks are right.
final class ClockTests: XCTestCase {
    private var scratch: Scratch!
    private var library = ""

    override func setUpWithError() throws {
        scratch = try Scratch()
        library = scratch.path + "/wrong-clock.so"
        let source = Programs.root.appendingPathComponent("Tests/WrongClock/wrong-clock.c").path
        guard let compiler = ["/usr/bin/cc", "/usr/bin/clang"].first(where: FileManager.default.isExecutableFile) else {
            throw XCTSkip("no C compiler to build the wrong clock with")
        }
        let built = try Programs.start(
            compiler, ["-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], in: scratch
        ).wait()
        XCTAssertEqual(built.status, 0, built.errors)
    }

    override func tearDown() { scratch = nil }

    /// Seconds the daemon's system clock is ahead, and whether the kernel vouches for it.
    private func setClock(_ seconds: Int, isSynchronised: Bool) throws {
        _ = try scratch.write("\(seconds) \(isSynchronised ? 1 : 0)\n", as: "clock")
    }

    /// - Parameter relay: its port on this machine.
    private func startDaemon(relay: Int? = nil) throws -> Programs.Running {
        let file = try scratch.write(
            """
            nickname = "box"
            state_directory = "\(scratch.path)/state"
            control_socket = "\(scratch.path)/socket"
            radio.kind = "air"
            air.room = "\(scratch.path)/room"
            air.name = "box"
            nostr.use_builtin_relays = false
            network.tor = "off"
            location.cell = "u4pruy"
            \(relay.map { "nostr.relays = [\"ws://127.0.0.1:\($0)\"]" } ?? "")
            """, as: "box.toml")
        return try Programs.start(
            Programs.folder.appendingPathComponent("bitgated").path, ["--config", file], in: scratch,
            environment: ["LD_PRELOAD": library, "WRONG_CLOCK": scratch.path + "/clock"])
    }

    private func clock() throws -> [String: Any]? {
        let answer = try Programs.run(
            "bitgate", "clock", "--json", "--socket", scratch.path + "/socket", in: scratch)
        guard answer.status == 0 else { return nil }
        return (try JSONSerialization.jsonObject(with: Data(answer.output.utf8)) as? [String: Any])?["clock"]
            as? [String: Any]
    }

    /// Polls for as long as the daemon takes to look at its clock.
    private func eventually(_ condition: ([String: Any]) -> Bool) throws -> Bool {
        for _ in 0..<150 {
            if let clock = try clock(), condition(clock) { return true }
            usleep(100_000)
        }
        return false
    }

    private func isRight(_ clock: [String: Any]) -> Bool {
        guard let text = clock["time"] as? String, let time = ISO8601DateFormatter().date(from: text) else {
            return false
        }
        return abs(time.timeIntervalSinceNow) < 30
    }

    func testAClockThatIsWrongAtBootIsCorrectedWithoutARestart() throws {
        for wrong in [-Int(Date().timeIntervalSince1970) + 100, 10 * 31_557_600] {
            try setClock(wrong, isSynchronised: false)
            let daemon = try startDaemon()
            XCTAssertTrue(try eventually { $0["source"] as? String == "last-known" && $0["mesh"] as? Bool == false })
            try setClock(0, isSynchronised: true)
            XCTAssertTrue(try eventually { $0["source"] as? String == "synchronised" && isRight($0) })
            XCTAssertEqual(daemon.stop().status, 0)
        }
    }

    func testAmongPeopleTheBoxRelaysFindsTheTimeAndKeepsItOverAStep() throws {
        try FileManager.default.createDirectory(
            atPath: scratch.path + "/room", withIntermediateDirectories: true)
        _ = try scratch.write("anna box\nbert box\ncleo box\n", as: "room/range")
        try setClock(-2 * 31_557_600, isSynchronised: false)
        let daemon = try startDaemon()
        XCTAssertTrue(try eventually { _ in true })
        let anna = try Person("anna", in: scratch)
        let bert = try Person("bert", in: scratch)
        XCTAssertTrue(anna.sees("* bert came"), "\(anna.lines)")
        XCTAssertEqual(try clock()?["source"] as? String, "last-known")
        anna.types("two years ago")
        XCTAssertTrue(bert.sees("<anna> two years ago"), "\(bert.lines)")
        XCTAssertFalse(anna.lines.contains("* box came"), "it cannot be believed yet")

        let cleo = try Person("cleo", in: scratch)
        XCTAssertTrue(
            try eventually { $0["source"] as? String == "mesh" && isRight($0) }, "\(String(describing: try? clock()))")
        XCTAssertTrue(cleo.sees("* box came"), "\(cleo.lines)")
        XCTAssertEqual(try clock()?["trusted"] as? Bool, false)

        try setClock(0, isSynchronised: true)
        XCTAssertTrue(try eventually { $0["source"] as? String == "synchronised" && isRight($0) })
        try setClock(-7_200, isSynchronised: false)
        XCTAssertTrue(try eventually { $0["source"] as? String == "mesh" && $0["offset_seconds"] as? Int ?? 0 > 7_100 })
        XCTAssertTrue(isRight(try clock() ?? [:]))
        bert.types("on time")
        XCTAssertTrue(cleo.sees("<bert> on time"), "\(cleo.lines)")

        for person in [anna, bert, cleo] { XCTAssertEqual(person.leaves().status, 0) }
        XCTAssertEqual(daemon.stop().status, 0)
    }

    func testNothingIsPublishedUnderAWrongTime() throws {
        try TorStage.requireRelays()
        func start(_ arguments: String...) throws -> (running: Programs.Running, port: Int) {
            let running = try Programs.start(TorStage.python, arguments, in: scratch)
            XCTAssertTrue(Programs.eventually { running.output.text.contains("ready ") }, running.errors.text)
            let port = running.output.text.split(whereSeparator: \.isWhitespace).lazy.compactMap {
                $0.hasPrefix("ws://") ? $0.split(separator: ":").last.flatMap { Int($0) } : nil
            }.first
            return (running, try XCTUnwrap(port))
        }
        let relay = try start("deploy/lib/relay.py", "rust", "0")
        defer { _ = relay.running.stop() }
        let witness = try start("Tests/Netlab/witness.py", "0", "\(relay.port)")
        defer { _ = witness.running.stop() }
        /// When each event that was published says that it was made.
        func dates() -> [Int] {
            witness.running.output.text.split(separator: "\n").filter { $0.hasPrefix("event ") }.compactMap {
                $0.split(separator: " ").last.flatMap { Int($0) }
            }
        }
        let anna = try Person("anna", ["--bridge", "on"], in: scratch)
        for wrong in [-Int(Date().timeIntervalSince1970) + 100, -2 * 31_557_600, 10 * 31_557_600] {
            try setClock(wrong, isSynchronised: false)
            let before = dates().count
            let daemon = try startDaemon(relay: witness.port)
            XCTAssertTrue(try eventually { $0["source"] as? String == "last-known" })
            anna.types("before, \(wrong)")
            usleep(2_000_000)
            XCTAssertEqual(dates().count, before, "nothing before the time is known")
            try setClock(0, isSynchronised: true)
            XCTAssertTrue(try eventually { $0["source"] as? String == "synchronised" && isRight($0) })
            XCTAssertTrue(anna.sees("* box came"), "\(anna.lines)")
            // A bridge takes so many lines as it gets to hear them; the first may be said before it listens.
            XCTAssertTrue(
                Programs.eventually {
                    anna.types("after, \(wrong)")
                    usleep(300_000)
                    return dates().count > before
                }, daemon.errors.text)
            if wrong > 0 {
                // The step that nobody vouches for.
                try setClock(-7_200, isSynchronised: false)
                XCTAssertTrue(try eventually { $0["source"] as? String != "synchronised" && isRight($0) })
                anna.types("stepped, \(wrong)")
                usleep(1_000_000)
            }
            XCTAssertEqual(daemon.stop().status, 0)
        }
        let now = Int(Date().timeIntervalSince1970)
        for date in dates() { XCTAssertLessThan(abs(date - now), 300, "\(date)") }
        XCTAssertEqual(anna.leaves().status, 0)
    }

    func testTheOperatorSetsTheTime() throws {
        try setClock(-100_000_000, isSynchronised: false)
        let daemon = try startDaemon()
        XCTAssertTrue(try eventually { $0["trusted"] as? Bool == false })
        let socket = scratch.path + "/socket"
        for text in ["2026-06-01T00:00:00", "1999-01-01T00:00:00Z", "now"] {
            XCTAssertNotEqual(
                try Programs.run("bitgate", "clock", "set", text, "--socket", socket, in: scratch).status, 0, text)
        }
        let now = ISO8601DateFormatter().string(from: Date())
        let answer = try Programs.run("bitgate", "clock", "set", now, "--socket", socket, in: scratch)
        XCTAssertEqual(answer.status, 0, answer.errors)
        XCTAssertTrue(answer.output.hasPrefix("trusted, set within"), answer.output)
        XCTAssertTrue(isRight(try clock() ?? [:]))
        XCTAssertEqual(daemon.stop().status, 0)
    }
}
