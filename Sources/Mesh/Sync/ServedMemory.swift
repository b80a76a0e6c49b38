import Basics
import Wire

/// What one peer was served lately. A peer that cannot verify or keep a packet never names it in a filter, so without
/// this it would be sent the same packet every half minute for hours (chapter 04 §7.3).
struct ServedMemory {
    private struct Mark {
        /// When it was asked for.
        var at: Instant
        /// Index of the pause that follows.
        var pause: Int
    }

    private var marks: [PacketID: Mark] = [:]
    /// A ring, first served first.
    private var ring: [PacketID] = []
    private var oldest = 0
    private(set) var lastUsed: Instant

    init(at now: Instant) { lastUsed = now }

    var count: Int { marks.count }

    /// Whether the pause since the last time is over for a request made at `now`.
    /// - Parameter explained: since when the author has been around. Whoever could not verify the packet before can
    ///   now.
    func allows(_ id: PacketID, explained: Instant? = nil, at now: Instant) -> Bool {
        guard let mark = marks[id] else { return true }
        if let explained, mark.at < explained { return true }
        return now - mark.at >= SyncLimits.repetitionPauses[mark.pause] - SyncLimits.roundTolerance
    }

    /// - Parameters:
    ///   - isUnlikely: the peer will hardly be able to use it, so the longest pause follows at once.
    ///   - now: when it was asked for.
    mutating func note(_ id: PacketID, isUnlikely: Bool = false, at now: Instant) {
        lastUsed = now
        let longest = SyncLimits.repetitionPauses.count - 1
        if let mark = marks[id] {
            marks[id] = Mark(at: now, pause: min(mark.pause + 1, longest))
            return
        }
        if ring.count < SyncLimits.servedPerPeer {
            ring.append(id)
        } else {
            marks[ring[oldest]] = nil
            ring[oldest] = id
            oldest = (oldest + 1) % ring.count
        }
        marks[id] = Mark(at: now, pause: isUnlikely ? longest : 0)
    }
}

/// The memories of all peers that asked.
struct ServedPeers {
    private var memories: [PeerID: ServedMemory] = [:]

    var count: Int { memories.count }

    func allows(_ id: PacketID, for peer: PeerID, explained: Instant? = nil, at now: Instant) -> Bool {
        memories[peer]?.allows(id, explained: explained, at: now) ?? true
    }

    mutating func note(_ id: PacketID, for peer: PeerID, isUnlikely: Bool = false, at now: Instant) {
        if memories[peer] == nil, memories.count >= SyncLimits.servedPeers,
            let idle = memories.min(by: { ($0.value.lastUsed, $0.key) < ($1.value.lastUsed, $1.key) })
        {
            memories[idle.key] = nil
        }
        memories[peer, default: ServedMemory(at: now)].note(id, isUnlikely: isUnlikely, at: now)
    }

    mutating func forget(_ peer: PeerID) { memories[peer] = nil }
}
