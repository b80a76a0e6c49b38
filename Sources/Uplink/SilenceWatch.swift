import Basics
import EventLoop

/// When a silent connection is asked for a sign of life, and when it is given up (chapter 05 §6.1).
public struct WebSocketKeepAlive: Equatable, Sendable {
    /// Silence after which a ping is sent.
    public var idle: Interval
    /// Further silence after which the connection is dropped.
    public var grace: Interval

    public init(idle: Interval = .seconds(45), grace: Interval = .seconds(30)) {
        self.idle = idle
        self.grace = grace
    }
}

/// Watches for silence with one timer that is not touched when bytes arrive.
final class SilenceWatch {
    private let loop: any EventLoop
    private let policy: WebSocketKeepAlive
    private let ask: () -> Void
    private let giveUp: () -> Void
    private var timer: (any Cancellable)?
    private var asked: Instant?
    private(set) var lastReceived: Instant
    /// While nothing is read, silence proves nothing.
    var isResting = false

    init(
        loop: any EventLoop, policy: WebSocketKeepAlive, ask: @escaping () -> Void, giveUp: @escaping () -> Void
    ) {
        self.loop = loop
        self.policy = policy
        self.ask = ask
        self.giveUp = giveUp
        lastReceived = loop.now.monotonic
        arm(after: policy.idle)
    }

    deinit { timer?.cancel() }

    func received() { lastReceived = loop.now.monotonic }

    private func arm(after delay: Interval) {
        timer = loop.schedule(after: delay) { [weak self] in self?.check() }
    }

    private func check() {
        let now = loop.now.monotonic
        if isResting || asked.map({ lastReceived >= $0 }) ?? false { asked = nil }
        if isResting { return arm(after: policy.idle) }
        if asked != nil { return giveUp() }
        let silence = now - lastReceived
        guard silence >= policy.idle else { return arm(after: policy.idle - silence) }
        asked = now
        arm(after: policy.grace)
        ask()
    }
}
