import Foundation
import XCTest

/// Two daemons, four people and a real relay, as `deploy/demo` puts them on its stage.
final class DemoTests: XCTestCase {
    private var scratch: Scratch!

    override func setUpWithError() throws {
        scratch = try Scratch()
        try requireRelays()
    }
    override func tearDown() { scratch = nil }

    /// Skips where the relays are not installed, except in continuous integration, which has every part.
    private func requireRelays() throws {
        let environment = ProcessInfo.processInfo.environment
        let folder = environment["BITGATE_VENV"] ?? Programs.root.appendingPathComponent(".venv").path
        guard FileManager.default.isExecutableFile(atPath: folder + "/bin/python") else {
            if environment["CI"] == "true" { return XCTFail("no relays in \(folder): run deploy/setup") }
            throw XCTSkip("no relays in \(folder): run deploy/setup")
        }
    }

    private func demo(_ relay: String, _ more: String...) throws -> Programs.Running {
        try Programs.start(
            Programs.root.appendingPathComponent("deploy/demo").path, ["--check", "--relay", relay] + more, in: scratch,
            environment: ["BITGATE_BIN": Programs.folder.path, "TMPDIR": scratch.path])
    }

    private func actors() throws -> [pid_t] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { pid_t($0) }.filter { actor in
            guard let environment = FileManager.default.contents(atPath: "/proc/\(actor)/environ") else { return false }
            return String(decoding: environment, as: UTF8.self).contains("BITGATE_STAGE=\(scratch.path)")
        }
    }

    /// The demo's folders and the processes that belong to them.
    private func leftovers() throws -> [String] {
        let folders = try FileManager.default.contentsOfDirectory(atPath: scratch.path).filter {
            $0.hasPrefix("bitgate-")
        }
        return try folders + actors().map { "process \($0)" }
    }

    private func assertPasses(_ relay: String) throws { try assertPasses(try demo(relay)) }

    private func assertPasses(_ running: Programs.Running) throws {
        let outcome = running.wait()
        XCTAssertEqual(outcome.status, 0, outcome.output + outcome.errors)
        XCTAssertEqual(try leftovers(), [])
    }

    func testTwoIslandsHearEachOtherThroughRustNostr() throws { try assertPasses("rust") }

    func testTwoIslandsHearEachOtherThroughNostrRelay() throws { try assertPasses("python") }

    func testALetterFindsWhoeverIsAwayOverKilledBoxesThroughRustNostr() throws {
        try assertPasses(try demo("rust", "--mail"))
    }

    func testALetterFindsWhoeverIsAwayThroughNostrRelay() throws { try assertPasses(try demo("python", "--mail")) }

    func testADemoThatIsKilledLeavesNothingBehind() throws {
        for stage in ["starting the relay", "room A", "room B", "talking"] {
            let running = try demo("rust")
            XCTAssertTrue(Programs.eventually { running.output.text.contains(stage) }, stage)
            _ = running.stop(SIGKILL)
            XCTAssertTrue(try Programs.eventually { try leftovers().isEmpty }, "\(stage): \((try? leftovers()) ?? [])")
        }
    }

    func testADemoWhoseProgramDiesSaysWhichAndFails() throws {
        let running = try demo("rust")
        XCTAssertTrue(Programs.eventually { running.output.text.contains("talking") })
        let daemon = try actors().first { actor in
            FileManager.default.contents(atPath: "/proc/\(actor)/cmdline").map {
                String(decoding: $0, as: UTF8.self).contains("bitgated\0--config")
            } ?? false
        }
        kill(try XCTUnwrap(daemon), SIGKILL)
        let outcome = running.wait()
        XCTAssertEqual(outcome.status, 1, outcome.output)
        XCTAssertTrue(outcome.errors.contains("gate-"), outcome.errors)
        XCTAssertTrue(outcome.errors.contains(" ended by itself, with status 137"), outcome.errors)
        XCTAssertEqual(try leftovers(), [])
    }
}
