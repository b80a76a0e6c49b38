import Foundation
import XCTest

/// What the daemon asks of the kernel, compared with what its unit lets through.
final class SystemCallTests: XCTestCase {
    private var scratch: Scratch!

    override func setUpWithError() throws { scratch = try Scratch() }
    override func tearDown() { scratch = nil }

    /// It does without when they are refused: asking whether the clock is right, and a database that root owns.
    private static let dispensable: Set = ["adjtimex", "clock_adjtime", "fchown"]

    /// The calls of a set, sets within it included (systemd.exec(5)).
    private func calls(in set: String) throws -> Set<String> {
        let outcome = try Programs.start("/usr/bin/systemd-analyze", ["syscall-filter", set], in: scratch).wait()
        XCTAssertEqual(outcome.status, 0, outcome.errors)
        var calls: Set<String> = []
        for line in outcome.output.split(separator: "\n").dropFirst() {
            let name = line.trimmingCharacters(in: .whitespaces)
            if name.hasPrefix("@") {
                calls.formUnion(try self.calls(in: name))
            } else if !name.isEmpty, !name.hasPrefix("#") {
                calls.insert(name)
            }
        }
        return calls
    }

    /// What the filters of the unit let through, each taken as systemd does, one after the other.
    private func allowed() throws -> Set<String> {
        let unit = try String(
            contentsOfFile: Programs.root.path + "/etc/systemd/bitgated.service", encoding: .utf8)
        var allowed: Set<String> = []
        for line in unit.split(separator: "\n") where line.hasPrefix("SystemCallFilter=") {
            let value = line.dropFirst("SystemCallFilter=".count)
            for name in value.drop(while: { $0 == "~" }).split(separator: " ") {
                let calls = name.hasPrefix("@") ? try calls(in: String(name)) : [String(name)]
                if value.hasPrefix("~") { allowed.subtract(calls) } else { allowed.formUnion(calls) }
            }
        }
        return allowed
    }

    func testTheDaemonNeedsNoCallThatItsUnitRefuses() throws {
        try NetworkTrace.requireTracer()
        try XCTSkipUnless(
            FileManager.default.isExecutableFile(atPath: "/usr/bin/systemd-analyze"),
            "there is no systemd-analyze: deploy/setup installs it")
        let socket = scratch.path + "/socket"
        let file = try scratch.write(
            """
            state_directory = "\(scratch.path)/state"
            control_socket = "\(socket)"
            radio.kind = "air"
            air.room = "\(scratch.path)/room"
            panic.helper = "none"
            panic.marker_directory = "\(scratch.path)"
            network.socks = "\(scratch.path)/nowhere"
            """, as: "c.toml")
        let trace = scratch.path + "/trace"
        let daemon = try Programs.start(
            "/usr/bin/strace",
            [
                "-D", "-f", "-qq", "-o", trace, "-e", "signal=none",
                Programs.folder.appendingPathComponent("bitgated").path, "--config", file,
            ], in: scratch)
        func bitgate(_ arguments: String...) throws -> Int32 {
            try Programs.start(
                Programs.folder.appendingPathComponent("bitgate").path, arguments + ["--socket", socket], in: scratch
            ).wait().status
        }
        XCTAssertTrue(try Programs.eventually { try bitgate("status") == 0 }, daemon.errors.text)
        XCTAssertEqual(try bitgate("wipe", "--yes", "destroy"), 0)
        XCTAssertEqual(daemon.stop().status, 0)
        XCTAssertTrue(
            Programs.eventually {
                (try? String(contentsOfFile: trace, encoding: .utf8))?.contains("exit_group(") ?? false
            })

        var used: Set<String> = []
        for line in try String(contentsOfFile: trace, encoding: .utf8).split(separator: "\n") {
            let call = line.drop { $0.isNumber || $0 == " " }
            let name = call.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
            if call.dropFirst(name.count).first == "(", !name.isEmpty { used.insert(String(name)) }
        }
        XCTAssertTrue(used.isSuperset(of: ["execve", "openat", "unlink"]), "\(used)")
        XCTAssertEqual(used.subtracting(try allowed()).subtracting(Self.dispensable), [])
    }
}
