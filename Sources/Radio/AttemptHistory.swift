import Basics

/// What came of calling each neighbour, and when each may be called again (chapter 03 A5). Attempts to anyone are
/// paced, so what is remembered is bounded by time; the capacity holds against whoever finds a way around it.
struct AttemptHistory<Neighbour: Hashable> {
    private struct Record {
        var notBefore: Instant
        var failures = 0
        var timedOut: Instant?
    }

    private var records: [Neighbour: Record] = [:]
    private(set) var lastAttempt: Instant?

    /// When the pace allows the next attempt to anyone; nil when it does now.
    func pause(at now: Instant) -> Instant? {
        guard let lastAttempt, now - lastAttempt < RadioLimits.attemptGap else { return nil }
        return lastAttempt + RadioLimits.attemptGap + RadioLimits.attemptSlack
    }

    /// Until when a neighbour is left alone; nil when it may be called now.
    func isBarred(_ neighbour: Neighbour, at now: Instant) -> Instant? {
        records[neighbour].flatMap { $0.notBefore > now ? $0.notBefore : nil }
    }

    func isKnown(_ neighbour: Neighbour) -> Bool { records[neighbour] != nil }
    func timedOut(_ neighbour: Neighbour) -> Instant? { records[neighbour]?.timedOut }
    func failures(_ neighbour: Neighbour) -> Int { records[neighbour]?.failures ?? 0 }

    /// How much a neighbour's past counts against it. Without a failure it is 1, not 0.
    func penalty(_ neighbour: Neighbour, at now: Instant) -> Int {
        guard let record = records[neighbour] else { return 1 }
        let recentTimeout = record.timedOut.map { now - $0 < RadioLimits.recentTimeout } ?? false
        return min(20, 1 << min(4, record.failures)) + (recentTimeout ? 10 : 0)
    }

    mutating func forgetOld(at now: Instant) {
        records = records.filter { now - $0.value.notBefore <= RadioLimits.failureMemory }
    }

    mutating func begin(_ neighbour: Neighbour, at now: Instant) {
        lastAttempt = now
        bar(neighbour, until: now + RadioLimits.sameNeighbourGap)
    }

    mutating func succeeded(_ neighbour: Neighbour) {
        records[neighbour]?.failures = 0
        records[neighbour]?.timedOut = nil
    }

    mutating func timedOut(_ neighbour: Neighbour, at now: Instant) {
        bar(neighbour, until: now + RadioLimits.afterTimeout)
        records[neighbour]?.failures += 1
        records[neighbour]?.timedOut = now
    }

    /// The attempt failed, or the link ended from outside.
    mutating func disconnected(_ neighbour: Neighbour, failed: Bool, pause: Interval, at now: Instant) {
        bar(neighbour, until: now + pause)
        if failed { records[neighbour]?.failures += 1 }
    }

    /// Nothing shortens a pause.
    mutating func bar(_ neighbour: Neighbour, until instant: Instant) {
        if records.count >= RadioLimits.attemptRecords, records[neighbour] == nil { dropOldest() }
        let notBefore = max(instant, records[neighbour]?.notBefore ?? instant)
        records[neighbour, default: Record(notBefore: notBefore)].notBefore = notBefore
    }

    private mutating func dropOldest() {
        if let oldest = records.min(by: { $0.value.notBefore < $1.value.notBefore }) { records[oldest.key] = nil }
    }
}
