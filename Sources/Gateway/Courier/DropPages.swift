import Basics

/// Where relays have more drops for a subscription than they send at once: anybody can leave a hundred under anybody's
/// tag, and what is older than those would be hidden behind them (NIP-01: the newest come first).
struct DropPages {
    private struct Load {
        /// When the newest were made, the newest first; as many as one answer holds.
        var newest: [Int64] = []
        /// What the answer goes back from; nil: now.
        let until: Int64?
        /// It was said to have come before anything of it had: by then what came late is judged.
        var isReported = false
        var judgedAt: Instant?
    }

    /// By subscription, until what relays keep for it has come.
    private var loads: [String: Load] = [:]
    /// What to go on from as soon as the budget allows, by subscription.
    private var throttled: [String: Int64] = [:]
    private var budget = TokenBucket(capacity: CourierLimits.dropPages, perSecond: CourierLimits.dropPagesPerSecond)

    enum Next: Equatable {
        /// All that relays keep has come.
        case nothing
        /// Ask for what was made at this time or before, in its turn.
        case until(Int64)
    }

    mutating func began(_ subscription: String, until: Int64? = nil) { loads[subscription] = Load(until: until) }

    mutating func ended(_ subscription: String) {
        loads[subscription] = nil
        throttled[subscription] = nil
    }

    mutating func removeAll() {
        loads.removeAll()
        throttled.removeAll()
    }

    /// A drop came in under the subscription.
    mutating func note(_ createdAt: Int64, under subscription: String, at now: Instant) {
        guard var load = loads[subscription] else { return }
        if load.isReported, load.judgedAt == nil { load.judgedAt = now + CourierLimits.lateDrops }
        let place = load.newest.firstIndex { $0 < createdAt } ?? load.newest.count
        if place < CourierLimits.dropLimit {
            load.newest.insert(createdAt, at: place)
            if load.newest.count > CourierLimits.dropLimit { load.newest.removeLast() }
        }
        loads[subscription] = load
    }

    /// What relays had for the subscription has come, or is late. Several relays answer: nothing newer than the last of
    /// the newest hundred of all is missing. Fewer may be a full answer, too, some of which was dropped on the way
    /// here; so that whatever brought anything older than the answer before is followed by another.
    mutating func loaded(_ subscription: String, since: Int64) -> Next {
        guard let load = loads.removeValue(forKey: subscription) else { return .nothing }
        guard let first = load.newest.first, let last = load.newest.last else {
            // Later there may be something; what was asked for once ends with its answer.
            if load.until == nil, !load.isReported { loads[subscription] = Load(until: nil, isReported: true) }
            return .nothing
        }
        guard last > since else { return .nothing }
        guard let until = load.until else { return .until(first == last ? last - 1 : last) }
        guard last >= until else { return .until(last) }
        // A hundred of one second would be told again and again.
        return load.newest.count >= CourierLimits.dropLimit ? .until(until - 1) : .nothing
    }

    /// - Returns: false where too much was asked for lately; it is asked for later.
    mutating func takeTurn(_ subscription: String, until: Int64, at now: Instant) -> Bool {
        guard budget.take(at: now) else {
            throttled[subscription] = until
            return false
        }
        throttled[subscription] = nil
        return true
    }

    /// Those whose further answer is to be asked for again.
    var waiting: [(subscription: String, until: Int64)] {
        throttled.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Those of which something came after it was said that all had.
    func late(at now: Instant) -> [String] {
        loads.filter { $1.judgedAt.map { $0 <= now } ?? false }.keys.sorted()
    }

    var nextDeadline: Instant? {
        let late = loads.values.compactMap(\.judgedAt).min()
        return [late, throttled.isEmpty ? nil : budget.available(at: .zero)].compactMap { $0 }.min()
    }
}
