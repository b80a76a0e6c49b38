import Basics

/// When an announce goes out (chapter 03 B10.2, B10.3). A throttled announce is dropped, not deferred: the next tick
/// brings another.
struct AnnounceSchedule {
    private var last: Instant?
    /// Forced announces asked for a moment from now. One is kept for each delay class, the earliest wins.
    private var deferred = DeadlineQueue<Void>()

    /// Several triggers may be waiting at once; more than this many cannot add anything, since forced announces are
    /// spaced anyway.
    private static let deferredCapacity = 16

    var nextDeadline: Instant? { deferred.nextDeadline }

    /// Asks for a forced announce at `due`.
    mutating func request(due: Instant) {
        guard deferred.count < Self.deferredCapacity else { return }
        deferred.add((), due: due)
    }

    /// When a forced announce would pass.
    func earliestForced(at now: Instant) -> Instant {
        last.map { max(now, $0 + MeshLimits.forcedAnnounceSpacing) } ?? now
    }

    /// True when a request has come due; the caller then passes `admit`.
    mutating func takeDue(at now: Instant) -> Bool {
        var isDue = false
        while deferred.takeDue(at: now) != nil { isDue = true }
        return isDue
    }

    /// Applies the spacing, and counts the announce as sent when it passes.
    mutating func admit(forced: Bool, at now: Instant) -> Bool {
        let spacing = forced ? MeshLimits.forcedAnnounceSpacing : MeshLimits.announceSpacing
        if let last, now - last < spacing { return false }
        last = now
        return true
    }

    /// The rule of the 5 s tick.
    func isDueAtTick(
        degree: Int, hasTraffic: Bool, at now: Instant, using random: inout some RandomNumberGenerator
    ) -> Bool {
        guard let last else { return true }
        let elapsed = now - last
        if hasTraffic, elapsed >= MeshLimits.trafficAnnounceInterval { return true }
        if degree == 0 { return elapsed >= MeshLimits.isolatedAnnounceInterval }
        let (base, jitter) =
            degree >= MeshLimits.highDegreeThreshold
            ? MeshLimits.denseAnnounceInterval : MeshLimits.sparseAnnounceInterval
        return elapsed >= base + random.interval(.zero - jitter, jitter)
    }
}
