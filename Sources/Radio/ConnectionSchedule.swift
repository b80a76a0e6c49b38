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

    private var history = AttemptHistory<Neighbour>()

    /// Picks the neighbour with the smallest penalty among the eligible, at random among equals.
    mutating func next(
        among candidates: [Neighbour], at now: Instant, using random: inout some RandomNumberGenerator
    ) -> Choice {
        history.forgetOld(at: now)
        guard !candidates.isEmpty else { return .nothing }
        if let pause = history.pause(at: now) { return .wait(until: pause) }
        var best: [Neighbour] = []
        var least = Int.max
        var earliest: Instant?
        for candidate in candidates {
            if let notBefore = history.isBarred(candidate, at: now) {
                earliest = min(earliest ?? notBefore, notBefore)
                continue
            }
            let penalty = history.penalty(candidate, at: now)
            if penalty < least { best.removeAll(keepingCapacity: true) }
            if penalty <= least {
                least = penalty
                best.append(candidate)
            }
        }
        guard let chosen = best.randomElement(using: &random) else {
            return earliest.map { .wait(until: $0) } ?? .nothing
        }
        history.begin(chosen, at: now)
        return .connect(chosen)
    }

    mutating func connected(_ neighbour: Neighbour) { history.succeeded(neighbour) }

    mutating func timedOut(_ neighbour: Neighbour, at now: Instant) { history.timedOut(neighbour, at: now) }

    /// The attempt failed, or the link ended from outside.
    mutating func disconnected(_ neighbour: Neighbour, failed: Bool, at now: Instant) {
        history.disconnected(neighbour, failed: failed, pause: RadioLimits.afterDisconnect, at: now)
    }

    mutating func closedByUs(_ neighbour: Neighbour, at now: Instant) {
        history.bar(neighbour, until: now + RadioLimits.afterOwnClose)
    }
}
