import Foundation
import XCTest

/// Two people in two rooms, never on one mesh, and a real relay on loopback.
final class MailTests: XCTestCase {
    private var scratch: Scratch!
    private var relay: Programs.Running?

    override func setUpWithError() throws {
        scratch = try Scratch()
        let environment = ProcessInfo.processInfo.environment
        let folder = environment["BITGATE_VENV"] ?? Programs.root.appendingPathComponent(".venv").path
        guard FileManager.default.isExecutableFile(atPath: folder + "/bin/python") else {
            if environment["CI"] == "true" { return XCTFail("no relays in \(folder): run deploy/setup") }
            throw XCTSkip("no relays in \(folder): run deploy/setup")
        }
        relay = try Programs.start(
            folder + "/bin/python", [Programs.root.appendingPathComponent("deploy/lib/relay.py").path, "rust", "0"],
            in: scratch)
    }

    override func tearDown() {
        _ = relay?.stop()
        scratch = nil
    }

    private func url() throws -> String {
        let running = try XCTUnwrap(relay)
        XCTAssertTrue(Programs.eventually { running.output.text.contains("ready ") }, running.errors.text)
        return try XCTUnwrap(
            running.output.text.split(separator: " ").last.map { $0.trimmingCharacters(in: .newlines) })
    }

    private func person(_ name: String, _ url: String) throws -> Person {
        try Person(name, ["--relay", url, "--tor", "off", "--trust-clock"], room: "room-" + name, in: scratch)
    }

    private func code(of person: Person) throws -> String {
        person.types("/verify")
        XCTAssertTrue(Programs.eventually { person.lines.contains { $0.hasPrefix("bitchat://verify?") } })
        return try XCTUnwrap(person.lines.last { $0.hasPrefix("bitchat://verify?") })
    }

    func testFavouritesWriteToEachOtherOverARelayAndEveryMessageComesOnce() throws {
        let url = try url()
        let anna = try person("anna", url)
        var bella = try person("bella", url)
        for person in [anna, bella] { XCTAssertTrue(person.sees("* a relay is connected"), "\(person.lines)") }

        let codes = (try code(of: anna), try code(of: bella))
        anna.types("/add " + codes.1)
        XCTAssertTrue(anna.sees("* bella is a favourite now"), "\(anna.lines)")
        anna.types("/why bella")
        XCTAssertTrue(
            anna.sees("*   over relays: no, you are no favourite of theirs, or they have not told you yet"),
            "\(anna.lines)")
        bella.types("/add " + codes.0)
        XCTAssertTrue(anna.sees("* bella made you a favourite"), "\(anna.lines)")
        XCTAssertTrue(bella.sees("* anna made you a favourite"), "\(bella.lines)")
        anna.types("/why bella")
        XCTAssertTrue(anna.sees("*   on the mesh: no, not in reach"))
        XCTAssertTrue(anna.sees("*   over relays: yes, when there is no way over the mesh"), "\(anna.lines)")

        anna.types("/msg bella over the hills")
        XCTAssertTrue(bella.sees("[private] <anna> over the hills"), "\(bella.lines)")
        for state in ["carried", "delivered", "read"] {
            XCTAssertTrue(anna.sees("* 1 to bella: \(state)"), "\(anna.lines)")
        }
        bella.types("/msg anna and back")
        XCTAssertTrue(anna.sees("[private] <bella> and back"), "\(anna.lines)")

        // What comes while she is away waits at the relay; what she had does not come again.
        XCTAssertEqual(bella.leaves().status, 0)
        anna.types("/msg bella while you were away")
        XCTAssertTrue(anna.sees("* 2 to bella: carried"), "\(anna.lines)")
        bella = try person("bella", url)
        XCTAssertTrue(bella.sees("[private] <anna> while you were away"), "\(bella.lines)")
        XCTAssertTrue(anna.sees("* 2 to bella: read"), "\(anna.lines)")
        anna.types("/msg bella the last one")
        XCTAssertTrue(bella.sees("[private] <anna> the last one"), "\(bella.lines)")
        XCTAssertEqual(bella.lines.filter { $0.hasPrefix("[private]") }.count, 2, "\(bella.lines)")

        for person in [anna, bella] {
            let end = person.leaves()
            XCTAssertEqual(end.status, 0, end.errors)
            XCTAssertEqual(end.errors, "")
        }
    }

    func testWithTorRequiredAndNoTorNothingIsDialled() throws {
        let url = try url()
        let anna = try Person("anna", ["--relay", url, "--trust-clock"], room: "room-anna", in: scratch)
        let bella = try person("bella", url)
        XCTAssertTrue(bella.sees("* a relay is connected"), "\(bella.lines)")
        XCTAssertFalse(anna.lines.contains("* a relay is connected"), "\(anna.lines)")
        XCTAssertEqual(bella.leaves().status, 0)
        XCTAssertEqual(anna.running.stop().status, 0)
    }
}
