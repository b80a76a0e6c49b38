import Basics
import Wire

/// Directed Noise packets for which no link was to be had, kept for up to a minute (chapter 03 B8). Receivers refuse
/// timestamps older than two minutes, so longer would be useless. A failed retry keeps its original time.
struct DirectedSpool {
    struct Entry {
        let transmission: Transmission
        let recipient: PeerID
        let since: Instant
    }

    private var entries: [Entry] = []

    var count: Int { entries.count }

    /// - Returns: how many entries were dropped to make room, oldest first.
    mutating func add(_ transmission: Transmission, for recipient: PeerID, since: Instant) -> Int {
        var dropped = 0
        let own = entries.indices.filter { entries[$0].recipient == recipient }
        if own.count >= MeshLimits.spoolPerRecipient, let oldest = own.first {
            entries.remove(at: oldest)
            dropped += 1
        } else if entries.count >= MeshLimits.spoolTotal {
            entries.removeFirst()
            dropped += 1
        }
        entries.append(Entry(transmission: transmission, recipient: recipient, since: since))
        return dropped
    }

    /// Takes everything out: what is still young enough to be tried again, and how many were too old.
    mutating func drain(at now: Instant) -> (entries: [Entry], expired: Int) {
        let young = entries.filter { now - $0.since <= MeshLimits.spoolLifetime }
        let expired = entries.count - young.count
        entries.removeAll()
        return (young, expired)
    }

    mutating func removeAll() { entries.removeAll() }

    /// - Returns: how many entries were too old.
    mutating func prune(at now: Instant) -> Int {
        let before = entries.count
        entries.removeAll { now - $0.since > MeshLimits.spoolLifetime }
        return before - entries.count
    }
}
