import Basics

/// Where relays have more drops for a subscription than they send at once: anybody can leave a hundred under anybody's
/// tag, and what is older than those would be hidden behind them (NIP-01: the newest come first).
struct DropPages {
    private struct Load {
        /// When the newest were made, the newest first; as many as one answer holds.
        var newest: [Int64] = []
        /// What the answer goes back from; nil: now.
        let until: Int64?
    }

    /// By subscription, until what relays keep for it has come.
    private var loads: [String: Load] = [:]
    private var budget = TokenBucket(capacity: CourierLimits.dropPages, perSecond: CourierLimits.dropPagesPerSecond)

    enum Next: Equatable {
        /// All that relays keep has come.
        case nothing
        /// Ask for what was made at this time or before.
        case until(Int64)
        /// There is more, and too much was asked for lately.
        case throttled
    }

    mutating func began(_ subscription: String, until: Int64? = nil) { loads[subscription] = Load(until: until) }
    mutating func ended(_ subscription: String) { loads[subscription] = nil }
    mutating func removeAll() { loads.removeAll() }

    /// A drop came in under the subscription.
    mutating func note(_ createdAt: Int64, under subscription: String) {
        guard var load = loads[subscription] else { return }
        let place = load.newest.firstIndex { $0 < createdAt } ?? load.newest.count
        guard place < CourierLimits.dropLimit else { return }
        load.newest.insert(createdAt, at: place)
        if load.newest.count > CourierLimits.dropLimit { load.newest.removeLast() }
        loads[subscription] = load
    }

    /// What relays had for the subscription has come. Several relays answer, and each that held something back sent a
    /// full answer: so nothing newer than the last of the newest hundred of all is missing.
    mutating func loaded(_ subscription: String, since: Int64, at now: Instant) -> Next {
        guard let load = loads.removeValue(forKey: subscription), load.newest.count >= CourierLimits.dropLimit,
            let last = load.newest.last
        else { return .nothing }
        guard last > since else { return .nothing }
        // A hundred of one second would be told again and again.
        let isStuck = last == load.newest.first || load.until.map { last >= $0 } ?? false
        let until = isStuck ? min(last, load.until ?? last) - 1 : last
        return budget.take(at: now) ? .until(until) : .throttled
    }
}
