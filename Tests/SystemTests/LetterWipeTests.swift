import Foundation
import Station
import XCTest

/// A wipe of a box that carries somebody's letter, and at whose console somebody has written one.
final class LetterWipeTests: XCTestCase {
    private var scratch: Scratch!
    private var daemon: Programs.Running?

    override func setUpWithError() throws { scratch = try Scratch() }

    override func tearDown() {
        if let daemon, daemon.process.isRunning { _ = daemon.stop(SIGKILL) }
        scratch = nil
    }

    private var state: String { scratch.path + "/state-box" }
    private var control: ControlClient { ControlClient(path: scratch.path + "/control") }

    private func start() throws {
        let file = try scratch.write(
            """
            nickname = "box"
            state_directory = "\(state)"
            control_socket = "\(scratch.path)/control"
            radio.kind = "air"
            air.room = "\(scratch.path)/room"
            panic.marker_directory = "\(scratch.path)"
            panic.helper = "none"
            clock.trust_system = true
            """, as: "box.toml")
        daemon = try Programs.start(
            Programs.folder.appendingPathComponent("bitgated").path, ["--config", file], in: scratch)
        XCTAssertTrue(Programs.eventually { (try? control.line("ping")) != nil }, daemon?.errors.text ?? "")
    }

    private var carried: Int? {
        (try? control.ask("mail", for: MailReport.self)).map { $0.tiers.reduce(0) { $0 + $1.carried } }
    }

    private func files() throws -> [String: Data] {
        var files: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: state) {
            files[name] = FileManager.default.contents(atPath: state + "/" + name)
        }
        return files
    }

    func testNothingIsLeftOfALetterThatWasCarriedNorOfOneThatWasWritten() throws {
        // Somebody writes at the box's own console, to somebody who is not there.
        let bella = try Person("bella", ["--trust-clock"], in: scratch)
        let own = try Person("box", ["--trust-clock"], in: scratch)
        XCTAssertTrue(bella.sees("* box came"), "\(bella.lines)")
        let anna = try Person("anna", ["--trust-clock"], in: scratch)
        for person in [anna, own] {
            XCTAssertTrue(person.sees("* bella came"), "\(person.lines)")
            person.types("/fav bella")
            XCTAssertTrue(person.sees("* bella is a favourite now"), "\(person.lines)")
        }
        XCTAssertTrue(bella.sees("* box made you a favourite"), "\(bella.lines)")
        XCTAssertTrue(bella.sees("* anna made you a favourite"), "\(bella.lines)")
        XCTAssertEqual(bella.leaves().status, 0)
        own.types("/msg bella the boathouse at nine")
        XCTAssertTrue(own.sees("[private 1 to] <bella> the boathouse at nine"), "\(own.lines)")
        XCTAssertEqual(own.leaves().status, 0)

        // And the box carries a letter.
        try start()
        anna.types("/msg bella under the stone")
        XCTAssertTrue(Programs.eventually { carried == 1 }, "\(anna.lines)")
        _ = daemon?.stop(SIGKILL)
        let before = try files()
        XCTAssertNotNil(before["prekeys.sealed"])
        try start()
        XCTAssertEqual(carried, 1, "both are on the disk")

        XCTAssertEqual(
            try Programs.run("bitgate", "wipe", "--yes", "destroy", "--socket", scratch.path + "/control", in: scratch)
                .status, 0)
        XCTAssertEqual(carried, 0)
        let after = try files()
        XCTAssertNil(after["prekeys.sealed"])
        // Any run of sealed bytes of before names what they were part of. What is nothing but zeros names nothing.
        let all = after.values.reduce(Data(), +)
        for (name, bytes) in before {
            for start in stride(from: 0, to: bytes.count - 48, by: 512) {
                let piece = bytes[(bytes.startIndex + start)..<(bytes.startIndex + start + 48)]
                guard Set(piece).count > 36 else { continue }
                XCTAssertNil(all.range(of: piece), "\(name) at \(start)")
            }
        }
        for text in ["bella", "anna", "boathouse", "stone"] { XCTAssertNil(all.range(of: Data(text.utf8)), text) }

        // Nor does the box hand anything over, or give a later console anything back.
        let again = try Person("bella", ["--trust-clock"], in: scratch)
        XCTAssertTrue(again.sees("* anna came"), "\(again.lines)")
        XCTAssertTrue(again.sees("[private] <anna> under the stone"), "from who wrote it")
        XCTAssertEqual(daemon?.stop().status, 0)
        let console = try Person("box", ["--trust-clock"], in: scratch)
        XCTAssertTrue(console.sees("* bella came"), "\(console.lines)")
        XCTAssertFalse(again.lines.contains { $0.contains("boathouse") }, "\(again.lines)")
        for person in [again, anna, console] { XCTAssertEqual(person.leaves().status, 0) }
    }
}
