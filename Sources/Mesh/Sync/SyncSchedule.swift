import Basics
import Wire

/// One of the requests that a tick may send. Each type family asks apart, so that each has the whole filter and a
/// cursor of its own (chapter 04 §6.1).
enum SyncRound: Int, CaseIterable {
    case history
    case fragments
    case files
    case prekeys
    case board

    var types: SyncTypes {
        switch self {
        case .history: [.announce, .message, .groupMessage]
        case .fragments: .fragment
        case .files: .fileTransfer
        case .prekeys: .prekeyBundle
        case .board: .boardPost
        }
    }

    var interval: Interval {
        switch self {
        case .history: SyncLimits.historyInterval
        case .fragments: SyncLimits.fragmentInterval
        case .files, .prekeys, .board: SyncLimits.slowInterval
        }
    }

    /// Android answers any request with its whole store of announces and messages, so it gets only what names those.
    var isForEverybody: Bool { self == .history }
}

/// When which round is due (chapter 04 §6.1): a timer of 30 s, and rounds spread over the seconds behind it.
final class SyncSchedule {
    private var nextTick = Instant.distantFuture
    private var lastRun: [SyncRound: Instant] = [:]
    private var queued = DeadlineQueue<SyncRound>()

    var nextDeadline: Instant { min(nextTick, queued.nextDeadline ?? .distantFuture) }

    func start(at now: Instant) {
        stop()
        nextTick = now + SyncLimits.tickInterval
    }

    func stop() {
        nextTick = .distantFuture
        lastRun.removeAll()
        queued.removeAll()
    }

    /// Queues the rounds that are due, when it is time.
    func takeTick(at now: Instant, rounds: [SyncRound]) -> Bool {
        guard nextTick <= now else { return false }
        // A loop that was held up makes up no missed ticks.
        nextTick = now + SyncLimits.tickInterval
        var position: Int64 = 0
        for round in SyncRound.allCases where rounds.contains(round) {
            if let last = lastRun[round], now - last < round.interval - SyncLimits.roundTolerance { continue }
            lastRun[round] = now
            queued.add(round, due: now + SyncLimits.roundSpacing * position)
            position += 1
        }
        return true
    }

    func takeRound(at now: Instant) -> SyncRound? { queued.takeDue(at: now) }
}
