import Basics
import Glibc
import XCTest

@testable import EventLoop

final class LibeventLoopTests: XCTestCase {
    /// Ends a test that hangs; no test measures elapsed time.
    private static let failSafe = Interval.seconds(20)

    private func makeLoop() throws -> LibeventLoop {
        let loop = try LibeventLoop()
        loop.schedule(after: LibeventLoopTests.failSafe) { [weak loop] in
            XCTFail("the loop hung")
            loop?.stop()
        }
        return loop
    }

    private func makePipe() throws -> (read: FileDescriptor, write: FileDescriptor) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw SystemError.last("pipe") }
        return (FileDescriptor(owning: ends[0]), FileDescriptor(owning: ends[1]))
    }

    func testTimersFireInOrderOfDeadlineThenOfScheduling() throws {
        LoopContract.timersFireInOrderOfDeadlineThenOfScheduling(try makeLoop())
    }
    func testCancelledTimersStaySilent() throws { LoopContract.cancelledTimersStaySilent(try makeLoop()) }
    func testTimerMayCancelItselfAndScheduleAnother() throws {
        LoopContract.timerMayCancelItselfAndScheduleAnother(try makeLoop())
    }
    func testEnqueuedWorkRunsInOrderInALaterTurn() throws {
        LoopContract.enqueuedWorkRunsInOrderInALaterTurn(try makeLoop())
    }
    func testStopEndsTheRunAfterTheCurrentCallback() throws {
        LoopContract.stopEndsTheRunAfterTheCurrentCallback(try makeLoop())
    }
    func testActionsAreLetGoOnceFiredOrCancelled() throws {
        LoopContract.actionsAreLetGoOnceFiredOrCancelled(try makeLoop())
    }
    func testEndlessDelayNeverFires() throws {
        LoopContract.endlessDelayNeverFiresAndOverflowsNothing(try makeLoop())
    }

    func testStopBeforeRunMakesTheNextRunReturn() throws {
        let loop = try makeLoop()
        loop.stop()
        loop.run()
        XCTAssertEqual(loop.turns, 0)
    }

    func testTimerNeverFiresBeforeItsDeadline() throws {
        let loop = try makeLoop()
        var early = 0
        for delay in [100, 900, 1_700, 2_300, 4_100] {
            let due = loop.now.monotonic + .microseconds(delay)
            loop.schedule(after: .microseconds(delay)) { if loop.now.monotonic < due { early += 1 } }
        }
        loop.schedule(after: .milliseconds(8)) { loop.stop() }
        loop.run()
        XCTAssertEqual(early, 0)
    }

    func testIdleLoopSleepsInTheKernel() throws {
        let loop = try LibeventLoop()
        let (reading, writing) = try makePipe()
        let watch = loop.watch(reading.raw, .read) { _ in XCTFail("nothing was written") }
        var pendingAtWake: (timers: Int, registrations: Int, deferred: Int)?
        let alarm = loop.onSignal(SIGALRM) {
            pendingAtWake = loop.pending
            loop.stop()
        }
        // The interval timer of the process is the only thing that can end the wait: the loop itself has no timer.
        var interval = itimerval()
        interval.it_value.tv_usec = 30_000
        XCTAssertEqual(setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &interval, nil), 0)
        loop.run()
        XCTAssertEqual(loop.turns, 1, "an idle loop wakes for the signal and for nothing before it")
        XCTAssertEqual(pendingAtWake?.timers, 0)
        watch.cancel()
        alarm.cancel()
        withExtendedLifetime((reading, writing)) {}
    }

    func testDistantTimerCostsNoWakeUps() throws {
        let loop = try LibeventLoop()
        loop.schedule(after: .hours(10_000)) { XCTFail("far too early") }
        loop.schedule(after: Interval(nanoseconds: .max)) { XCTFail("far too early") }
        loop.schedule(after: .milliseconds(30)) { loop.stop() }
        loop.run()
        XCTAssertLessThanOrEqual(loop.turns, 2)
    }

    func testReadinessIsReportedUntilConsumed() throws {
        let loop = try makeLoop()
        let (reading, writing) = try makePipe()
        var calls = 0
        var watch: (any Cancellable)?
        watch = loop.watch(reading.raw, .read) { ready in
            XCTAssertEqual(ready, .read)
            calls += 1
            if calls == 3 {
                watch?.cancel()
                loop.stop()
            }
        }
        XCTAssertEqual([1, 2].withUnsafeBytes { writing.write(UnsafeRawBufferPointer(rebasing: $0[..<2])) }, .bytes(2))
        loop.run()
        XCTAssertEqual(calls, 3, "level-triggered: unread bytes are reported again")
        XCTAssertEqual(loop.pending.registrations, 0)
    }

    func testWriteInterestIsReportedAndEndsWithTheWatch() throws {
        let loop = try makeLoop()
        let (reading, writing) = try makePipe()
        var ready: IOInterest?
        var watch: (any Cancellable)?
        watch = loop.watch(writing.raw, .write) {
            ready = $0
            watch?.cancel()
            loop.schedule(after: .milliseconds(2)) { loop.stop() }
        }
        loop.run()
        XCTAssertEqual(ready, .write)
        withExtendedLifetime(reading) {}
    }

    func testWatchCancelsAnotherThatIsReadyInTheSameTurn() throws {
        let loop = try makeLoop()
        let one = try makePipe()
        let two = try makePipe()
        for end in [one.write, two.write] { _ = [UInt8(1)].withUnsafeBytes { end.write($0) } }
        var calls = 0
        var watches: [any Cancellable] = []
        for end in [one.read, two.read] {
            watches.append(
                loop.watch(end.raw, .read) { _ in
                    calls += 1
                    for watch in watches { watch.cancel() }
                    loop.schedule(after: .milliseconds(2)) { loop.stop() }
                })
        }
        loop.run()
        XCTAssertEqual(calls, 1)
    }

    func testCancelledWatchLetsItsActionGo() throws {
        final class Payload {}
        let loop = try makeLoop()
        let (reading, writing) = try makePipe()
        weak var held: Payload?
        func arm() -> any Cancellable {
            let payload = Payload()
            held = payload
            return loop.watch(reading.raw, .read) { _ in _ = payload }
        }
        let watch = arm()
        XCTAssertNotNil(held)
        watch.cancel()
        XCTAssertNil(held)
        watch.cancel()
        withExtendedLifetime(writing) {}
    }

    func testReleasedLoopLetsEverythingGoAndLateCancelsAreHarmless() throws {
        final class Payload {}
        let (reading, writing) = try makePipe()
        weak var held: Payload?
        var handles: [any Cancellable] = []
        func arm() throws {
            let loop = try LibeventLoop()
            let payload = Payload()
            held = payload
            handles.append(loop.watch(reading.raw, .read) { _ in _ = payload })
            handles.append(loop.onSignal(SIGHUP) { _ = payload })
            handles.append(loop.schedule(after: .seconds(60)) { _ = payload })
            loop.enqueue { _ = payload }
        }
        try arm()
        XCTAssertNil(held)
        for handle in handles { handle.cancel() }
        withExtendedLifetime(writing) {}
    }

    func testSignalsReachTheLoopUntilCancelled() throws {
        let loop = try makeLoop()
        var received: [Int32] = []
        var handles: [any Cancellable] = []
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            handles.append(loop.onSignal(signal) { received.append(signal) })
        }
        for signal in [SIGTERM, SIGINT, SIGHUP] { kill(getpid(), signal) }
        loop.schedule(after: .milliseconds(5)) { loop.stop() }
        loop.run()
        XCTAssertEqual(Set(received), [SIGTERM, SIGINT, SIGHUP])
        XCTAssertEqual(received.count, 3)
        for handle in handles { handle.cancel() }
        XCTAssertEqual(loop.pending.registrations, 0)
    }

    func testSelfRenewingWorkStarvesNeitherTimersNorDescriptors() throws {
        let loop = try makeLoop()
        let (reading, writing) = try makePipe()
        var timerFired = false
        func renew() { loop.enqueue { renew() } }
        func renewTimer() { loop.schedule(after: .zero) { renewTimer() } }
        renew()
        renewTimer()
        loop.schedule(after: .milliseconds(1)) {
            timerFired = true
            _ = [UInt8(1)].withUnsafeBytes { writing.write($0) }
        }
        let watch = loop.watch(reading.raw, .read) { _ in loop.stop() }
        loop.run()
        XCTAssertTrue(timerFired)
        watch.cancel()
    }

    func testWhatNeverMakesAnybodyWaitIsAlwaysReady() throws {
        for path in [#filePath, "/dev/null", "/tmp"] {
            let loop = try makeLoop()
            let file = FileDescriptor(owning: open(path, O_RDONLY | O_CLOEXEC))
            var calls = 0
            var watch: (any Cancellable)?
            watch = loop.watch(file.raw, .read) { ready in
                XCTAssertEqual(ready, .read)
                calls += 1
                if calls == 2 {
                    watch?.cancel()
                    loop.schedule(after: .milliseconds(1)) { loop.stop() }
                }
            }
            loop.run()
            XCTAssertEqual(calls, 2, path)
        }
    }

    func testBothClocksAreTheSystems() {
        let before = SystemClock.now
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        XCTAssertLessThanOrEqual(before.wall.unixSeconds, Int64(time.tv_sec))
        XCTAssertGreaterThan(before.wall.milliseconds, 1_700_000_000_000)
        XCTAssertLessThanOrEqual(before.monotonic, SystemClock.monotonic)
    }
}
