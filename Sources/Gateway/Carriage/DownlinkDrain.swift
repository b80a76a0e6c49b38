import Basics
import Nostr
import Wire

/// Brings held carriers to the air, one jittered hold each, within one airtime budget (chapter 06 §3.4, §4.10).
struct DownlinkDrain {
    private(set) var queue = DownlinkQueue()
    private(set) var budget: AirtimeBudget
    /// Set while the budget is spent.
    private var blockedUntil: Instant?

    init(carriers: Int) { budget = AirtimeBudget(carriers: carriers) }

    /// The one timer to arm.
    var nextDeadline: Instant? {
        guard let due = queue.nextDue else { return nil }
        return blockedUntil.map { max($0, due) } ?? due
    }

    func contains(_ id: EventID) -> Bool { queue.contains(id) }

    /// Holds a carrier for a uniform 0.2–1.5 s.
    /// - Returns: true when an older one was given up for it.
    mutating func hold(
        _ downlink: PendingDownlink, at now: Instant, using random: inout some RandomNumberGenerator
    ) -> Bool {
        let hold = random.interval(GatewayLimits.leastHold, GatewayLimits.longestHold)
        return queue.add(downlink, hold: hold, at: now) != nil
    }

    /// Another gateway was faster.
    mutating func standDown(_ id: EventID) -> Bool { queue.remove(id) }
    mutating func standDown(hint: String) -> Int { queue.remove(hint: hint) }

    /// Sends what is due.
    /// - Parameters:
    ///   - refusal: why a carrier must not be sent any more, looked at right before it would be.
    ///   - ids: marked after sending only.
    mutating func drain(
        at now: Now, ids: inout CarriedIDs, outcomes: inout GatewayCounters.Outcomes,
        refusal: (PendingDownlink) -> CarriageOutcome?
    ) -> [NostrCarrier] {
        if let blockedUntil, now.monotonic < blockedUntil { return [] }
        blockedUntil = nil
        var carriers: [NostrCarrier] = []
        while let downlink = queue.next(at: now.monotonic) {
            if let reason = stale(downlink, at: now) ?? heard(downlink, ids) ?? refusal(downlink) {
                queue.remove(downlink.id)
                outcomes.count(reason)
                continue
            }
            guard budget.take(downlink.carrier.event.count, at: now.monotonic) else {
                blockedUntil = budget.nextTry(at: now.monotonic)
                break
            }
            queue.sent(downlink.id)
            ids.rebroadcast.insert(downlink.id)
            outcomes.count(downlink.isEcho ? .echoed : .sent)
            carriers.append(downlink.carrier)
        }
        return carriers
    }

    /// Switched off: clears what waits; what was sent still counts.
    /// - Returns: how many carriers were waiting.
    mutating func clear() -> Int {
        let waiting = queue.count
        queue.removeAll()
        blockedUntil = nil
        return waiting
    }

    private func stale(_ downlink: PendingDownlink, at now: Now) -> CarriageOutcome? {
        Freshness.isFresh(downlink.createdAt, at: now.wall) ? nil : .expired
    }

    private func heard(_ downlink: PendingDownlink, _ ids: CarriedIDs) -> CarriageOutcome? {
        ids.meshSeen.contains(downlink.id) || ids.rebroadcast.contains(downlink.id) ? .heardMeanwhile : nil
    }
}
