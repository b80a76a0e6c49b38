import Basics
import EventLoop
import Foundation
import Panel
import TestSupport
import Vault
import XCTest

@testable import Station

/// A box that cannot start tells so on its lamps and at its socket, and can be wiped.
final class SilentBoxTests: XCTestCase {
    private var folder = ""
    private let loop = EmbeddedLoop(
        start: Now(monotonic: .zero, wall: WallTime(milliseconds: 1_800_000_000_000)))
    private var lines: [String: ScriptedLine] = [:]
    private var restarts = 0
    private var ends = 0
    private var silences = 0

    override func setUpWithError() throws { folder = try makeFolder() }
    override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

    private var file: String { folder + "/bitgate.toml" }
    private var state: String { folder + "/state" }

    private var good: String {
        """
        nickname = "the-pub"
        state_directory = "\(folder)/state"
        control_socket = "\(folder)/control"
        radio.kind = "air"
        air.room = "\(folder)/room"
        network.tor = "off"
        panic.marker_directory = "\(folder)"
        panic.helper = "none"
        [panel]
        wiring = "header"

        """
    }

    /// Mistakes of every kind, each of which keeps the box from starting.
    private var broken: [String] { harmless + doubtful }

    /// Those that leave no doubt about the button.
    private var harmless: [String] {
        [
            good + "quiet = \"yes\"\n", good + "mail = 7\n", good.replacingOccurrences(of: "\"the-pub\"", with: "5"),
            "no_such_key = 1\n" + good, good + "[elsewhere]\nspeed = 1\n",
            // No TOML, by a line that has to do with nothing else.
            "nickname = \"unclosed\n" + good, "nickname = \u{201C}the-pub\u{201D}\n" + good, "what is this\n" + good,
            good + "[location]\ncell = \"u4pruy\n", good + "[location]\ncell = u4pruy\n[elsewhere]\nx = y\n",
        ]
    }

    /// Those after which the button may be wired otherwise than it seems.
    private var doubtful: [String] {
        [
            good + "mail = [\n", good + "quiet = \"yes\"\n[location\ncell = \n",
            // What may go on below, where the button is said to be.
            "nickname = \"\"\"unclosed\n" + good, "nickname = '''unclosed\n" + good, "nickname = [\n" + good,
            "nickname = {\n" + good, good + "[[elsewhere]]\n= 3\n", good + "[location\ncell = u4pruy\n",
            good + "this is no setting\n",
            good + "[elsewhere]\nwiring = \"none\"\n= 3\n", good + "button_active_low = flase\n",
            good + "button_active_low = \"false\"\n", good + "button_actve_low = false\n", good + "buton = \"none\"\n",
            good + "button_bias = \"down\"\n", good + "button = 7\n", good + "debounce_ms = 0\n",
            good + "debounce = 100\n", good + "no_such_key = 1\n", good + "status = \"GPIO24\"\n",
            "button_active_low = false\n" + good, good + "[pannel]\nbutton_active_low = false\n",
            good + "[log]\nbutton_active_low = false\n", good + "[elsewhere]\nwiring = \"none\"\n",
        ]
    }

    private let log = Log(level: .error, clock: { .zero }, write: { _ in })

    private func opening() -> PanelDesk.Opening {
        { [unowned self] (wire, _) throws(GPIOProblem) in
            let name = wire.address.description
            let line = lines[name] ?? ScriptedLine(loop)
            lines[name] = line
            return line
        }
    }

    private func write(_ text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        XCTAssertThrowsError(try Configuration(contentsOf: file), text)
    }

    private func start() -> BoxStart {
        BoxStart(
            SalvagedConfiguration(from: file), from: file, host: .any, forgetKeys: {}, lines: opening(),
            quiet: { [unowned self] _ in
                silences += 1
                return []
            }, loop: loop, log: log, restart: { [unowned self] in restarts += 1 })
    }

    private func halt(_ fault: StationFault = .configuration("bitgate.toml:3:1: what is wrong")) -> SilentBox {
        // What the last one asked of the loop is over.
        loop.settle()
        let halted = start().silent(fault)
        halted.start()
        halted.stay { [unowned self] in ends += 1 }
        loop.pollDescriptors()
        return halted
    }

    private func complete() -> (any Box)? { start().completeWipe() }

    /// A box that has been here, and its identity's file.
    private func inhabit() throws -> Data {
        let directory = try StateDirectory(state)
        var random = SystemRandomNumberGenerator()
        _ = try IdentityStore(in: directory).loadOrCreate(for: .any, using: &random)
        return try identity()
    }

    private func identity() throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: state + "/" + IdentityStore.fileName))
    }

    private func ask(_ command: String, confirm: String? = nil) throws -> ControlAnswer {
        let connection = try UnixSocket.connect(.stream, to: folder + "/control")
        let line = ControlRequest(command: command, confirmation: confirm).line
        XCTAssertEqual(line.withUnsafeBytes { connection.send($0) }, .bytes(line.count))
        loop.pollDescriptors()
        var answer = [UInt8](repeating: 0, count: 65_536)
        guard case .bytes(let count) = answer.withUnsafeMutableBytes({ connection.read(into: $0) }) else {
            throw POSIXError(.ECONNRESET)
        }
        return try XCTUnwrap(ControlAnswer(Array(answer.prefix(count).dropLast()), to: command))
    }

    private func press(for span: Interval) {
        for isPressed in [true, false] {
            lines["GPIO24"]?.level = isPressed
            loop.pollDescriptors()
            loop.advance(by: isPressed ? span : .seconds(1))
        }
    }

    private func shown(_ halted: SilentBox) -> [PanelSign?] { halted.panel.report?.lamps.map(\.sign) ?? [] }

    // MARK: Faults

    func testABoxWithMistakesInItsConfigurationShowsAFaultAndTellsWhatIsWrong() throws {
        for text in broken {
            try write(text)
            let halted = halt()
            XCTAssertEqual(shown(halted), [.fault, .silent, .silent, .dark], text)
            for command in ["status", "peers", "mail", "clock", "provision"] {
                guard case .refused(let error) = try ask(command) else { return XCTFail(text) }
                XCTAssertEqual(error.code, "not_started")
                XCTAssertTrue(error.message.contains("bitgate.toml:3:1: what is wrong"), error.message)
            }
            halted.stop()
            XCTAssertEqual(lines["GPIO17"]?.level, false)
        }
    }

    /// The default is all of them, and others may be somebody's.
    func testWhereItIsNotKnownWhichControllersAreOursNoneIsTouchedUnlessTheBoxIsWiped() throws {
        for (text, isKnown) in [
            (harmless[0], true), ("radio.adapters = 5\n" + good, false),
            ("radio.adaptors = [\"hci1\"]\n" + good, false),
            ("radio.adapters = [\n" + good, false),
        ] {
            try write(text)
            _ = try inhabit()
            silences = 0
            let halted = halt()
            XCTAssertEqual(silences, isKnown ? 1 : 0, text)
            _ = try ask("wipe", confirm: WipeConfirmation.word)
            XCTAssertGreaterThan(silences, isKnown ? 1 : 0, text)
            halted.stop()
        }
    }

    func testTheNextAttemptWaitsForAFingerOnTheButton() throws {
        try write(harmless[0])
        let halted = halt()
        loop.advance(by: .seconds(19))
        XCTAssertEqual(ends, 0)
        lines["GPIO24"]?.level = true
        loop.pollDescriptors()
        loop.advance(by: .seconds(6))
        XCTAssertEqual(ends, 0)
        lines["GPIO24"]?.level = false
        loop.pollDescriptors()
        loop.advance(by: .seconds(3))
        XCTAssertEqual(ends, 0, "the second press may still come")
        loop.advance(by: .seconds(5))
        XCTAssertEqual(ends, 1)
        halted.stop()
    }

    func testAButtonThatIsStuckHoldsNothingUp() throws {
        try write(harmless[0])
        lines["GPIO24"] = ScriptedLine(loop)
        lines["GPIO24"]?.level = true
        let halted = halt()
        loop.advance(by: .seconds(21))
        XCTAssertEqual(ends, 1)
        halted.stop()
    }

    // MARK: Wipes

    func testTheButtonWipesABoxThatCannotStart() throws {
        for text in harmless {
            try write(text)
            let before = try inhabit()
            restarts = 0
            let halted = halt()
            press(for: .seconds(8))
            press(for: .seconds(3))
            XCTAssertEqual(restarts, 1, text)
            XCTAssertNotEqual(try identity(), before)
            XCTAssertFalse(try String(contentsOfFile: file, encoding: .utf8).contains("the-pub"))
            halted.stop()
        }
    }

    /// With the polarity turned round, the time between two taps is a hold.
    func testAButtonThatMayBeWiredOtherwiseIsNotTaken() throws {
        for text in doubtful {
            try write(text)
            let before = try inhabit()
            restarts = 0
            let halted = halt()
            XCTAssertEqual(halted.panel.report?.button, PanelReport.Button.none, text)
            XCTAssertEqual(shown(halted).first, .fault, text)
            press(for: .seconds(8))
            press(for: .seconds(3))
            XCTAssertEqual(try identity(), before, text)
            _ = try ask("wipe", confirm: WipeConfirmation.word)
            XCTAssertEqual(restarts, 1, text)
            XCTAssertNotEqual(try identity(), before, text)
            XCTAssertNil(try Configuration(contentsOf: file).panel.configuration.button, "nor after the wipe: " + text)
            halted.stop()
            let next = halt()
            XCTAssertEqual(shown(next).first, .wiped, text)
            _ = try ask("wipe_acknowledge")
            next.stop()
        }
    }

    func testAWipeThatDoesNotKnowWhereTheStateIsFailsAndLeavesTheFileThatTells() throws {
        let known = "state_directory = \"\(folder)/state\"\n"
        for (wrong, key) in [
            ("state_directory = \"\(folder)/state\n", "state_directory"), ("state_directory = 5\n", "state_directory"),
            ("state_directory = \"state\"\n", "state_directory"), ("state_directry = \"/srv/x\"\n", "state_directory"),
            ("state_dir = \"/srv/x\"\n", "state_directory"), ("statedir \"/srv/x\"\n", "state_directory"),
            (known + known, "state_directory"), ("[panel]\nstate_directory = \"/srv/x\"\n", "state_directory"),
            (known + "panic.marker_directory = 1\n", "panic.marker_directory"),
            (known + "panic.helper = nobody\n", "panic.helper"), (known + "[panick]\nresume = true\n", "panic.helper"),
        ] {
            try Data(wrong.utf8).write(to: URL(fileURLWithPath: file))
            let found = SalvagedConfiguration(from: file)
            XCTAssertTrue(found.unknownPlaces.contains(key), wrong)
            // In the place of the default, which no test may touch.
            var configuration = found.configuration
            configuration.stateDirectory = state
            configuration.controlSocket = folder + "/control"
            configuration.panic.markerDirectory = folder
            configuration.panic.helper = "none"
            configuration.radio.kind = .air
            let before = try inhabit()
            let panel = PanelDesk(configuration.panel.configuration, loop: loop, open: opening())
            let premises = Premises(
                state: try StateDirectory(state), configuration: configuration, configurationPath: file,
                unknownPlaces: found.unknownPlaces, host: .any, forgetKeys: {}, panel: panel)
            let failures = premises.wipe(.panic)?.failures ?? []
            XCTAssertEqual(failures.map(\.step), ["removeTraces"], wrong)
            XCTAssertTrue(failures.first?.reason.contains(key + ": unknown") ?? false, "\(failures)")
            XCTAssertThrowsError(try identity(), "what is found is destroyed")
            XCTAssertEqual(try Data(contentsOf: URL(fileURLWithPath: file)), Data(wrong.utf8))
            XCTAssertEqual(premises.markers.pending, .panic)
            XCTAssertFalse(before.isEmpty)
            try FileManager.default.removeItem(atPath: state)
        }
        try FileManager.default.removeItem(atPath: file)
        XCTAssertEqual(
            SalvagedConfiguration(from: file).unknownPlaces,
            ["state_directory", "panic.marker_directory", "panic.helper"])
        for text in broken where !text.contains("panick") {
            XCTAssertEqual(SalvagedConfiguration(parsing: Array(text.utf8)).unknownPlaces, [], text)
        }
    }

    func testAWipeNotedOnTheBootPartitionAloneIsCompletedToo() throws {
        let helper = folder + "/helper"
        let text = good.replacingOccurrences(of: "helper = \"none\"", with: "helper = \"\(helper)\"")
        try write(text + "no_such_key = 1\n")
        let before = try inhabit()
        XCTAssertNil(complete())
        XCTAssertEqual(try identity(), before)
        try FileManager.default.createDirectory(atPath: helper, withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: helper + "/pending"))
        // Nobody answers here, so that it cannot be completed.
        let box = try XCTUnwrap(complete())
        XCTAssertTrue(box is SilentBox)
        XCTAssertThrowsError(try identity())
        box.stop()
    }

    func testAWipeThatCannotReachTheStateIsToldToHaveFailed() throws {
        try write(harmless[0])
        try Data().write(to: URL(fileURLWithPath: state))
        let halted = halt(.state("state_directory: \(state) is not a directory"))
        XCTAssertEqual(shown(halted).first, .fault)
        press(for: .seconds(8))
        press(for: .seconds(3))
        XCTAssertEqual(shown(halted).first, .wipeFailed)
        XCTAssertEqual(restarts, 0)
        guard case .done(let json, _) = try ask("wipe_status") else { return XCTFail() }
        let report = try WipeReport(json: json)
        XCTAssertEqual(report.state, .incomplete)
        XCTAssertEqual(report.failures.map(\.step), ["state_directory"])
        // Nor is a directory made so that there is something to wipe.
        try FileManager.default.removeItem(atPath: state)
        press(for: .seconds(8))
        press(for: .seconds(3))
        XCTAssertEqual(shown(halted).first, .wipeFailed)
        XCTAssertFalse(FileManager.default.fileExists(atPath: state))
        // Nothing but this process knows of it, so it stays, and tries again.
        loop.advance(by: .minutes(2))
        XCTAssertEqual(ends, 0)
        XCTAssertEqual(shown(halted).first, .wipeFailed)
        let before = try inhabit()
        loop.advance(by: .seconds(21))
        XCTAssertEqual(restarts, 1)
        XCTAssertNotEqual(try identity(), before)
        halted.stop()
    }

    func testAWipeThatWasBegunIsCarriedOutThoughTheBoxIsToStop() throws {
        try write(harmless[0])
        let before = try inhabit()
        let halted = halt()
        XCTAssertEqual(halted.beginWipe().state, .wiping)
        halted.stop()
        loop.advance(by: .seconds(1))
        XCTAssertNotEqual(try identity(), before)
        XCTAssertEqual(restarts, 0)
        XCTAssertEqual(lines["GPIO17"]?.level, false)
    }

    func testAStateThatCannotBeTakenIsDestroyedAllTheSameAndTheWipeIsNotForgotten() throws {
        try write(harmless[0])
        _ = try inhabit()
        chmod(state, 0o755)
        let halted = halt(.state("state_directory: \(state) is open to other users"))
        XCTAssertEqual(silences, 1, "what a process that died left on the air")
        press(for: .seconds(8))
        press(for: .seconds(3))
        XCTAssertEqual(shown(halted).first, .wipeFailed)
        XCTAssertThrowsError(try identity())
        XCTAssertGreaterThan(silences, 1)
        XCTAssertEqual(WipeMarkers(state: state, second: folder).pending, .panic)
        loop.advance(by: .seconds(30))
        XCTAssertEqual(ends, 1, "the next process knows")
        halted.stop()

        // Nor does that one show a mere fault.
        let next = halt(.state("state_directory: \(state) is open to other users"))
        XCTAssertEqual(shown(next).first, .wipeFailed)
        guard case .done(let json, _) = try ask("wipe_status") else { return XCTFail() }
        XCTAssertEqual(try WipeReport(json: json).state, .incomplete)
        next.stop()
        chmod(state, 0o700)
        XCTAssertNil(complete())
        XCTAssertEqual(restarts, 1)
        XCTAssertNoThrow(try identity())
    }

    func testTheStateOfAnotherProcessIsNotTouched() throws {
        try write(harmless[0])
        let before = try inhabit()
        let other = try StateDirectory(state)
        let halted = halt()
        XCTAssertEqual(silences, 0)
        press(for: .seconds(8))
        press(for: .seconds(3))
        XCTAssertEqual(shown(halted).first, .wipeFailed)
        XCTAssertEqual(try identity(), before)
        XCTAssertEqual(silences, 0)
        halted.stop()
        withExtendedLifetime(other) {}
    }

    func testAWipeThatSucceededIsShownThoughTheBoxStillCannotStart() throws {
        try write("panic.resume = true\n" + harmless[0])
        let before = try inhabit()
        let halted = halt()
        press(for: .seconds(8))
        press(for: .seconds(3))
        XCTAssertEqual(restarts, 1)
        XCTAssertNotEqual(try identity(), before)
        let next = halt()
        XCTAssertEqual(shown(next).first, .wiped)
        guard case .done(let json, _) = try ask("wipe_status") else { return XCTFail() }
        XCTAssertEqual(try WipeReport(json: json), WipeReport(state: .wiped, cause: .panic))
        loop.advance(by: .seconds(11))
        press(for: .milliseconds(300))
        loop.advance(by: .seconds(2))
        XCTAssertEqual(shown(next).first, .fault)
        XCTAssertNil(Aftermath(in: state).notice)
        next.stop()
        halted.stop()
    }

    func testAWipeThatWasCutShortIsCompletedWhateverTheConfigurationSays() throws {
        for text in broken {
            try write(text)
            let before = try inhabit()
            restarts = 0
            try Data("panic".utf8).write(to: URL(fileURLWithPath: state + "/" + WipeMarkers.stateName))
            chmod(state + "/" + WipeMarkers.stateName, 0o600)
            XCTAssertNil(complete())
            XCTAssertEqual(restarts, 1, text)
            XCTAssertNotEqual(try identity(), before)
            XCTAssertNil(WipeMarkers(state: state, second: folder).pending)
            XCTAssertNoThrow(try Configuration(contentsOf: file), "what remains of the file is read again")
        }
    }

    func testAWipeThatStaysIncompleteBlocksTheBox() throws {
        try write(doubtful[0])
        _ = try inhabit()
        // A marker nobody can remove.
        try FileManager.default.createDirectory(
            atPath: state + "/" + WipeMarkers.stateName + "/x", withIntermediateDirectories: true)
        let box = try XCTUnwrap(complete())
        XCTAssertTrue(box is SilentBox)
        XCTAssertEqual(restarts, 0)
        box.stop()
    }

    func testWhereNoWipeWasBegunNothingIsTouchedOrMade() throws {
        try write(harmless[0])
        XCTAssertNil(complete())
        XCTAssertFalse(FileManager.default.fileExists(atPath: state))
        let before = try inhabit()
        XCTAssertNil(complete())
        XCTAssertEqual(try identity(), before)
        XCTAssertEqual(restarts, 0)
        XCTAssertTrue(lines.isEmpty)
    }

    // MARK: What can be read

    func testEverySettingThatStandsByItselfIsRead() throws {
        for text in broken {
            let remains = SalvagedConfiguration(parsing: Array(text.utf8)).configuration
            XCTAssertEqual(remains.stateDirectory, state, text)
            XCTAssertEqual(remains.controlSocket, folder + "/control", text)
            XCTAssertEqual(remains.panic.helper, "none", text)
            XCTAssertEqual(remains.panel.wiring, .header, text)
        }
        XCTAssertEqual(SalvagedConfiguration(from: folder + "/nowhere").configuration, Configuration())
        var bare = Configuration()
        bare.panel.button = PanelLineChoice.none
        XCTAssertEqual(SalvagedConfiguration(parsing: [0xFF, 0x00, 0x0A, 0x5B]).configuration, bare)
        let good = try Configuration(parsing: Array(self.good.utf8), file: "good.toml")
        XCTAssertEqual(
            SalvagedConfiguration(parsing: Array(self.good.utf8)), SalvagedConfiguration(whole: good))
    }
}
