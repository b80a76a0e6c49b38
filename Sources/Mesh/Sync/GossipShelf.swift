import Basics
import Wire

/// Packets of which only one a peer is kept: announces by sender, prekey bundles by owner (chapter 04 §2). A few
/// hundred at most, so it needs no index by time.
struct GossipShelf {
    private var entries: [PeerID: GossipEntry] = [:]
    private var peerOf: [PacketID: PeerID] = [:]

    var count: Int { entries.count }
    subscript(peer: PeerID) -> GossipEntry? { entries[peer] }

    /// Oldest timestamp first, so that the order is the same in every run.
    var inOrder: [GossipEntry] {
        entries.values.sorted { ($0.timestamp, $0.id) < ($1.timestamp, $1.id) }
    }

    func entry(_ id: PacketID) -> GossipEntry? { peerOf[id].flatMap { entries[$0] } }

    mutating func put(_ entry: GossipEntry, for peer: PeerID) {
        remove(peer)
        entries[peer] = entry
        peerOf[entry.id] = peer
    }

    /// - Returns: false when nothing is held of the peer.
    mutating func replace(_ entry: GossipEntry, for peer: PeerID) -> Bool {
        guard let position = entries.index(forKey: peer) else { return false }
        let former = entries.values[position]
        entries.values[position] = entry
        entries.values[position].presentSince = former.presentSince
        if former.id != entry.id {
            peerOf[former.id] = nil
            peerOf[entry.id] = peer
        }
        return true
    }

    mutating func remove(_ peer: PeerID) {
        guard let removed = entries.removeValue(forKey: peer) else { return }
        peerOf[removed.id] = nil
    }

    /// Makes room for one more by dropping the oldest timestamp.
    mutating func makeRoom(capacity: Int, sparing spared: PeerID?) {
        while entries.count >= capacity,
            let oldest = entries.filter({ $0.key != spared }).min(by: {
                ($0.value.timestamp, $0.key) < ($1.value.timestamp, $1.key)
            })
        {
            remove(oldest.key)
        }
    }

    mutating func expire(before cutoff: WallTime, sparing spared: PeerID? = nil) {
        for (peer, entry) in entries where entry.timestamp < cutoff && peer != spared { remove(peer) }
    }

    mutating func removeAll() {
        entries.removeAll()
        peerOf.removeAll()
    }
}
