import Basics
import EventLoop

/// The clocks of the machine besides those of the loop.
struct MachineClock {
    /// Time since the start of the machine, suspension included; never stepped.
    var running: () -> Instant
    /// Whether the kernel calls its clock synchronised.
    var isSynchronised: () -> Bool

    static var system: MachineClock {
        MachineClock(running: { SystemClock.running }, isSynchronised: { SystemClock.isSynchronised })
    }
}

/// A loop whose wall clock is mesh time: whatever runs on it dates and judges by that, and by no other clock.
final class ClockedLoop: EventLoop {
    /// The loop as the machine has it, its wall clock included.
    let machine: any EventLoop
    let running: () -> Instant
    var offset: ClockOffset

    init(_ machine: any EventLoop, running: @escaping () -> Instant, offset: ClockOffset) {
        self.machine = machine
        self.running = running
        self.offset = offset
    }

    var now: Now { Now(monotonic: machine.now.monotonic, wall: running().wall(offset)) }

    @discardableResult
    func schedule(after delay: Interval, _ action: @escaping () -> Void) -> any Cancellable {
        machine.schedule(after: delay, action)
    }

    func watch(
        _ descriptor: Int32, _ interest: IOInterest, _ action: @escaping (IOInterest) -> Void
    ) -> any Cancellable {
        machine.watch(descriptor, interest, action)
    }

    @discardableResult
    func onSignal(_ signal: Int32, _ action: @escaping () -> Void) -> any Cancellable {
        machine.onSignal(signal, action)
    }

    func enqueue(_ action: @escaping () -> Void) { machine.enqueue(action) }
    func run() { machine.run() }
    func stop() { machine.stop() }
}
