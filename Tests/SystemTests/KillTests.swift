import Foundation
import Station
import XCTest

/// Boxes that are killed, without a chance to tidy up, while they take letters in, publish them and hand them over. A
/// letter that a box had not written down yet is gone with it; its writer has it still.
final class KillTests: XCTestCase {
    /// Seconds: a box that lost its subscription with its process asks again within a minute (chapter 06 §5.5).
    private static let patience = 120
    private static let letters = 4
    private static let kills = 4

    private var scratch: Scratch!
    private var daemons: [String: Programs.Running] = [:]
    private var relay: Programs.Running?
    private var random = SystemRandomNumberGenerator()

    override func setUpWithError() throws { scratch = try Scratch() }

    override func tearDown() {
        for running in Array(daemons.values) + [relay].compactMap({ $0 }) where running.process.isRunning {
            _ = running.stop(SIGKILL)
        }
        scratch = nil
    }

    /// - Parameter more: settings besides those of every box.
    private func start(_ name: String, in room: String, _ more: String = "") throws {
        let file = try scratch.write(
            """
            nickname = "\(name)"
            state_directory = "\(scratch.path)/state-\(name)"
            control_socket = "\(scratch.path)/\(name)"
            radio.kind = "air"
            air.room = "\(scratch.path)/\(room)"
            clock.trust_system = true
            location.cell = "u4pruy"
            network.tor = "off"
            nostr.use_builtin_relays = false
            \(more)
            """, as: name + ".toml")
        let daemon = try Programs.start(
            Programs.folder.appendingPathComponent("bitgated").path, ["--config", file], in: scratch)
        daemons[name] = daemon
        let control = ControlClient(path: scratch.path + "/" + name)
        XCTAssertTrue(Programs.eventually { (try? control.line("ping")) != nil }, daemon.errors.text)
    }

    private func kill(_ name: String, within milliseconds: UInt32) {
        usleep(UInt32.random(in: 0...milliseconds, using: &random) * 1_000)
        _ = daemons[name]?.stop(SIGKILL)
    }

    private func makeFriends(_ anna: Person, _ bella: Person) {
        XCTAssertTrue(anna.sees("* bella came"), "\(anna.lines)")
        XCTAssertTrue(bella.sees("* anna came"), "\(bella.lines)")
        anna.types("/fav bella")
        bella.types("/fav anna")
        XCTAssertTrue(anna.sees("* bella made you a favourite"), "\(anna.lines)")
        XCTAssertTrue(bella.sees("* anna made you a favourite"), "\(bella.lines)")
    }

    private func letters(_ person: Person) -> [String] { person.lines.filter { $0.hasPrefix("[private]") } }

    private func assertEachOnce(_ anna: Person, _ bella: Person) {
        XCTAssertTrue(
            Programs.eventually(within: KillTests.patience) { Set(letters(bella)).count == KillTests.letters },
            "\(bella.lines)")
        for number in 1...KillTests.letters {
            XCTAssertTrue(anna.sees("* \(number) to bella: read", within: KillTests.patience), "\(anna.lines)")
        }
        XCTAssertEqual(
            letters(bella).sorted(), (1...KillTests.letters).map { "[private] <anna> letter \($0)." }, "each once")
        for person in [anna, bella] { XCTAssertEqual(person.leaves().status, 0) }
    }

    func testALetterIsReadOnceWhateverMomentItsBoxIsKilledAt() throws {
        try start("box", in: "room")
        var anna = try Person("anna", ["--trust-clock"], in: scratch)
        var bella = try Person("bella", ["--trust-clock"], in: scratch)
        makeFriends(anna, bella)
        XCTAssertTrue(anna.sees("* box came"), "\(anna.lines)")
        XCTAssertEqual(bella.leaves().status, 0)
        for number in 1...KillTests.letters {
            anna.types("/msg bella letter \(number).")
            kill("box", within: 200)
            try start("box", in: "room")
            XCTAssertTrue(anna.sees("* \(number) to bella: carried"), "\(anna.lines)")
        }
        XCTAssertEqual(anna.leaves().status, 0)

        bella = try Person("bella", ["--trust-clock"], in: scratch)
        for _ in 1...KillTests.kills {
            kill("box", within: 1_000)
            try start("box", in: "room")
        }
        anna = try Person("anna", ["--trust-clock"], in: scratch)
        assertEachOnce(anna, bella)
    }

    func testALetterCrossesTwoBoxesAndARelayOnceWhateverMomentTheyAreKilledAt() throws {
        try TorStage.requireRelays()
        relay = try Programs.start(TorStage.python, ["deploy/lib/relay.py", "rust", "0"], in: scratch)
        XCTAssertTrue(Programs.eventually { relay?.output.text.contains("ready ") ?? false })
        let url = relay?.output.text.split(separator: " ").last.map { $0.trimmingCharacters(in: .newlines) }
        let setting = "nostr.relays = [\"\(try XCTUnwrap(url))\"]"
        var anna = try Person("anna", ["--trust-clock"], room: "room-a", in: scratch)
        var bella = try Person("bella", ["--trust-clock"], room: "room-a", in: scratch)
        makeFriends(anna, bella)
        XCTAssertEqual(bella.leaves().status, 0)
        try start("near", in: "room-a", setting)
        try start("far", in: "room-b", setting)
        bella = try Person("bella", ["--trust-clock"], room: "room-b", in: scratch)
        XCTAssertTrue(anna.sees("* near came"), "\(anna.lines)")
        XCTAssertTrue(bella.sees("* far came"), "\(bella.lines)")
        for number in 1...KillTests.letters {
            anna.types("/msg bella letter \(number).")
            if number == KillTests.letters { break }
            for (name, room) in [("near", "room-a"), ("far", "room-b")] {
                kill(name, within: 1_000)
                try start(name, in: room, setting)
            }
        }
        XCTAssertTrue(
            bella.sees("[private] <anna> letter \(KillTests.letters).", within: KillTests.patience), "\(bella.lines)")
        XCTAssertEqual(anna.leaves().status, 0)
        anna = try Person("anna", ["--trust-clock"], room: "room-b", in: scratch)
        assertEachOnce(anna, bella)
    }
}
