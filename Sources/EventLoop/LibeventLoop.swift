import Basics
import Clibevent
import Glibc

/// The loop of the running programs, on libevent.
///
/// One turn waits for descriptors, signals or the earliest deadline, and then runs in this order: ready descriptors and
/// signals, timers due, work enqueued before. libevent only waits and reports; timers are kept here, because their
/// order and their lifetime are promises of `EventLoop`. With nothing to do the process sleeps in the kernel.
public final class LibeventLoop: EventLoop {
    let base: OpaquePointer
    /// Ends the wait at the earliest deadline; never does anything itself.
    private let wake: OpaquePointer
    private var wakeArmedFor: Instant?
    private let timers = TimerQueue()
    private var deferred: [() -> Void] = []
    private var registrations: [ObjectIdentifier: LibeventRegistration] = [:]
    private var isRunning = false
    private var stopRequested = false

    /// Turns taken so far: how often the process woke, for `status` and for the test that an idle loop sleeps.
    public private(set) var turns: UInt64 = 0

    public init() throws(SystemError) {
        guard let config = event_config_new() else { throw SystemError("event_config_new", code: ENOMEM) }
        defer { event_config_free(config) }
        // Without the precise clock libevent counts in ticks of up to 4 ms and would wake before a deadline. Without
        // its cache of the time, a long callback would not shorten the waits armed after it.
        let flags = EVENT_BASE_FLAG_PRECISE_TIMER.rawValue | EVENT_BASE_FLAG_NO_CACHE_TIME.rawValue
        event_config_set_flag(config, Int32(flags))
        guard let base = event_base_new_with_config(config) else { throw .last("event_base_new") }
        guard let wake = event_new(base, -1, 0, { _, _, _ in }, nil) else {
            event_base_free(base)
            throw SystemError("event_new", code: ENOMEM)
        }
        self.base = base
        self.wake = wake
    }

    deinit {
        for registration in registrations.values { registration.release() }
        event_free(wake)
        event_base_free(base)
    }

    public var now: Now { SystemClock.now }

    /// Registrations and timers still held, for tests of leaks.
    var pending: (timers: Int, registrations: Int, deferred: Int) {
        (timers.count, registrations.count, deferred.count)
    }

    @discardableResult
    public func schedule(after delay: Interval, _ action: @escaping () -> Void) -> any Cancellable {
        timers.add(after: delay, from: SystemClock.monotonic, action)
    }

    public func watch(
        _ descriptor: Int32, _ interest: IOInterest, _ action: @escaping (IOInterest) -> Void
    ) -> any Cancellable {
        var kinds = Int16(EV_PERSIST)
        if interest.contains(.read) { kinds |= Int16(EV_READ) }
        if interest.contains(.write) { kinds |= Int16(EV_WRITE) }
        return register(descriptor, kinds, action)
    }

    @discardableResult
    public func onSignal(_ signal: Int32, _ action: @escaping () -> Void) -> any Cancellable {
        register(signal, Int16(EV_SIGNAL | EV_PERSIST)) { _ in action() }
    }

    public func enqueue(_ action: @escaping () -> Void) { deferred.append(action) }

    public func run() {
        precondition(!isRunning, "the loop is already running")
        isRunning = true
        while !stopRequested { turn() }
        stopRequested = false
        isRunning = false
    }

    /// Before `run`, makes the next `run` return at once.
    public func stop() {
        stopRequested = true
        event_base_loopbreak(base)
    }

    private func turn() {
        let mayWait = deferred.isEmpty && armWake()
        let flags = EVLOOP_ONCE | EVLOOP_NO_EXIT_ON_EMPTY | (mayWait ? 0 : EVLOOP_NONBLOCK)
        guard event_base_loop(base, flags) >= 0 else { preconditionFailure("the event backend failed") }
        turns += 1
        runDueTimers()
        runDeferred()
    }

    /// Arms the wait for the earliest deadline.
    /// - Returns: false when that deadline is already here.
    private func armWake() -> Bool {
        guard let deadline = timers.nextDeadline, deadline != .distantFuture else {
            if wakeArmedFor != nil { event_del(wake) }
            wakeArmedFor = nil
            return true
        }
        let wait = deadline - SystemClock.monotonic
        guard wait > .zero else { return false }
        // libevent removes a wait that has ended, so it must be armed again even for the same deadline.
        if wakeArmedFor != deadline || event_pending(wake, Int16(EV_TIMEOUT), nil) == 0 {
            let microseconds = wait.nanoseconds / 1_000 + 1
            var time = timeval(tv_sec: Int(microseconds / 1_000_000), tv_usec: Int(microseconds % 1_000_000))
            event_add(wake, &time)
            wakeArmedFor = deadline
        }
        return true
    }

    private func runDueTimers() {
        guard let deadline = timers.nextDeadline else { return }
        let now = SystemClock.monotonic
        guard deadline <= now else { return }
        let horizon = timers.horizon
        while !stopRequested, let action = timers.takeDue(at: now, scheduledBefore: horizon) { action() }
    }

    private func runDeferred() {
        guard !deferred.isEmpty, !stopRequested else { return }
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

    private func register(
        _ descriptorOrSignal: Int32, _ kinds: Int16, _ action: @escaping (IOInterest) -> Void
    ) -> any Cancellable {
        let registration = LibeventRegistration(loop: self, action)
        registrations[ObjectIdentifier(registration)] = registration
        registration.activate(base, descriptorOrSignal, kinds)
        return registration
    }

    func forget(_ registration: LibeventRegistration) {
        registrations[ObjectIdentifier(registration)] = nil
    }
}
