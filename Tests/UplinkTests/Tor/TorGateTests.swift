import Basics
import XCTest

@testable import Uplink

final class TorGateTests: XCTestCase {
    private var now = Instant.zero + .seconds(1_000)
    private var gate = TorGate(hasControlPort: true)

    private func wait(_ span: Interval) {
        now = now + span
        gate.timeout(at: now)
    }

    private func phase(_ progress: Int, _ tag: String = "x", warning: String? = nil) -> TorObservation {
        .bootstrap(TorBootstrap(progress: progress, tag: tag, summary: "step \(progress)", warning: warning))
    }

    private func connect(at progress: Int) {
        gate.observe(.connected(version: "0.4.9"), at: now)
        gate.observe(phase(progress), at: now)
    }

    private func probe(_ evidence: RouteEvidence, line: UInt = #line) {
        guard let number = gate.takeProbe(at: now) else { return XCTFail("no probe is due", line: line) }
        gate.probeEnded(number, evidence, at: now)
    }

    private func makeReady() {
        gate.setTimeProven(true, at: now)
        connect(at: 100)
        probe(.worked)
        XCTAssertEqual(gate.access, .open)
        XCTAssertEqual(gate.stage, .ready)
    }

    private func assertWaits(_ stage: TorStage, line: UInt = #line) {
        XCTAssertEqual(gate.access, .waiting, line: line)
        XCTAssertEqual(gate.stage, stage, line: line)
    }

    // MARK: The order: time, bootstrap, proof

    func testTheWayIsClosedUntilTheTimeIsProvenThoughItIsLookedFor() {
        connect(at: 100)
        XCTAssertFalse(gate.isProven)
        probe(.worked)
        XCTAssertTrue(gate.isProven, "relays may be asked the time")
        XCTAssertEqual(gate.access, .closed)
        XCTAssertEqual(gate.stage, .waitingForTime)
        gate.setTimeProven(true, at: now)
        XCTAssertEqual(gate.access, .open)
        gate.setTimeProven(false, at: now)
        XCTAssertEqual(gate.access, .closed)
        gate.observe(.clockJumped, at: now)
        gate.setTimeProven(true, at: now)
        assertWaits(.degraded)
    }

    func testNothingIsAskedBeforeTorIsUp() {
        gate.setTimeProven(true, at: now)
        assertWaits(.starting)
        XCTAssertNil(gate.takeProbe(at: now))
        for progress in [0, 5, 45, 99] {
            connect(at: progress)
            assertWaits(.bootstrapping)
            wait(.minutes(1))
            XCTAssertNil(gate.takeProbe(at: now))
        }
        connect(at: 100)
        assertWaits(.proving)
        XCTAssertNotNil(gate.takeProbe(at: now))
        XCTAssertNil(gate.takeProbe(at: now), "one probe at a time")
    }

    func testEveryStepOfTheBootstrapIsTold() {
        gate.setTimeProven(true, at: now)
        connect(at: 5)
        wait(.seconds(2))
        gate.observe(phase(10, "conn_done"), at: now)
        gate.observe(phase(10, "conn_done", warning: "Connection refused"), at: now)
        let report = gate.report(at: now)
        XCTAssertEqual(report.steps.map(\.progress), [5, 10])
        XCTAssertEqual(report.steps.map(\.after), [.zero, .seconds(2)])
        XCTAssertEqual(report.problem, "Connection refused")
        for step in 11...99 { gate.observe(phase(step), at: now) }
        XCTAssertEqual(gate.report(at: now).steps.count, TorLimits.bootstrapSteps)
    }

    func testABootstrapWithoutNewsForTenMinutesIsStalledAndNoLonger() {
        gate.setTimeProven(true, at: now)
        connect(at: 10)
        XCTAssertEqual(gate.nextDeadline, now + .minutes(10))
        wait(.minutes(10) - .milliseconds(1))
        assertWaits(.bootstrapping)
        gate.observe(phase(10), at: now)
        wait(.milliseconds(1))
        assertWaits(.stalled)
        gate.observe(phase(15), at: now)
        assertWaits(.bootstrapping)
    }

    func testAWrongClockIsNamedUntilTorIsUp() {
        gate.setTimeProven(true, at: now)
        connect(at: 30)
        gate.observe(.clockSkew(seconds: -7_200), at: now)
        assertWaits(.clockSkew)
        XCTAssertEqual(gate.report(at: now).clockSkew, -7_200)
        gate.observe(phase(100), at: now)
        assertWaits(.proving)
        XCTAssertNil(gate.report(at: now).clockSkew)
    }

    // MARK: Proof

    func testBootstrappedIsNoProof() {
        gate.setTimeProven(true, at: now)
        connect(at: 100)
        gate.observe(.circuits(isEstablished: true), at: now)
        gate.observe(.network(isUp: true), at: now)
        assertWaits(.proving)
        probe(.failed("TTL expired"))
        assertWaits(.proving)
        XCTAssertEqual(gate.report(at: now).problem, "TTL expired")
    }

    func testFailedProbesAreRepeatedFromFiveToThreeHundredSeconds() {
        gate.setTimeProven(true, at: now)
        connect(at: 100)
        for delay in [5, 10, 20, 40, 80, 160, 300, 300, 300] {
            probe(.failed("nobody"))
            XCTAssertEqual(gate.nextDeadline, now + .seconds(delay))
            wait(.seconds(delay))
        }
        assertWaits(.stalled)
        gate.observe(.circuits(isEstablished: true), at: now)
        probe(.worked)
        XCTAssertEqual(gate.access, .open)
    }

    func testWhatTorRepeatsNeitherHurriesProbesNorClosesAProvenWay() {
        gate.setTimeProven(true, at: now)
        connect(at: 100)
        func heartbeat(_ isGood: Bool) {
            gate.observe(phase(100), at: now)
            gate.observe(.circuits(isEstablished: isGood), at: now)
            gate.observe(.network(isUp: isGood), at: now)
        }
        heartbeat(true)
        for delay in [5, 10, 20, 40, 80, 160, 300] {
            probe(.failed("nobody"))
            heartbeat(true)
            XCTAssertEqual(gate.nextDeadline, now + .seconds(delay))
            wait(.seconds(delay))
        }
        heartbeat(false)
        probe(.worked)
        for _ in 0..<10 {
            heartbeat(false)
            XCTAssertEqual(gate.access, .open)
            wait(.seconds(15))
        }
        heartbeat(true)
        heartbeat(false)
        XCTAssertEqual(gate.access, .waiting)
    }

    func testAProxyThatIsDownIsAskedEveryHalfMinute() {
        gate.setTimeProven(true, at: now)
        gate.observe(.lost(.absent("no such file")), at: now)
        for delay in [5, 10, 20, 30, 30] {
            probe(.proxyFailed("refused"))
            assertWaits(.unreachable)
            XCTAssertEqual(gate.nextDeadline, now + .seconds(delay))
            wait(.seconds(delay))
        }
        probe(.failed("nobody"))
        assertWaits(.stalled)
    }

    func testAProbeThatNeverEndsIsGivenUp() {
        gate.setTimeProven(true, at: now)
        connect(at: 100)
        let number = gate.takeProbe(at: now)
        XCTAssertEqual(gate.nextDeadline, now + TorLimits.stalledAttempt)
        wait(TorLimits.stalledAttempt)
        assertWaits(.stalled)
        wait(TorLimits.probeTimeout)
        XCTAssertFalse(gate.isCurrent(number ?? 0))
        gate.probeEnded(number ?? 0, .worked, at: now)
        XCTAssertEqual(gate.access, .waiting)
    }

    func testWithoutAControlPortProbesAreAllThereIs() {
        gate = TorGate(hasControlPort: false)
        gate.setTimeProven(true, at: now)
        assertWaits(.proving)
        probe(.worked)
        XCTAssertEqual(gate.stage, .ready)
        XCTAssertEqual(gate.report(at: now).control, .none)
    }

    func testAControlPortThatCannotBeReadLeavesTheProbes() {
        gate.setTimeProven(true, at: now)
        gate.observe(.lost(.cookieForbidden("/run/tor/control.authcookie")), at: now)
        probe(.worked)
        XCTAssertEqual(gate.access, .open)
        XCTAssertEqual(gate.report(at: now).control, .lost(.cookieForbidden("/run/tor/control.authcookie")))
    }

    // MARK: Doubt

    func testEveryDoubtClosesTheWayUntilAFreshProbeHasComeThrough() {
        let doubts: [(String, () -> Void)] = [
            ("control port lost", { self.gate.observe(.lost(.ended), at: self.now) }),
            ("circuits lost", { self.gate.observe(.circuits(isEstablished: false), at: self.now) }),
            ("network down", { self.gate.observe(.network(isUp: false), at: self.now) }),
            ("clock set", { self.gate.observe(.clockJumped, at: self.now) }),
            ("SOCKS port down", { self.gate.witnessed(.proxyFailed("refused"), at: self.now) }),
            (
                "failures in a row",
                {
                    for _ in 0..<TorLimits.failuresForDoubt {
                        self.gate.witnessed(.failed("late"), at: self.now)
                        self.now = self.now + TorLimits.failureSpacing
                    }
                }
            ),
        ]
        for (name, raise) in doubts {
            gate = TorGate(hasControlPort: true)
            makeReady()
            raise()
            XCTAssertEqual(gate.access, .waiting, name)
            XCTAssertEqual(gate.stage, .degraded, name)
            gate.witnessed(.worked, at: now)
            XCTAssertEqual(gate.access, .waiting, "\(name): what was on its way proves nothing")
            XCTAssertNotNil(gate.report(at: now).problem, name)
            probe(.worked)
            XCTAssertEqual(gate.access, .open, name)
        }
    }

    func testAProbeFromBeforeTheDoubtProvesNothing() {
        makeReady()
        gate.observe(.circuits(isEstablished: false), at: now)
        let old = gate.takeProbe(at: now)
        gate.observe(.lost(.ended), at: now)
        XCTAssertFalse(gate.isCurrent(old ?? 0))
        gate.probeEnded(old ?? 0, .worked, at: now)
        XCTAssertEqual(gate.access, .waiting)
        probe(.worked)
        XCTAssertEqual(gate.access, .open)
    }

    /// Relays that are gone and were dialled together fail together, which says nothing of the way.
    func testManyFailuresOfOneMomentAreOne() {
        makeReady()
        for _ in 0..<20 { gate.witnessed(.failed("late"), at: now) }
        XCTAssertEqual(gate.access, .open)
        now = now + TorLimits.failureSpacing
        gate.witnessed(.failed("late"), at: now)
        XCTAssertEqual(gate.access, .waiting)
    }

    func testSingleFailuresBetweenSuccessesAreTheRelaysOwn() {
        makeReady()
        for _ in 0..<20 {
            gate.witnessed(.failed("late"), at: now)
            gate.witnessed(.worked, at: now)
        }
        XCTAssertEqual(gate.access, .open)
    }

    func testATorThatIsStartedAnewIsFollowedFromTheBeginning() {
        makeReady()
        gate.observe(.lost(.ended), at: now)
        gate.observe(.lost(.absent("refused")), at: now)
        assertWaits(.degraded)
        connect(at: 14)
        assertWaits(.bootstrapping)
        XCTAssertEqual(gate.report(at: now).steps.map(\.progress), [14])
        XCTAssertNil(gate.takeProbe(at: now))
        gate.observe(phase(100), at: now)
        probe(.worked)
        XCTAssertEqual(gate.access, .open)
    }

    func testABootstrapThatFallsBackUnderAnOpenConnectionClosesTheWay() {
        makeReady()
        gate.observe(phase(50), at: now)
        assertWaits(.bootstrapping)
        gate.observe(phase(100), at: now)
        XCTAssertEqual(gate.access, .waiting)
        probe(.worked)
        XCTAssertEqual(gate.access, .open)
    }

    func testTorComingBackIsNoticedAtOnceHoweverLongItWasAway() {
        makeReady()
        gate.observe(.lost(.ended), at: now)
        for _ in 0..<10 {
            probe(.proxyFailed("refused"))
            wait(.seconds(30))
        }
        probe(.proxyFailed("refused"))
        wait(.seconds(1))
        XCTAssertNil(gate.takeProbe(at: now))
        connect(at: 100)
        probe(.worked)
        XCTAssertEqual(gate.access, .open)
    }

    /// Whatever is told in whatever order, the way is open only with the time proven, no bootstrap under way, and a
    /// probe that came through after the last doubt.
    func testNoOrderOfEventsOpensTheWayWithoutProof() {
        for seed in 0..<300 {
            var random = SeededRandom(seed: UInt64(seed))
            gate = TorGate(hasControlPort: seed % 4 != 0)
            var isTimeProven = false
            var isUp = true
            var isProven = false
            var running: UInt64?
            for _ in 0..<200 {
                switch Int.random(in: 0..<12, using: &random) {
                case 0:
                    isTimeProven = Bool.random(using: &random)
                    gate.setTimeProven(isTimeProven, at: now)
                case 1: gate.observe(.connected(version: nil), at: now)
                case 2:
                    gate.observe(.lost(.ended), at: now)
                    isUp = true
                case 3:
                    let progress = [0, 50, 100].randomElement(using: &random) ?? 0
                    gate.observe(.connected(version: nil), at: now)
                    gate.observe(phase(progress), at: now)
                    isUp = progress == 100
                    if !isUp { isProven = false }
                case 4: gate.observe(.circuits(isEstablished: Bool.random(using: &random)), at: now)
                case 5: gate.observe(.clockJumped, at: now)
                case 6: gate.witnessed(.proxyFailed(""), at: now)
                case 7: gate.witnessed(.worked, at: now)
                case 8: running = gate.takeProbe(at: now) ?? running
                case 9:
                    if let number = running {
                        let isCurrent = gate.isCurrent(number)
                        gate.probeEnded(number, .worked, at: now)
                        if isCurrent { isProven = true }
                    }
                case 10: wait(.seconds(Int.random(in: 0...200, using: &random)))
                default: gate.witnessed(.failed(""), at: now)
                }
                XCTAssertEqual(gate.access == .open, gate.isProven && isTimeProven, "seed \(seed)")
                XCTAssertEqual(gate.stage == .ready, gate.access == .open, "seed \(seed)")
                if gate.isProven { XCTAssertTrue(isUp && isProven, "seed \(seed)") } else { isProven = false }
                if let due = gate.nextDeadline, due < now { XCTAssertNotNil(gate.takeProbe(at: now), "seed \(seed)") }
            }
        }
    }
}
