import Basics

/// What one relay has done on one connection that a good one does not. Each call is one more; true when that was one
/// too many.
struct RelayConduct {
    private(set) var violations = 0
    private var nuisances = TokenBucket(
        capacity: NostrLimits.nuisanceBurst, perSecond: NostrLimits.nuisancesPerSecond)
    private var repetitions = TokenBucket(
        capacity: NostrLimits.repetitionBurst, perSecond: NostrLimits.repetitionsPerSecond)

    /// An event that was not asked for, or is forged: relays verify what they pass on.
    mutating func violated() -> Bool {
        violations += 1
        return violations >= NostrLimits.violations
    }

    /// A frame that means nothing.
    mutating func bothered(at now: Instant) -> Bool { !nuisances.take(at: now) }

    /// An event that came before, or is out of date.
    mutating func broughtNothingNew(at now: Instant) -> Bool { !repetitions.take(at: now) }
}
