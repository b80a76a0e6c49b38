import Basics
import EventLoop
import XCTest

/// What both loops promise. Each test class runs every one of these on its own kind of loop.
enum LoopContract {
    static func timersFireInOrderOfDeadlineThenOfScheduling(_ loop: any EventLoop) {
        var fired: [String] = []
        loop.schedule(after: .milliseconds(6)) {
            fired.append("last")
            loop.stop()
        }
        for name in ["a", "b", "c"] { loop.schedule(after: .zero) { fired.append(name) } }
        loop.schedule(after: .milliseconds(3)) { fired.append("middle") }
        loop.schedule(after: Interval(nanoseconds: -5)) { fired.append("overdue") }
        loop.run()
        XCTAssertEqual(fired.last, "last")
        XCTAssertEqual(fired[fired.count - 2], "middle")
        XCTAssertEqual(fired.prefix(4).filter { $0 != "overdue" }, ["a", "b", "c"])
        XCTAssertEqual(fired.count, 6)
    }

    static func cancelledTimersStaySilent(_ loop: any EventLoop) {
        var fired: [String] = []
        var victim: (any Cancellable)?
        let early = loop.schedule(after: .zero) { fired.append("early") }
        early.cancel()
        early.cancel()
        loop.schedule(after: .milliseconds(1)) {
            fired.append("killer")
            victim?.cancel()
        }
        victim = loop.schedule(after: .milliseconds(1)) { fired.append("victim") }
        loop.schedule(after: .milliseconds(2)) { loop.stop() }
        loop.run()
        XCTAssertEqual(fired, ["killer"])
    }

    static func timerMayCancelItselfAndScheduleAnother(_ loop: any EventLoop) {
        var fired: [Int] = []
        var own: (any Cancellable)?
        own = loop.schedule(after: .milliseconds(1)) {
            own?.cancel()
            fired.append(1)
            loop.schedule(after: .zero) {
                fired.append(2)
                loop.stop()
            }
        }
        loop.run()
        own?.cancel()
        XCTAssertEqual(fired, [1, 2])
    }

    static func enqueuedWorkRunsInOrderInALaterTurn(_ loop: any EventLoop) {
        var order: [String] = []
        loop.enqueue {
            order.append("first")
            loop.enqueue {
                order.append("nested")
                loop.stop()
            }
            order.append("still first")
        }
        loop.enqueue { order.append("second") }
        XCTAssertEqual(order, [], "nothing runs inside enqueue")
        loop.run()
        XCTAssertEqual(order, ["first", "still first", "second", "nested"])
    }

    static func stopEndsTheRunAfterTheCurrentCallback(_ loop: any EventLoop) {
        var order: [String] = []
        loop.enqueue {
            loop.stop()
            order.append("current callback ends")
        }
        loop.enqueue { order.append("next run") }
        loop.schedule(after: .zero) { order.append("timer") }
        loop.run()
        XCTAssertEqual(order.last, "current callback ends")
        XCTAssertFalse(order.contains("next run"))
        loop.enqueue { loop.stop() }
        loop.run()
        XCTAssertEqual(Set(order), ["current callback ends", "timer", "next run"])
    }

    static func actionsAreLetGoOnceFiredOrCancelled(_ loop: any EventLoop) {
        final class Payload {}
        weak var fired: Payload?
        weak var cancelled: Payload?
        weak var deferred: Payload?
        var handles: [any Cancellable] = []
        func arm() {
            let one = Payload()
            let two = Payload()
            let three = Payload()
            (fired, cancelled, deferred) = (one, two, three)
            handles.append(loop.schedule(after: .zero) { _ = one })
            handles.append(loop.schedule(after: .seconds(3600)) { _ = two })
            loop.enqueue { _ = three }
        }
        arm()
        handles[1].cancel()
        XCTAssertNil(cancelled, "a cancelled timer keeps nothing")
        loop.schedule(after: .milliseconds(1)) { loop.stop() }
        loop.run()
        XCTAssertNil(fired)
        XCTAssertNil(deferred)
        XCTAssertEqual(handles.count, 2, "the handles outlive their timers and hold nothing")
    }

    static func endlessDelayNeverFiresAndOverflowsNothing(_ loop: any EventLoop) {
        var fired = false
        let timer = loop.schedule(after: Interval(nanoseconds: .max)) { fired = true }
        loop.schedule(after: .milliseconds(1)) { loop.stop() }
        loop.run()
        timer.cancel()
        XCTAssertFalse(fired)
    }
}
