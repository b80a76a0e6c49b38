import Basics

/// Three events a second, whatever happens: relays block clients, and whole kinds, for more (chapter 05 §6.11).
struct PublishPace {
    private var window = SlidingWindow(limit: NostrLimits.publishesPerSecond, window: .seconds(1))

    mutating func take(at now: Instant) -> Bool { window.take(at: now) }

    mutating func available(at now: Instant) -> Instant {
        guard window.count(at: now) >= window.limit, let oldest = window.oldest else { return now }
        return oldest + window.window + Interval(nanoseconds: 1)
    }
}

/// The pace of one relay, with a pause when it says `rate-limited:`.
struct RelayPace {
    private var pace = PublishPace()
    private var holdUntil = Instant.zero
    private var nextHold = NostrLimits.firstPublishHold

    mutating func available(at now: Instant) -> Instant { max(pace.available(at: now), holdUntil) }

    mutating func take(at now: Instant) { _ = pace.take(at: now) }

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
