import Basics
import Nostr
import Wire

/// A carrier on its way to the air.
struct PendingDownlink {
    let id: EventID
    /// Queue the carrier takes its turn in: the geohash, or the cell.
    let channel: String
    let createdAt: Int64
    let carrier: NostrCarrier
    /// Stable ID of the radio message this event claims to be a copy of (chapter 06 §4.8).
    var hint: String?
    /// A deposit told to the island, not a relay's event.
    var isEcho = false
    /// Not to be sent before.
    fileprivate(set) var due: Instant = .zero
}

/// Carriers held back for their jitter or waiting for airtime: at most 30, the oldest given up first (chapter 06 §3.4,
/// §4.10). Channels take turns, and the longest one gives up its oldest, so that a busy one cannot starve the others.
struct DownlinkQueue {
    private var pending: [PendingDownlink] = []
    /// When each waiting channel last had its turn.
    private var lastTurn: [String: UInt64] = [:]
    private var turns: UInt64 = 0

    var count: Int { pending.count }
    func contains(_ id: EventID) -> Bool { pending.contains { $0.id == id } }

    /// When the next carrier's hold ends.
    var nextDue: Instant? { pending.map(\.due).min() }

    /// Adds a carrier held for `hold`. Order inside a channel is kept: none overtakes the one before it.
    /// - Returns: the carrier given up for it.
    mutating func add(_ downlink: PendingDownlink, hold: Interval, at now: Instant) -> PendingDownlink? {
        var downlink = downlink
        let before = pending.last { $0.channel == downlink.channel }
        downlink.due = max(now + hold, before?.due ?? .zero)
        pending.append(downlink)
        guard pending.count > GatewayLimits.pendingDownlinks else { return nil }
        let longest = longestChannel
        let oldest = pending.firstIndex { $0.channel == longest } ?? 0
        return remove(at: oldest)
    }

    /// The carrier whose turn it is, of those whose hold is over.
    func next(at now: Instant) -> PendingDownlink? {
        var best: (downlink: PendingDownlink, turn: UInt64)?
        for downlink in pending where downlink.due <= now {
            let turn = lastTurn[downlink.channel] ?? 0
            if let best, best.turn <= turn { continue }
            best = (downlink, turn)
        }
        return best?.downlink
    }

    /// The carrier was sent; its channel has had its turn.
    mutating func sent(_ id: EventID) {
        guard let index = pending.firstIndex(where: { $0.id == id }) else { return }
        turns += 1
        lastTurn[pending[index].channel] = turns
        remove(at: index)
    }

    /// Stands down from sending `id`.
    @discardableResult
    mutating func remove(_ id: EventID) -> Bool {
        guard let index = pending.firstIndex(where: { $0.id == id }) else { return false }
        remove(at: index)
        return true
    }

    /// Stands down from every event that claims to be a copy of the radio message `hint`.
    /// - Returns: how many there were.
    mutating func remove(hint: String) -> Int {
        let before = pending.count
        pending.removeAll { $0.hint == hint }
        forgetTurns()
        return before - pending.count
    }

    mutating func removeAll() {
        pending.removeAll()
        lastTurn.removeAll()
    }

    @discardableResult
    private mutating func remove(at index: Int) -> PendingDownlink {
        let removed = pending.remove(at: index)
        forgetTurns()
        return removed
    }

    /// A channel with nothing waiting is owed nothing, so the turns kept never outnumber the carriers.
    private mutating func forgetTurns() {
        guard lastTurn.count > pending.count else { return }
        let waiting = Set(pending.map(\.channel))
        lastTurn = lastTurn.filter { waiting.contains($0.key) }
    }

    /// The channel with most carriers waiting; of equals, the one whose carrier waits longest.
    private var longestChannel: String? {
        var lengths: [String: Int] = [:]
        for downlink in pending { lengths[downlink.channel, default: 0] += 1 }
        let most = lengths.values.max()
        return pending.first { lengths[$0.channel] == most }?.channel
    }
}
