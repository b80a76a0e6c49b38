import Basics

/// The one tick that drives all upkeep, every 5 s, and the moments at which the directed spool is tried again (chapter
/// 03 B17, A9).
struct MaintenanceClock {
    private var nextTick = Instant.distantFuture
    private var nextFlush = Instant.distantFuture
    /// Runs 1 … 6.
    private(set) var cycle = 0

    /// Cleanup runs on every third tick: every 15 s.
    var isCleanup: Bool { cycle % 3 == 0 }
    /// The spool is flushed on odd cycles: every 10 s.
    var isFlush: Bool { cycle % 2 == 1 }

    var nextDeadline: Instant { min(nextTick, nextFlush) }

    mutating func start(at now: Instant) {
        nextTick = now + MeshLimits.maintenanceInterval
        nextFlush = .distantFuture
        cycle = 0
    }

    mutating func takeTick(at now: Instant) -> Bool {
        guard nextTick <= now else { return false }
        // A loop that was held up makes up no missed ticks.
        nextTick = now + MeshLimits.maintenanceInterval
        cycle = cycle % 6 + 1
        return true
    }

    mutating func requestSpoolFlush(due: Instant) { nextFlush = min(nextFlush, due) }

    mutating func takeSpoolFlush(at now: Instant) -> Bool {
        guard nextFlush <= now else { return false }
        nextFlush = .distantFuture
        return true
    }
}
