import Basics
import Crypto
import EventLoop
import Foundation
import Panel
import TestSupport
import Vault
import XCTest

@testable import Station

/// The button, from the finger to the lamp that tells how it ended, over scripted lines and in virtual time.
final class ButtonWipeTests: XCTestCase {
    private var folder = ""
    private let loop = EmbeddedLoop(
        start: Now(monotonic: .zero, wall: WallTime(milliseconds: 1_800_000_000_000)))
    private var lines: [String: ScriptedLine] = [:]
    private var refusal: GPIOProblem?
    private var restarts = 0

    override func setUpWithError() throws { folder = try makeFolder() }
    override func tearDown() { try? FileManager.default.removeItem(atPath: folder) }

    private var configuration: Configuration {
        var configuration = Configuration()
        configuration.nickname = "the-pub"
        configuration.stateDirectory = folder + "/state"
        configuration.controlSocket = folder + "/control"
        configuration.radio.kind = .air
        configuration.air.room = folder + "/room"
        configuration.panic.markerDirectory = folder
        configuration.panic.helper = "none"
        configuration.clock.trustSystem = true
        configuration.network.tor = .off
        configuration.panel.wiring = .header
        return configuration
    }

    private func prepare(_ configuration: Configuration? = nil) throws -> any Box {
        let box = try BoxStart(
            SalvagedConfiguration(whole: configuration ?? self.configuration), from: nil, host: .any, forgetKeys: {},
            lines: { [unowned self] (wire, _) throws(GPIOProblem) in
                if let refusal { throw refusal }
                let name = wire.address.description
                let line = lines[name] ?? ScriptedLine(loop)
                lines[name] = line
                return line
            }, loop: loop,
            clock: MachineClock(running: { [loop] in loop.now.monotonic }, isSynchronised: { false }),
            log: Log(level: .error, clock: { .zero }, write: { _ in }), restart: { [unowned self] in restarts += 1 }
        ).prepare()
        try box.start()
        loop.advance(by: .seconds(2))
        return box
    }

    /// A box that is gone with its lock afterwards.
    private func live(_ configuration: Configuration? = nil, _ body: (any Box) throws -> Void) throws {
        let box = try prepare(configuration)
        try body(box)
        box.stop()
        loop.advance(by: .seconds(1))
    }

    private func press(for span: Interval) {
        for isPressed in [true, false] {
            lines["GPIO24"]?.level = isPressed
            loop.pollDescriptors()
            loop.advance(by: isPressed ? span : .seconds(1))
        }
    }

    private func makeTheGesture() {
        press(for: .seconds(8))
        press(for: .seconds(3))
    }

    private func shown(_ box: any Box) -> PanelSign? {
        let panel = (box as? Station)?.panel ?? (box as? SilentBox)?.panel
        return panel?.report?.lamps.first?.sign
    }

    func testAHoldAndASecondHoldWipeAndTheOutcomeIsShownUntilATapOnceTenSecondsHavePassed() throws {
        var peer: String?
        try live { box in
            peer = (box as? Station)?.mesh.me.hex
            makeTheGesture()
            XCTAssertEqual(restarts, 1)
        }
        XCTAssertNotNil(peer)
        try live { box in
            let station = try XCTUnwrap(box as? Station)
            XCTAssertNotEqual(station.mesh.me.hex, peer)
            XCTAssertEqual(station.wipeReport.state, .wiped)
            XCTAssertEqual(shown(box), .wiped)
            press(for: .milliseconds(300))
            XCTAssertEqual(station.wipeReport.state, .wiped, "not before everybody has seen it")
            loop.advance(by: .seconds(30))
            XCTAssertEqual(shown(box), .wiped, "until somebody has seen it")
            press(for: .milliseconds(300))
            loop.advance(by: .seconds(30))
            XCTAssertEqual(station.wipeReport.state, .none)
            XCTAssertNotEqual(shown(box), .wiped)
        }
    }

    func testALongHoldAloneATapAndALateSecondHoldDoNothing() throws {
        try live { _ in
            press(for: .seconds(8))
            loop.advance(by: .seconds(6))
            press(for: .seconds(3))
            press(for: .milliseconds(300))
            press(for: .seconds(3))
            XCTAssertEqual(restarts, 0)
        }
    }

    func testAButtonHeldFromTheStartIsReportedAndDoesNotWipe() throws {
        lines["GPIO24"] = ScriptedLine(loop)
        lines["GPIO24"]?.level = true
        try live { box in
            loop.advance(by: .minutes(10))
            let station = try XCTUnwrap(box as? Station)
            XCTAssertTrue(station.attention.contains { $0.code == "panel_button_stuck" })
            XCTAssertEqual(station.statusReport.panel?.button, "stuck")
            XCTAssertEqual(shown(box), .fault, "who relies on it learns of it before the day it is needed")
            lines["GPIO24"]?.level = false
            loop.advance(by: .seconds(2))
            XCTAssertFalse(station.attention.contains { $0.code == "panel_button_stuck" })
            XCTAssertNotEqual(shown(box), .fault)
            XCTAssertEqual(restarts, 0)
            makeTheGesture()
            XCTAssertEqual(restarts, 1, "once it was let go it is a button again")
        }
    }

    func testLinesThatMayBeTakenLateAreToldOfAndTaken() throws {
        refusal = .notPermitted(try XCTUnwrap(LineAddress("GPIO17")), path: "/dev/gpiochip3")
        try live { box in
            let station = try XCTUnwrap(box as? Station)
            XCTAssertEqual(station.attention.filter { $0.code == "panel_line" }.count, 5)
            XCTAssertEqual(station.statusReport.panel?.lamps.map(\.shows), [nil, nil, nil, nil])
            XCTAssertEqual(station.statusReport.panel?.button, "missing")
            refusal = nil
            loop.advance(by: .minutes(1))
            XCTAssertEqual(station.attention.filter { $0.code == "panel_line" }, [])
            XCTAssertEqual(station.statusReport.panel?.button, "listening")
            XCTAssertNotNil(shown(box))
        }
    }

    func testABoxWithoutAPanelIsWell() throws {
        var bare = configuration
        bare.panel.wiring = .none
        try live(bare) { box in
            let station = try XCTUnwrap(box as? Station)
            XCTAssertNil(station.statusReport.panel)
            XCTAssertEqual(station.panelAttention, [])
            XCTAssertTrue(lines.isEmpty)
        }
    }

    func testAWipeThatFailsIsShownUntilTheGestureIsMadeAgainAndItSucceeds() throws {
        // A marker nobody can remove.
        try FileManager.default.createDirectory(
            atPath: folder + "/state/wiping/stuck", withIntermediateDirectories: true)
        chmod(folder + "/state", 0o700)
        try live { box in
            XCTAssertTrue(box is SilentBox)
            XCTAssertEqual(shown(box), .wipeFailed)
            loop.advance(by: .hours(1))
            XCTAssertEqual(shown(box), .wipeFailed)
            makeTheGesture()
            XCTAssertEqual(restarts, 0)
            XCTAssertEqual(shown(box), .wipeFailed)
            try FileManager.default.removeItem(atPath: folder + "/state/wiping")
            makeTheGesture()
            XCTAssertEqual(restarts, 1)
        }
    }

    func testWhereNobodyCanBeAnsweredTheLampAndTheButtonAreThereAllTheSame() throws {
        try Data().write(to: URL(fileURLWithPath: folder + "/file"))
        var configuration = configuration
        configuration.controlSocket = folder + "/file/control"
        try FileManager.default.createDirectory(
            atPath: folder + "/state/wiping/stuck", withIntermediateDirectories: true)
        chmod(folder + "/state", 0o700)
        try live(configuration) { box in
            XCTAssertTrue(box is SilentBox)
            XCTAssertEqual(shown(box), .wipeFailed)
            try FileManager.default.removeItem(atPath: folder + "/state/wiping")
            makeTheGesture()
            XCTAssertEqual(restarts, 1)
        }
        // A box that would work cannot be started so; what tells of it gets its lamps and its state.
        let box = try BoxStart(
            SalvagedConfiguration(whole: configuration), from: nil, host: .any, forgetKeys: {},
            lines: { [unowned self] (wire, _) in lines[wire.address.description] ?? ScriptedLine(loop) }, loop: loop,
            log: Log(level: .error, clock: { .zero }, write: { _ in }), restart: {}
        ).prepare()
        XCTAssertTrue(StateDirectory.isTaken(folder + "/state"))
        XCTAssertThrowsError(try box.start())
        XCTAssertFalse(StateDirectory.isTaken(folder + "/state"))
        XCTAssertNoThrow(try StateDirectory(folder + "/state"))
        XCTAssertEqual(lines["GPIO17"]?.level, false)
    }

    // MARK: The helper

    /// A helper in the place of the system's: answers as soon as it is asked.
    private func helper(answering answer: String?) throws -> TraceHelper {
        let place = folder + "/helper"
        try FileManager.default.createDirectory(atPath: place + "/ask", withIntermediateDirectories: true)
        return TraceHelper(folder: place) {
            guard FileManager.default.fileExists(atPath: place + "/ask/now") else { return 1 }
            if let answer { try? answer.write(toFile: place + "/outcome", atomically: true, encoding: .utf8) }
            if answer != nil { try? FileManager.default.removeItem(atPath: place + "/ask/now") }
            return 30
        }
    }

    func testTheHelpersAnswerIsTheStepsOutcome() throws {
        XCTAssertNoThrow(try helper(answering: "ok\n").erase(settings: false))
        XCTAssertThrowsError(try helper(answering: "tor's client data\nthe journal\n").erase(settings: false)) {
            XCTAssertEqual("\($0)", "left behind: tor's client data, the journal")
        }
    }

    func testAHelperThatDoesNotAnswerIsAFailureAndItsOldAnswerDoesNotCount() throws {
        let silent = try helper(answering: nil)
        try "ok\n".write(toFile: folder + "/helper/outcome", atomically: true, encoding: .utf8)
        XCTAssertThrowsError(try silent.erase(settings: false)) {
            XCTAssertTrue("\($0)".contains("bitgate-erase.path"), "\($0)")
        }
        XCTAssertFalse(FileManager.default.fileExists(atPath: folder + "/helper/ask/now"))
    }

    func testWhereNoHelperIsInstalledNobodyIsAsked() {
        XCTAssertNoThrow(try TraceHelper(folder: nil, pause: { 1 }).erase(settings: false))
        XCTAssertNoThrow(try TraceHelper(folder: folder + "/nowhere", pause: { 1 }).erase(settings: false))
    }
}
