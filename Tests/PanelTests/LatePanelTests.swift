import Basics
import EventLoop
import XCTest

@testable import Panel

/// The panel on a loop that comes round late: what the finger did counts by when it did it.
final class LatePanelTests: XCTestCase {
    /// Time passes by hand, and timers run when they are let.
    private final class LateLoop: EventLoop {
        private final class Timer: Cancellable {
            let due: Instant
            var action: (() -> Void)?
            init(due: Instant, _ action: @escaping () -> Void) {
                self.due = due
                self.action = action
            }
            func cancel() { action = nil }
        }

        private var timers: [Timer] = []
        private var monotonic = Instant.zero + .hours(1)
        var now: Now { Now(monotonic: monotonic, wall: WallTime(milliseconds: 0)) }

        func schedule(after delay: Interval, _ action: @escaping () -> Void) -> any Cancellable {
            let timer = Timer(due: monotonic + delay, action)
            timers.append(timer)
            return timer
        }

        func stall(for span: Interval) { monotonic = monotonic + span }

        func work(for span: Interval) {
            let end = monotonic + span
            while true {
                timers.removeAll { $0.action == nil }
                guard let next = timers.min(by: { $0.due < $1.due }), next.due <= end else { break }
                monotonic = max(monotonic, next.due)
                let action = next.action
                next.cancel()
                action?()
            }
            monotonic = max(monotonic, end)
        }

        func watch(_ descriptor: Int32, _ interest: IOInterest, _ action: @escaping (IOInterest) -> Void)
            -> any Cancellable
        { Timer(due: monotonic, {}) }
        func onSignal(_ signal: Int32, _ action: @escaping () -> Void) -> any Cancellable { Timer(due: monotonic, {}) }
        func enqueue(_ action: @escaping () -> Void) { _ = schedule(after: .zero, action) }
        func run() {}
        func stop() {}
    }

    private let loop = LateLoop()
    private lazy var button = ScriptedLine(loop)
    private var wipes = 0

    /// A panel whose wipe is armed: a second press confirms it.
    private func armed() throws -> Panel {
        wipes = 0
        button = ScriptedLine(loop)
        let status = ScriptedLine(loop)
        let configuration = PanelConfiguration(
            lamps: [.status: PanelWire(try XCTUnwrap(LineAddress("status")))],
            button: PanelWire(try XCTUnwrap(LineAddress("button"))))
        let panel = Panel(loop: loop, configuration: configuration) { [button] wire, _ in
            wire.address == LineAddress("button") ? button : status
        }
        panel.onWipe = { [unowned self] in wipes += 1 }
        panel.start()
        hold(.seconds(6), panel)
        loop.work(for: .seconds(1))
        return panel
    }

    private func hold(_ span: Interval, _ panel: Panel) {
        button.level = true
        panel.buttonChanged()
        loop.work(for: span)
        button.level = false
        panel.buttonChanged()
    }

    func testATapWhileTheLoopStandsStillIsNoConfirmationOfAWipe() throws {
        for (held, isConfirmed) in [(300, false), (990, false), (1_000, true), (1_500, true)] {
            let panel = try armed()
            button.level = true
            loop.stall(for: .milliseconds(held))
            button.level = false
            loop.stall(for: .seconds(3))
            loop.work(for: .seconds(2))
            XCTAssertEqual(wipes, isConfirmed ? 1 : 0, "\(held) ms")
            panel.stop()
        }
    }

    func testATapWhoseEndComesWhileTheLoopStandsStillIsNone() throws {
        for isTold in [true, false] {
            let panel = try armed()
            button.level = true
            panel.buttonChanged()
            loop.work(for: .milliseconds(200))
            button.isDeaf = !isTold
            button.level = false
            loop.stall(for: .seconds(3))
            loop.work(for: .seconds(2))
            XCTAssertEqual(wipes, 0)
            panel.stop()
        }
    }

    func testSoManyEdgesThatSomeMayBeLostConfirmNothing() throws {
        let panel = try armed()
        for _ in 0..<8 {
            button.level = true
            button.level = false
        }
        button.level = true
        loop.stall(for: .milliseconds(1_500))
        loop.work(for: .seconds(2))
        XCTAssertEqual(wipes, 0)
        button.level = false
        loop.work(for: .seconds(2))
        // It can be made again.
        hold(.seconds(6), panel)
        loop.work(for: .seconds(1))
        hold(.seconds(2), panel)
        loop.work(for: .seconds(1))
        XCTAssertEqual(wipes, 1)
        panel.stop()
    }

    func testEdgesStampedWithAnotherClockMakeTheGestureAllTheSame() throws {
        let panel = try armed()
        for isPressed in [true, false] {
            button.isDeaf = true
            button.level = isPressed
            button.pending = [LineEdge(isActive: isPressed, at: loop.now.monotonic + .hours(400_000))]
            panel.buttonChanged()
            loop.work(for: .milliseconds(1_200))
        }
        XCTAssertEqual(wipes, 1)
        panel.stop()
    }
}
