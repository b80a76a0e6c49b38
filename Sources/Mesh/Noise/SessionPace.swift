import Basics

/// When the next message may go to a peer, so that none is overtaken by more than the 8 others a phone tolerates
/// (chapter 02 §3.5), and the peer's own limit is kept (§4.9).
struct SessionPace {
    private var earliest: Instant?
    private var budget = TokenBucket(
        capacity: NoiseSessionLimits.messageBurst, perSecond: NoiseSessionLimits.messagesPerSecond)

    /// Nothing before `span` has passed.
    mutating func hold(for span: Interval, at now: Instant) { earliest = max(earliest ?? now, now + span) }

    /// When the next message may go; nil means now, and counts it.
    mutating func wait(at now: Instant) -> Instant? {
        if let earliest, earliest > now { return earliest }
        return budget.take(at: now) ? nil : budget.available(at: now)
    }
}
