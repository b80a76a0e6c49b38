import Basics

/// When a lost relay is dialled again (chapter 05 §6.2).
enum RedialBackoff {
    /// The delay before attempt `attempts` + 1: 1, 2, 4 … 256 s, spread by a fifth; nil when there have been too many.
    static func delay(afterAttempts attempts: Int, using random: inout some RandomNumberGenerator) -> Interval? {
        guard (1..<NostrLimits.attempts).contains(attempts) else { return nil }
        let base = min(NostrLimits.firstRedial * (1 << Int64(attempts - 1)), NostrLimits.slowestRedial)
        let unit = Double.random(in: 0..<1, using: &random)
        return .seconds(base.seconds * (1 + (2 * unit - 1) * NostrLimits.redialJitter))
    }
}

/// Redials while the route itself is down: its failures are counted once for all relays and burn nobody's attempts
/// (chapter 05 §6.3).
struct RouteBackoff {
    private var failures: Int64 = 0
    private(set) var retryAt: Instant?

    /// A dial failed for want of a route; returns when to dial again.
    mutating func failed(at now: Instant) -> Instant {
        if let retryAt, now < retryAt { return retryAt }
        let delay = min(NostrLimits.firstRouteRetry * (1 << min(failures, 10)), NostrLimits.slowestRouteRetry)
        failures += 1
        retryAt = now + delay
        return now + delay
    }

    mutating func worked() {
        failures = 0
        retryAt = nil
    }
}
