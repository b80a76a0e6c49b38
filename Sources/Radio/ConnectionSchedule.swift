import Basics

/// How many links a radio holds, and for whom (chapter 03 A5).
public struct LinkBudget: Equatable, Sendable {
    /// Links of both roles together.
    public var total: Int
    /// Links we open ourselves, connected or connecting.
    public var outgoing: Int
    /// Slots never used for our own links, so that a neighbour can always call us.
    public var reservedForIncoming: Int

    public init(total: Int = 8, outgoing: Int = 6, reservedForIncoming: Int = 2) {
        self.total = total
        self.outgoing = outgoing
        self.reservedForIncoming = reservedForIncoming
    }

    func mayConnect(outgoing current: Int, incoming: Int) -> Bool {
        current < outgoing && current + incoming < total - reservedForIncoming
    }

    func mayAccept(outgoing: Int, incoming: Int) -> Bool { outgoing + incoming < total }
}

/// When to open a link to whom: one attempt at a time, paced, with pauses after failures (chapter 03 A5). Signal
/// strength plays no part; all candidates of a virtual air are equally near.
struct ConnectionSchedule<Neighbour: Hashable & Comparable> {
    enum Choice: Equatable {
        case connect(Neighbour)
        /// Nothing may be tried before this instant.
        case wait(until: Instant)
        case nothing
    }

    private struct Record {
        var notBefore: Instant
        var failures = 0
        var timedOut: Instant?
    }

    private var records: [Neighbour: Record] = [:]
    private var lastAttempt: Instant?

    /// Picks the neighbour with the smallest penalty among the eligible, at random among equals.
    mutating func next(
        among candidates: [Neighbour], at now: Instant, using random: inout some RandomNumberGenerator
    ) -> Choice {
        records = records.filter { now - $0.value.notBefore <= RadioLimits.failureMemory }
        guard !candidates.isEmpty else { return .nothing }
        if let lastAttempt, now - lastAttempt < RadioLimits.attemptGap {
            return .wait(until: lastAttempt + RadioLimits.attemptGap + RadioLimits.attemptSlack)
        }
        var best: [Neighbour] = []
        var least = Int.max
        var earliest: Instant?
        for candidate in candidates {
            let record = records[candidate]
            if let notBefore = record?.notBefore, notBefore > now {
                earliest = min(earliest ?? notBefore, notBefore)
                continue
            }
            let penalty = penalty(record, at: now)
            if penalty < least { best.removeAll(keepingCapacity: true) }
            if penalty <= least {
                least = penalty
                best.append(candidate)
            }
        }
        guard let chosen = best.randomElement(using: &random) else {
            return earliest.map { .wait(until: $0) } ?? .nothing
        }
        lastAttempt = now
        postpone(chosen, until: now + RadioLimits.sameNeighbourGap)
        return .connect(chosen)
    }

    mutating func connected(_ neighbour: Neighbour) {
        records[neighbour]?.failures = 0
        records[neighbour]?.timedOut = nil
    }

    mutating func timedOut(_ neighbour: Neighbour, at now: Instant) {
        postpone(neighbour, until: now + RadioLimits.afterTimeout)
        records[neighbour]?.failures += 1
        records[neighbour]?.timedOut = now
    }

    /// The attempt failed, or the link ended from outside.
    mutating func disconnected(_ neighbour: Neighbour, failed: Bool, at now: Instant) {
        postpone(neighbour, until: now + RadioLimits.afterDisconnect)
        if failed { records[neighbour]?.failures += 1 }
    }

    mutating func closedByUs(_ neighbour: Neighbour, at now: Instant) {
        postpone(neighbour, until: now + RadioLimits.afterOwnClose)
    }

    private mutating func postpone(_ neighbour: Neighbour, until instant: Instant) {
        let notBefore = max(instant, records[neighbour]?.notBefore ?? instant)
        records[neighbour, default: Record(notBefore: notBefore)].notBefore = notBefore
    }

    private func penalty(_ record: Record?, at now: Instant) -> Int {
        guard let record else { return 1 }
        let recentTimeout = record.timedOut.map { now - $0 < .seconds(60) } ?? false
        return min(20, 1 << min(4, record.failures)) + (recentTimeout ? 10 : 0)
    }
}
