import Basics
import Nostr
import Wire

/// A carrier on its way to the air.
struct PendingDownlink {
    let id: EventID
    /// Queue the carrier takes its turn in: the geohash, or the cell; one for all echoes.
    let channel: String
    /// Public key in hexadecimal.
    let author: String
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
/// §4.10). Channels take turns, and the longest one gives up the oldest of its busiest author, so that a busy one
/// cannot starve the others.
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
        // One that had nothing waiting comes after those that have, or a new one each time would always be first.
        if before == nil { lastTurn[downlink.channel] = turns }
        pending.append(downlink)
        guard pending.count > GatewayLimits.pendingDownlinks else { return nil }
        let longest = firstOfMost(of: pending) { $0.channel }?.channel
        let victim = firstOfMost(of: pending.filter { $0.channel == longest }) { $0.author }
        return remove(at: pending.firstIndex { $0.id == victim?.id } ?? 0)
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

    /// The one that waits longest in the group with most carriers; of equal groups, in the one that has waited longest.
    private func firstOfMost(
        of downlinks: [PendingDownlink], by group: (PendingDownlink) -> String
    ) -> PendingDownlink? {
        var lengths: [String: Int] = [:]
        for downlink in downlinks { lengths[group(downlink), default: 0] += 1 }
        let most = lengths.values.max()
        return downlinks.first { lengths[group($0)] == most }
    }
}
