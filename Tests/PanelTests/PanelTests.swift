import Basics
import EventLoop
import XCTest

@testable import Panel

/// The whole panel over scripted lines, in virtual time.
final class PanelTests: XCTestCase {
    private let loop = EmbeddedLoop()
    private var lines: [String: ScriptedLine] = [:]
    private var refusals: [String: GPIOProblem] = [:]
    private var opened = 0

    private func wire(_ name: String) throws -> PanelWire { PanelWire(try XCTUnwrap(LineAddress(name))) }

    private func panel(_ lamps: [Lamp] = [.status], quiet: Bool = false, button: Bool = true) throws -> Panel {
        var configuration = PanelConfiguration(isQuiet: quiet)
        for lamp in lamps { configuration.lamps[lamp] = try wire(lamp.rawValue) }
        if button { configuration.button = try wire("button") }
        let panel = Panel(loop: loop, configuration: configuration) {
            [unowned self] (wire, _) throws(GPIOProblem) -> any PanelLine in
            opened += 1
            let name = wire.address.description
            if let refusal = refusals[name] { throw refusal }
            let line = lines[name] ?? ScriptedLine(loop)
            lines[name] = line
            return line
        }
        panel.start()
        return panel
    }

    private func problems(of panel: Panel) -> [String] {
        guard let report = panel.report else { return [] }
        var problems = report.lamps.compactMap { lamp in lamp.problem.map { "panel.\(lamp.lamp.rawValue): \($0)" } }
        switch report.button {
        case .none, .listening: break
        case .stuck: problems.append("panel.button: stuck")
        case .missing(let problem): problems.append("panel.button: \(problem.map { "\($0)" } ?? "")")
        }
        return problems
    }

    private var well: PanelState {
        var state = PanelState()
        state.isStarting = false
        state.isClockTrusted = true
        state.tor = .ready
        state.isMeshAlive = true
        state.isInternetAlive = true
        return state
    }

    private func press(_ panel: Panel, for span: Interval) {
        lines["button"]?.level = true
        panel.buttonChanged()
        loop.advance(by: span)
        lines["button"]?.level = false
        panel.buttonChanged()
        loop.advance(by: .milliseconds(100))
    }

    /// What a lamp does, compared with the table, where the sign began at `start`: when it was last lit unless said.
    private func assertShows(
        _ sign: PanelSign, _ lamp: Lamp = .status, since start: Int64? = nil, for span: Interval = .seconds(12),
        line: UInt = #line
    ) throws {
        let scripted = try XCTUnwrap(lines[lamp.rawValue], line: line)
        let start = start ?? scripted.changes.last { $0.1 == true }?.at ?? loop.elapsed.milliseconds
        for _ in 0..<(span.milliseconds / 10) {
            loop.advance(by: .milliseconds(10))
            XCTAssertEqual(
                scripted.level, sign.pattern.isLit(at: loop.elapsed.milliseconds - start), "\(sign)", line: line)
        }
    }

    func testEachSignIsPlayedAsTheTableSays() throws {
        let panel = try panel(button: false)
        for (change, sign) in [
            ({ $0.isStarting = true }, .starting), ({ $0.hasFault = true }, .fault),
            ({ $0.isClockTrusted = false }, .waitingForTime), ({ $0.tor = .unreachable }, .torUnreachable),
            ({ $0.tor = .connecting(percent: 10) }, .torBeginning), ({ $0.tor = .connecting(percent: 80) }, .torAlmost),
            ({ $0.tor = .off }, .withoutTor), ({ $0.wipe = .wiped }, .wiped), ({ $0.wipe = .failed }, .wipeFailed),
            ({ _ in }, .well),
        ] as [((inout PanelState) -> Void, PanelSign)] {
            var other = PanelState()
            other.isStarting = false
            other.isClockTrusted = true
            other.tor = .ready
            panel.show(other)
            loop.advance(by: .milliseconds(5))
            var state = well
            change(&state)
            panel.show(state)
            try assertShows(sign, since: loop.elapsed.milliseconds)
        }
    }

    func testSeveralLampsShowEachItsOwn() throws {
        let panel = try panel([.status, .mesh, .internet, .mail])
        var state = well
        state.isMailWaiting = true
        panel.show(state)
        loop.advance(by: .milliseconds(10))
        for lamp in Lamp.allCases { XCTAssertEqual(lines[lamp.rawValue]?.level, true, "\(lamp)") }
        loop.advance(by: .milliseconds(1_950))
        XCTAssertEqual(lines["status"]?.level, true)
        XCTAssertEqual(lines["mesh"]?.level, false)
        XCTAssertEqual(lines["mail"]?.level, false)
    }

    func testTheWholeGestureWipesOnce() throws {
        let panel = try panel()
        panel.show(well)
        var wipes = 0
        panel.onWipe = { wipes += 1 }
        press(panel, for: .seconds(6))
        XCTAssertEqual(wipes, 0)
        press(panel, for: .milliseconds(1_500))
        XCTAssertEqual(wipes, 1)
        loop.advance(by: .seconds(60))
        XCTAssertEqual(wipes, 1)
    }

    func testTheLampFollowsTheGesture() throws {
        let panel = try panel()
        panel.show(well)
        loop.advance(by: .seconds(1))
        lines["button"]?.level = true
        panel.buttonChanged()
        loop.advance(by: .milliseconds(1_100))
        let before = lines["status"]?.changes.count ?? 0
        loop.advance(by: .milliseconds(3_800))
        XCTAssertGreaterThanOrEqual((lines["status"]?.changes.count ?? 0) - before, 14, "it blinks")
        loop.advance(by: .milliseconds(200))
        let armed = lines["status"]?.changes.count ?? 0
        loop.advance(by: .seconds(3))
        XCTAssertEqual(lines["status"]?.changes.count, armed, "it is steady")
        XCTAssertEqual(lines["status"]?.level, true)
        lines["button"]?.level = false
        panel.buttonChanged()
        loop.advance(by: .seconds(6))
        try assertShows(.well)
    }

    func testATapLightsEveryLampThenShowsTheStatus() throws {
        let panel = try panel([.status, .mail], quiet: true)
        panel.show(well)
        loop.advance(by: .seconds(10))
        XCTAssertEqual(lines["status"]?.level, false, "quiet")
        press(panel, for: .milliseconds(300))
        XCTAssertEqual(lines["status"]?.level, true)
        XCTAssertEqual(lines["mail"]?.level, true)
        loop.advance(by: .milliseconds(1_000))
        XCTAssertEqual(lines["mail"]?.level, false)
        XCTAssertEqual(lines["status"]?.level, true)
        loop.advance(by: .seconds(20))
        XCTAssertEqual(lines["status"]?.level, false)
    }

    func testALoneLampTellsMeshInternetAndMailInTurn() throws {
        let panel = try panel()
        var state = well
        state.isMailWaiting = true
        state.tor = .off
        panel.show(state)
        press(panel, for: .milliseconds(300))
        func changes(in span: Interval) -> Int {
            let before = lines["status"]?.changes.count ?? 0
            loop.advance(by: span)
            return (lines["status"]?.changes.count ?? 0) - before
        }
        loop.advance(by: .milliseconds(1_000))
        XCTAssertEqual(lines["status"]?.level, false, "a gap before each")
        _ = changes(in: .milliseconds(900))
        XCTAssertEqual(changes(in: .milliseconds(4_900)), 5, "mesh: long, with a wink every two seconds")
        loop.advance(by: .milliseconds(1_200))
        XCTAssertEqual(lines["status"]?.level, true, "internet")
        loop.advance(by: .milliseconds(4_900))
        loop.advance(by: .milliseconds(1_100))
        XCTAssertTrue((4...6).contains(changes(in: .milliseconds(5_000))), "mail: every second")
    }

    func testAWipeIsAcknowledgedByATap() throws {
        let panel = try panel()
        var acknowledged = 0
        panel.onAcknowledge = { acknowledged += 1 }
        var state = well
        panel.show(state)
        press(panel, for: .milliseconds(300))
        XCTAssertEqual(acknowledged, 0)
        state.wipe = .wiped
        panel.show(state)
        press(panel, for: .milliseconds(300))
        XCTAssertEqual(acknowledged, 0, "shown for ten seconds at the least")
        loop.advance(by: .seconds(10))
        press(panel, for: .milliseconds(300))
        XCTAssertEqual(acknowledged, 1)
    }

    func testWhileAWipeHoldsTheLoopTheStatusLampFlickersAndTheOthersAreDark() throws {
        let panel = try panel([.status, .mesh])
        panel.show(well)
        loop.advance(by: .milliseconds(10))
        XCTAssertEqual(lines["mesh"]?.level, true)
        panel.showWiping()
        let start = loop.elapsed
        XCTAssertEqual(lines["mesh"]?.level, false)
        for _ in 0..<20 {
            loop.advance(by: .milliseconds(30))
            panel.playWiping()
            let elapsed = (loop.elapsed - start).milliseconds
            XCTAssertEqual(lines["status"]?.level, PanelSign.wiping.pattern.isLit(at: elapsed), "\(elapsed)")
            XCTAssertEqual(lines["mesh"]?.level, false)
        }
        var state = well
        state.wipe = .failed
        panel.show(state)
        try assertShows(.wipeFailed)
    }

    func testWhatThePanelDoesIsReported() throws {
        let panel = try panel([.status, .mail])
        var state = well
        state.isMailWaiting = true
        panel.show(state)
        loop.advance(by: .milliseconds(10))
        XCTAssertEqual(panel.report?.lamps.map(\.lamp), [.status, .mail])
        XCTAssertEqual(panel.report?.lamps.map(\.sign), [.well, .mailWaiting])
        XCTAssertEqual(panel.report?.button, .listening)
        lines["mail"]?.level = nil
        loop.advance(by: .seconds(1))
        XCTAssertEqual(panel.report?.lamps.map(\.sign), [.well, nil])
    }

    // MARK: Faults

    func testALineThatComesLateIsTakenWhenItComes() throws {
        let address = try XCTUnwrap(LineAddress("status"))
        refusals["status"] = .notPermitted(address, path: "/dev/gpiochip3")
        let panel = try panel()
        panel.show(well)
        loop.advance(by: .minutes(10))
        XCTAssertTrue(problems(of: panel).contains { $0.hasPrefix("panel.status: ") && $0.contains("group gpio") })
        // 1, 2, 5, 10 and 30 seconds apart, then once a minute.
        XCTAssertTrue((14...18).contains(opened), "\(opened)")
        refusals.removeAll()
        loop.advance(by: .minutes(1))
        XCTAssertEqual(problems(of: panel), [])
        XCTAssertEqual(lines["status"]?.level, true)
    }

    func testALineThatGoesAwayIsTakenAgain() throws {
        let panel = try panel()
        panel.show(well)
        lines["status"]?.level = nil
        lines["button"]?.level = nil
        loop.advance(by: .seconds(6))
        XCTAssertTrue(opened >= 4)
        lines["status"]?.level = false
        lines["button"]?.level = false
        loop.advance(by: .seconds(60))
        XCTAssertEqual(problems(of: panel), [])
        var wipes = 0
        panel.onWipe = { wipes += 1 }
        press(panel, for: .seconds(6))
        press(panel, for: .milliseconds(1_500))
        XCTAssertEqual(wipes, 1)
    }

    func testAStuckButtonIsReportedAndNeverWipes() throws {
        lines["button"] = ScriptedLine(loop)
        lines["button"]?.level = true
        let panel = try panel()
        panel.onWipe = { XCTFail("nobody asked for it") }
        loop.advance(by: .hours(1))
        XCTAssertEqual(problems(of: panel), ["panel.button: stuck"])
        lines["button"]?.level = false
        loop.advance(by: .seconds(2))
        XCTAssertEqual(problems(of: panel), [])
    }

    func testAMissedEdgeIsNoticedBySecondlyLooks() throws {
        let panel = try panel()
        var taps = 0
        panel.onAcknowledge = { taps += 1 }
        var state = well
        state.wipe = .wiped
        panel.show(state)
        loop.advance(by: .milliseconds(11_400))
        lines["button"]?.isDeaf = true
        // Seen by one look alone, and so for less than a second.
        lines["button"]?.level = true
        loop.advance(by: .milliseconds(800))
        lines["button"]?.level = false
        loop.advance(by: .milliseconds(2_000))
        XCTAssertEqual(taps, 1)
        XCTAssertEqual(problems(of: panel), [])
    }

    func testALampThatCanBeHadOnlyDuringAWipeFlickersFromThenOn() throws {
        refusals["status"] = .notPermitted(try XCTUnwrap(LineAddress("status")), path: "/dev/gpiochip3")
        let panel = try panel()
        panel.showWiping()
        XCTAssertNil(lines["status"])
        refusals.removeAll()
        var seen: Set<Bool> = []
        for _ in 0..<100 {
            loop.advance(by: .milliseconds(30))
            panel.playWiping()
            if let level = lines["status"]?.level { seen.insert(level) }
        }
        XCTAssertEqual(seen, [true, false])
    }

    func testNoPanelIsNoError() {
        let panel = Panel(loop: loop, configuration: PanelConfiguration())
        panel.start()
        panel.show(well)
        XCTAssertEqual(problems(of: panel), [])
        XCTAssertNil(panel.report)
        XCTAssertTrue(loop.isIdle)
    }

    func testStoppingPutsEveryLampOut() throws {
        let panel = try panel([.status, .mesh])
        panel.show(well)
        loop.advance(by: .milliseconds(10))
        panel.stop()
        XCTAssertEqual(lines["status"]?.level, false)
        XCTAssertEqual(lines["mesh"]?.level, false)
        loop.advance(by: .minutes(1))
        XCTAssertTrue(loop.isIdle)
    }
}
