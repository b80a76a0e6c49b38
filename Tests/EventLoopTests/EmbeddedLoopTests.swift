import Basics
import EventLoop
import XCTest

final class EmbeddedLoopTests: XCTestCase {
    private let loop = EmbeddedLoop()

    func testTimersFireInOrderOfDeadlineThenOfScheduling() {
        LoopContract.timersFireInOrderOfDeadlineThenOfScheduling(loop)
    }
    func testCancelledTimersStaySilent() { LoopContract.cancelledTimersStaySilent(loop) }
    func testTimerMayCancelItselfAndScheduleAnother() { LoopContract.timerMayCancelItselfAndScheduleAnother(loop) }
    func testEnqueuedWorkRunsInOrderInALaterTurn() { LoopContract.enqueuedWorkRunsInOrderInALaterTurn(loop) }
    func testStopEndsTheRunAfterTheCurrentCallback() { LoopContract.stopEndsTheRunAfterTheCurrentCallback(loop) }
    func testActionsAreLetGoOnceFiredOrCancelled() { LoopContract.actionsAreLetGoOnceFiredOrCancelled(loop) }
    func testEndlessDelayNeverFires() { LoopContract.endlessDelayNeverFiresAndOverflowsNothing(loop) }

    func testEachTimerSeesItsOwnTimeHoweverFarTheClockIsAdvanced() {
        var seen: [Int64] = []
        for delay in [30, 10, 20] {
            loop.schedule(after: .milliseconds(delay)) { seen.append(self.loop.elapsed.milliseconds) }
        }
        loop.schedule(after: .milliseconds(10)) {
            self.loop.schedule(after: .milliseconds(15)) { seen.append(self.loop.elapsed.milliseconds) }
        }
        loop.advance(by: .seconds(1))
        XCTAssertEqual(seen, [10, 20, 25, 30])
        XCTAssertEqual(loop.elapsed, .seconds(1))
        XCTAssertTrue(loop.isIdle)
    }

    func testNothingDueAfterTheSpanRuns() {
        var fired = false
        loop.schedule(after: .milliseconds(11)) { fired = true }
        loop.advance(by: .milliseconds(10))
        XCTAssertFalse(fired)
        XCTAssertEqual(loop.nextDeadline, loop.now.monotonic + .milliseconds(1))
        loop.advance(by: .milliseconds(1))
        XCTAssertTrue(fired)
    }

    func testWorkEnqueuedByATimerRunsAfterTheTimersAlreadyDue() {
        var order: [String] = []
        loop.schedule(after: .milliseconds(1)) {
            order.append("timer 1")
            self.loop.enqueue { order.append("its work") }
        }
        loop.schedule(after: .milliseconds(1)) { order.append("timer 2") }
        loop.advance(by: .milliseconds(1))
        XCTAssertEqual(order, ["timer 1", "timer 2", "its work"])
    }

    func testWallClockFollowsAndMayBeSteppedWithoutDisturbingTimers() {
        let start = loop.now
        var fired = false
        loop.schedule(after: .seconds(10)) { fired = true }
        for _ in 0..<10 { loop.advance(by: .microseconds(400)) }
        XCTAssertEqual(loop.now.wall.milliseconds - start.wall.milliseconds, 4, "fractions of a millisecond add up")
        loop.setWallClock(WallTime(milliseconds: 1_000))
        loop.advance(by: .seconds(5))
        XCTAssertEqual(loop.now.wall.milliseconds, 6_000)
        XCTAssertFalse(fired)
        loop.advance(by: .seconds(5))
        XCTAssertTrue(fired)
    }

    func testInjectedReadinessReachesOnlyInterestedWatches() {
        var calls: [String] = []
        let reader = loop.watch(7, .read) { calls.append("reader \($0.rawValue)") }
        let both = loop.watch(7, [.read, .write]) { calls.append("both \($0.rawValue)") }
        _ = loop.watch(8, .read) { _ in calls.append("other") }
        loop.makeReady(7, .write)
        XCTAssertEqual(calls, ["both 2"])
        loop.makeReady(7, [.read, .write])
        XCTAssertEqual(calls, ["both 2", "reader 1", "both 3"])
        reader.cancel()
        XCTAssertEqual(loop.interest(in: 7), [.read, .write])
        both.cancel()
        XCTAssertEqual(loop.interest(in: 7), [])
        loop.makeReady(7, .read)
        XCTAssertEqual(calls.count, 3)
    }

    func testWatchCancelledByAnEarlierOneIsNotCalled() {
        var calls = 0
        var second: (any Cancellable)?
        let first = loop.watch(3, .read) { _ in second?.cancel() }
        second = loop.watch(3, .read) { _ in calls += 1 }
        loop.makeReady(3, .read)
        XCTAssertEqual(calls, 0)
        first.cancel()
    }

    func testRaisedSignalReachesItsHandlers() {
        var calls: [Int32] = []
        loop.onSignal(15) { calls.append(15) }
        let hup = loop.onSignal(1) { calls.append(1) }
        loop.raise(15)
        loop.raise(1)
        hup.cancel()
        loop.raise(1)
        XCTAssertEqual(calls, [15, 1])
    }

    func testRunEndsWhenNothingCanHappenAnyMore() {
        var fired = 0
        loop.schedule(after: .hours(5)) {
            fired += 1
            self.loop.schedule(after: .hours(5)) { fired += 1 }
        }
        loop.run()
        XCTAssertEqual(fired, 2)
        XCTAssertEqual(loop.elapsed, .hours(10))
    }

    func testTenThousandTimersCancelledAndFiredKeepTheirOrder() {
        var random = SeededRandom(seed: 11)
        var expected: [(Int64, Int)] = []
        var fired: [Int] = []
        var handles: [any Cancellable] = []
        var delays: [Int64] = []
        for index in 0..<10_000 {
            let delay = Interval(nanoseconds: Int64.random(in: 0...500, using: &random))
            delays.append(delay.nanoseconds)
            handles.append(loop.schedule(after: delay) { fired.append(index) })
        }
        for index in 0..<10_000 {
            if Bool.random(using: &random) {
                handles[index].cancel()
            } else {
                expected.append((delays[index], index))
            }
        }
        XCTAssertEqual(loop.pendingTimers, expected.count)
        loop.advance(by: .seconds(1))
        XCTAssertEqual(fired, expected.sorted { $0 < $1 }.map(\.1))
    }
}
