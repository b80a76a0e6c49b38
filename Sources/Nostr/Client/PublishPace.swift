import Basics

/// How fast events are written to one relay: a short burst, then one every 350 ms, and a pause when the relay says
/// `rate-limited:`. Relays block clients, and whole kinds, for less (chapter 05 §6.11).
struct PublishPace {
    private var budget = TokenBucket(
        capacity: NostrLimits.publishBurst, perSecond: 1 / NostrLimits.publishInterval.seconds)
    private var holdUntil = Instant.zero
    private var nextHold = NostrLimits.firstPublishHold

    func available(at now: Instant) -> Instant { max(budget.available(at: now), holdUntil) }

    mutating func take(at now: Instant) -> Bool { now >= holdUntil && budget.take(at: now) }

    mutating func answered(_ answer: RelayAnswer, at now: Instant) {
        if answer == .rateLimited {
            guard now >= holdUntil else { return }
            holdUntil = now + nextHold
            nextHold = min(nextHold * 2, NostrLimits.longestPublishHold)
        } else if answer.isSuccess {
            nextHold = NostrLimits.firstPublishHold
        }
    }
}
