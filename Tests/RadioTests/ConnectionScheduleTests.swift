import Basics
import XCTest

@testable import Radio

/// The pacing rules of chapter 03 A5.
final class ConnectionScheduleTests: XCTestCase {
    private var schedule = ConnectionSchedule<String>()
    private var random = SeededRandom(seed: 1)

    private func choice(_ candidates: [String], at milliseconds: Int) -> ConnectionSchedule<String>.Choice {
        schedule.next(among: candidates, at: at(milliseconds), using: &random)
    }

    private func at(_ milliseconds: Int) -> Instant { .zero + .milliseconds(milliseconds) }

    func testAttemptsToAnyoneAreHalfASecondApart() {
        XCTAssertEqual(choice(["a"], at: 0), .connect("a"))
        XCTAssertEqual(choice(["b"], at: 499), .wait(until: at(550)))
        XCTAssertEqual(choice(["b"], at: 500), .connect("b"))
    }

    func testSameNeighbourWaitsTwoSeconds() {
        XCTAssertEqual(choice(["a"], at: 0), .connect("a"))
        XCTAssertEqual(choice(["a"], at: 1_000), .wait(until: at(2_000)))
        XCTAssertEqual(choice(["a"], at: 2_000), .connect("a"))
    }

    func testTimeoutCostsFifteenSecondsAndDisconnectThree() {
        XCTAssertEqual(choice(["a"], at: 0), .connect("a"))
        schedule.timedOut("a", at: at(5_000))
        XCTAssertEqual(choice(["a"], at: 6_000), .wait(until: at(20_000)))
        XCTAssertEqual(choice(["a"], at: 20_000), .connect("a"))
        schedule.connected("a")
        schedule.disconnected("a", failed: false, at: at(30_000))
        XCTAssertEqual(choice(["a"], at: 30_001), .wait(until: at(33_000)))
        XCTAssertEqual(choice(["a"], at: 33_000), .connect("a"))
    }

    func testShorterPauseNeverShortensALongerOne() {
        XCTAssertEqual(choice(["a"], at: 0), .connect("a"))
        schedule.closedByUs("a", at: at(1_000))
        schedule.disconnected("a", failed: false, at: at(2_000))
        XCTAssertEqual(choice(["a"], at: 2_000), .wait(until: at(61_000)))
    }

    func testFailingNeighbourComesAfterTheOthers() {
        XCTAssertEqual(choice(["a"], at: 0), .connect("a"))
        schedule.disconnected("a", failed: true, at: at(0))
        XCTAssertEqual(choice(["a", "b"], at: 10_000), .connect("b"))
        XCTAssertEqual(choice(["a", "b"], at: 11_000), .connect("a"))
    }

    func testFailuresAreForgottenAfterTwoMinutes() {
        var chosen: Set<String> = []
        for seed in 0..<20 {
            schedule = ConnectionSchedule()
            random = SeededRandom(seed: UInt64(seed))
            XCTAssertEqual(choice(["a"], at: 0), .connect("a"))
            schedule.timedOut("a", at: at(0))
            if case .connect(let name) = choice(["a", "b"], at: 135_001) { chosen.insert(name) }
        }
        XCTAssertEqual(chosen, ["a", "b"])
    }

    func testNobodyToCallMeansNothingToWaitFor() {
        XCTAssertEqual(choice([], at: 0), .nothing)
    }

    func testBudgetKeepsSlotsForIncomingLinks() {
        let budget = LinkBudget()
        XCTAssertTrue(budget.mayConnect(outgoing: 5, incoming: 0))
        XCTAssertFalse(budget.mayConnect(outgoing: 6, incoming: 0))
        XCTAssertTrue(budget.mayConnect(outgoing: 2, incoming: 3))
        XCTAssertFalse(budget.mayConnect(outgoing: 2, incoming: 4))
        XCTAssertTrue(budget.mayAccept(outgoing: 6, incoming: 1))
        XCTAssertFalse(budget.mayAccept(outgoing: 6, incoming: 2))
        XCTAssertFalse(LinkBudget(total: 100).mayConnect(outgoing: 6, incoming: 0))
    }
}
