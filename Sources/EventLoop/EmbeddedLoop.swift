import Basics
import Glibc

/// A loop in virtual time: nothing happens until the caller advances the clock, and the same calls always give the same
/// order. For tests and simulations.
public final class EmbeddedLoop: EventLoop {
    private let start: Now
    /// Wall clock set by hand, and when.
    private var wallOrigin: (at: Instant, wall: WallTime)
    private var monotonic: Instant
    private let timers = TimerQueue()
    private var deferred: [() -> Void] = []
    private var watches: [Registration] = []
    private var stopRequested = false

    /// Work at one instant that exceeds this is a callback which keeps rescheduling itself without delay.
    private static let longestInstant = 1_000_000

    /// - Parameter start: both clocks at the beginning.
    public init(
        start: Now = Now(monotonic: .zero, wall: WallTime(milliseconds: 1_750_000_000_000))
    ) {
        self.start = start
        monotonic = start.monotonic
        wallOrigin = (start.monotonic, start.wall)
    }

    public var now: Now {
        Now(monotonic: wallOrigin.at, wall: wallOrigin.wall).advanced(by: monotonic - wallOrigin.at)
    }

    /// Virtual time since the beginning.
    public var elapsed: Interval { monotonic - start.monotonic }
    public var pendingTimers: Int { timers.count }
    public var nextDeadline: Instant? { timers.nextDeadline }
    /// Nothing will happen without outside input, however far time advances.
    public var isIdle: Bool { timers.count == 0 && deferred.isEmpty }

    /// Steps the wall clock, as NTP or an operator does; the monotonic clock and every timer are undisturbed.
    public func setWallClock(_ wall: WallTime) { wallOrigin = (monotonic, wall) }

    @discardableResult
    public func schedule(after delay: Interval, _ action: @escaping () -> Void) -> any Cancellable {
        timers.add(after: delay, from: monotonic, action)
    }

    public func enqueue(_ action: @escaping () -> Void) { deferred.append(action) }

    public func watch(
        _ descriptor: Int32, _ interest: IOInterest, _ action: @escaping (IOInterest) -> Void
    ) -> any Cancellable {
        register(.descriptor(descriptor), interest, action)
    }

    @discardableResult
    public func onSignal(_ signal: Int32, _ action: @escaping () -> Void) -> any Cancellable {
        register(.signal(signal), []) { _ in action() }
    }

    /// Runs everything due within `span`, each timer at its own time. As on the real loop, the timers of one instant
    /// come before the work enqueued until then. Ends early after `stop`.
    public func advance(by span: Interval) {
        let end = monotonic + span
        run(until: end)
        if !stopRequested { monotonic = max(monotonic, end) }
        stopRequested = false
    }

    /// Runs what is due now, without moving the clock.
    public func settle() { advance(by: .zero) }

    /// Moves from deadline to deadline until `stop`, or until nothing is left that could ever happen.
    public func run() {
        run(until: .distantFuture)
        stopRequested = false
    }

    public func stop() { stopRequested = true }

    /// Reports `descriptor` ready once to every watch interested in any of `ready`, then runs the work enqueued.
    public func makeReady(_ descriptor: Int32, _ ready: IOInterest) {
        for watch in watches where watch.source == .descriptor(descriptor) {
            let matching = watch.interest.intersection(ready)
            if !matching.isEmpty { watch.action?(matching) }
        }
        settle()
    }

    /// Real descriptors in virtual time: reports those the system says are ready, until none is. A watch that never
    /// uses what it is told would never end; after a million reports that is an error.
    public func pollDescriptors() {
        settle()
        for _ in 0..<EmbeddedLoop.longestInstant {
            var polled = watchedDescriptors.map { number in
                let wanted = interest(in: number)
                let events = (wanted.contains(.read) ? POLLIN : 0) | (wanted.contains(.write) ? POLLOUT : 0)
                return pollfd(fd: number, events: Int16(events), revents: 0)
            }
            guard poll(&polled, nfds_t(polled.count), 0) > 0 else { return }
            for descriptor in polled where descriptor.revents != 0 {
                let broken = Int32(descriptor.revents) & (POLLHUP | POLLERR) != 0
                var ready = IOInterest()
                if broken || Int32(descriptor.revents) & POLLIN != 0 { ready.insert(.read) }
                if broken || Int32(descriptor.revents) & POLLOUT != 0 { ready.insert(.write) }
                makeReady(descriptor.fd, ready)
            }
        }
        preconditionFailure("a descriptor stays ready for ever")
    }

    /// Delivers a signal to its handlers, then runs the work enqueued.
    public func raise(_ signal: Int32) {
        for watch in watches where watch.source == .signal(signal) { watch.action?([]) }
        settle()
    }

    /// Every descriptor watched, ascending.
    public var watchedDescriptors: [Int32] {
        Set(watches.compactMap { if case .descriptor(let number) = $0.source { number } else { nil } }).sorted()
    }

    /// What the watches on `descriptor` wait for, together.
    public func interest(in descriptor: Int32) -> IOInterest {
        watches.reduce(into: []) { if $1.source == .descriptor(descriptor) { $0.formUnion($1.interest) } }
    }

    private func run(until end: Instant) {
        while !stopRequested {
            settleInstant()
            guard !stopRequested, let deadline = timers.nextDeadline, deadline <= end, deadline != .distantFuture else {
                return
            }
            monotonic = max(monotonic, deadline)
        }
    }

    /// Turns of the loop at the present instant until nothing more is due.
    private func settleInstant() {
        var turns = 0
        while !stopRequested, !deferred.isEmpty || timers.nextDeadline.map({ $0 <= monotonic }) ?? false {
            let horizon = timers.horizon
            while !stopRequested, let action = timers.takeDue(at: monotonic, scheduledBefore: horizon) { action() }
            runDeferred()
            turns += 1
            precondition(turns < EmbeddedLoop.longestInstant, "something keeps rescheduling itself without delay")
        }
    }

    private func runDeferred() {
        guard !stopRequested else { return }
        let batch = deferred
        deferred = []
        for (index, action) in batch.enumerated() {
            action()
            if stopRequested {
                deferred.insert(contentsOf: batch[(index + 1)...], at: 0)
                return
            }
        }
    }

    // MARK: Registrations

    private enum Source: Hashable {
        case descriptor(Int32)
        case signal(Int32)
    }

    private final class Registration: Cancellable {
        let source: Source
        let interest: IOInterest
        var action: ((IOInterest) -> Void)?
        weak var loop: EmbeddedLoop?

        init(_ source: Source, _ interest: IOInterest, loop: EmbeddedLoop, action: @escaping (IOInterest) -> Void) {
            self.source = source
            self.interest = interest
            self.loop = loop
            self.action = action
        }

        func cancel() {
            action = nil
            loop?.watches.removeAll { $0 === self }
        }
    }

    private func register(
        _ source: Source, _ interest: IOInterest, _ action: @escaping (IOInterest) -> Void
    ) -> any Cancellable {
        let registration = Registration(source, interest, loop: self, action: action)
        watches.append(registration)
        return registration
    }
}
