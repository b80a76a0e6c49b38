import Basics
import Csystemd
import EventLoop
import Glibc
import Radio

enum SupervisionLimits {
    /// How long every radio that should work may show no sign of life: neither a frame nor a report, nor that it did
    /// what it was told to do on the air, which it is every few minutes at the least. Ours.
    static let radioSilence = Interval.minutes(15)
    /// How often the state in words is told again; systemd keeps the last one.
    static let statusInterval = Interval.minutes(1)
    /// How long a wipe may go on after its last sign of life, whatever the unit allows a start or a stop: it gives one
    /// every second while it waits, and what follows a wait are files to be removed and the start itself. Ours.
    static let wipePatience = Interval.minutes(1)
}

/// What the service manager is told of this process (sd_notify): that it is ready, that it lives, that it stops. A
/// process whose loop stands still, or whose radios are all dead, says nothing more, and is started again.
public final class Supervision {
    private let loop: any EventLoop
    private let box: any Box
    private let notify: (String) -> Void
    /// Half of the time the manager waits for a sign of life; nil where it does not wait.
    private let interval: Interval?
    private let started: Instant
    private var heartbeat: (any Cancellable)?
    private var lastStatus: (text: String, at: Instant)?

    /// - Parameters:
    ///   - watchdog: how long the manager waits for a sign of life; nil for ever.
    ///   - notify: tells it something.
    public init(
        _ box: any Box, loop: any EventLoop, watchdog: Interval? = Supervision.watchdogTime,
        notify: @escaping (String) -> Void = { _ = sd_notify(0, $0) }
    ) {
        self.box = box
        self.loop = loop
        self.notify = notify
        interval = watchdog.map { Interval(nanoseconds: $0.nanoseconds / 2) }
        started = loop.now.monotonic
    }

    /// Whether a manager wants to be told.
    public static var isManaged: Bool { getenv("NOTIFY_SOCKET") != nil }

    /// For a box that does not come to work.
    static func tell(_ status: String) { _ = sd_notify(0, "STATUS=" + status) }

    /// For a wipe, which holds the loop, a start or a stop longer than the manager would wait.
    static func feed() {
        let microseconds = SupervisionLimits.wipePatience.nanoseconds / 1_000
        _ = sd_notify(0, "WATCHDOG=1\nEXTEND_TIMEOUT_USEC=\(microseconds)")
    }

    /// From the environment the manager gave this process.
    public static var watchdogTime: Interval? {
        var microseconds: UInt64 = 0
        guard sd_watchdog_enabled(0, &microseconds) > 0 else { return nil }
        return Interval(nanoseconds: Int64(clamping: microseconds) * 1_000)
    }

    /// The box has begun to work.
    public func ready() {
        notify("READY=1")
        beat()
    }

    public func stopping() {
        heartbeat?.cancel()
        heartbeat = nil
        notify("STOPPING=1")
    }

    /// The configuration was read again.
    public func reloaded() { tellStatus(always: true) }

    private func beat() {
        if interval != nil, hasLife { notify("WATCHDOG=1") }
        tellStatus(always: false)
        heartbeat = loop.schedule(after: interval ?? SupervisionLimits.statusInterval) { [weak self] in self?.beat() }
    }

    private func tellStatus(always: Bool) {
        let now = loop.now.monotonic
        let text = box.summary
        if !always, let last = lastStatus, last.text == text || now - last.at < SupervisionLimits.statusInterval {
            return
        }
        lastStatus = (text, now)
        notify("STATUS=" + text)
    }

    /// Whether any radio that should work does, or none should.
    var hasLife: Bool {
        let expected = box.liveness.filter(\.isExpected)
        let oldest = loop.now.monotonic - SupervisionLimits.radioSilence
        return expected.isEmpty || expected.contains { max($0.lastProof ?? started, started) >= oldest }
    }
}
