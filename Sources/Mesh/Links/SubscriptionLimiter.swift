import Basics

/// Keeps a neighbour that reconnects over and over from drawing an announce each time (chapter 03 A9). Keyed by the
/// neighbour's address where the radio knows one; a bucket over all neighbours stands behind, since addresses rotate.
struct SubscriptionLimiter {
    enum Verdict: Equatable {
        /// Announce, and flush the directed spool.
        case announce
        /// Flush the directed spool only.
        case flushOnly
        case silence
    }

    private struct Entry {
        var last: Instant
        var attempts: Int
        var backoff: Interval
    }

    private var entries: [UInt64: Entry] = [:]
    private var everybody = TokenBucket(
        capacity: MeshLimits.subscriptionAnnounceBurst, perSecond: MeshLimits.subscriptionAnnouncesPerSecond)

    mutating func admit(neighbour: UInt64?, at now: Instant) -> Verdict {
        guard let neighbour else { return everybody.take(at: now) ? .announce : .flushOnly }
        entries = entries.filter { now - $0.value.last <= MeshLimits.subscriptionEntryLifetime }
        if var entry = entries[neighbour], now - entry.last < entry.backoff {
            entry.attempts += 1
            entry.backoff = min(entry.backoff * 2, MeshLimits.subscriptionBackoffMax)
            entry.last = now
            entries[neighbour] = entry
            return entry.attempts >= MeshLimits.subscriptionAttemptsBeforeSilence ? .silence : .flushOnly
        }
        guard everybody.take(at: now) else { return .flushOnly }
        if entries.count < MeshLimits.subscriptionEntryCapacity || entries[neighbour] != nil {
            entries[neighbour] = Entry(last: now, attempts: 1, backoff: MeshLimits.subscriptionBackoffMin)
        }
        return .announce
    }
}
