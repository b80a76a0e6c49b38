import Basics
import Wire

/// Packets of which only one a peer is kept: announces by sender, prekey bundles by owner (chapter 04 §2). A few
/// hundred at most, so it needs no index by time or ID.
struct GossipShelf {
    private var entries: [GossipEntry] = []
    private var peers: [PeerID] = []
    private var positions: [PeerID: Int] = [:]

    var count: Int { entries.count }
    subscript(peer: PeerID) -> GossipEntry? { positions[peer].map { entries[$0] } }

    /// Oldest timestamp first, so that the order is the same in every run.
    var inOrder: [GossipEntry] {
        entries.indices.sorted { (entries[$0].timestamp, entries[$0].id) < (entries[$1].timestamp, entries[$1].id) }
            .map { entries[$0] }
    }

    func entry(_ id: PacketID) -> GossipEntry? { entries.firstIndex { $0.id == id }.map { entries[$0] } }

    mutating func put(_ entry: GossipEntry, for peer: PeerID) {
        guard !replace(entry, for: peer) else { return }
        positions[peer] = entries.count
        entries.append(entry)
        peers.append(peer)
    }

    /// - Returns: false when nothing is held of the peer.
    mutating func replace(_ entry: GossipEntry, for peer: PeerID) -> Bool {
        guard let position = positions[peer] else { return false }
        let presentSince = entries[position].presentSince
        entries[position] = entry
        entries[position].presentSince = presentSince
        return true
    }

    mutating func remove(_ peer: PeerID) {
        guard let position = positions.removeValue(forKey: peer) else { return }
        let last = entries.count - 1
        entries.swapAt(position, last)
        peers.swapAt(position, last)
        entries.removeLast()
        peers.removeLast()
        if position < last { positions[peers[position]] = position }
    }

    /// Makes room for one more by dropping the oldest timestamp.
    mutating func makeRoom(capacity: Int, sparing spared: PeerID?) {
        while entries.count >= capacity,
            let oldest = entries.indices.filter({ peers[$0] != spared }).min(by: {
                (entries[$0].timestamp, peers[$0]) < (entries[$1].timestamp, peers[$1])
            })
        {
            remove(peers[oldest])
        }
    }

    mutating func expire(before cutoff: WallTime, sparing spared: PeerID? = nil) {
        for position in entries.indices.reversed() where entries[position].timestamp < cutoff {
            if peers[position] != spared { remove(peers[position]) }
        }
    }
}
