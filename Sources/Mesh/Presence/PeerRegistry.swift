import Basics
import Crypto
import Wire

/// A peer known from a verified announce (chapter 03 B11.1).
struct Peer {
    let id: PeerID
    var nickname: String
    let noiseKey: NoisePublicKey
    let signingKey: SigningPublicKey
    var isConnected: Bool
    var lastSeen: Instant
    /// Nil when the last announce carried none.
    var capabilities: Capabilities?
    var bridgeCell: String?
    /// The peer's own time of the announce this entry says.
    var announcedAt: WallTime
    /// The link it came in on.
    var link: LinkID
}

/// Peers in reach. Only verified announces create entries, at most `MeshLimits.peerCapacity` of them.
final class PeerRegistry {
    /// One place in the table, so that looking at a peer copies nothing.
    private final class Slot {
        var peer: Peer
        init(_ peer: Peer) { self.peer = peer }
    }

    private var slots: [PeerID: Slot] = [:]
    /// Peers flagged connected: the degree of chapter 03 B1.
    private(set) var degree = 0

    subscript(id: PeerID) -> Peer? { slots[id]?.peer }
    var count: Int { slots.count }
    var all: [Peer] { slots.values.map(\.peer).sorted { $0.id < $1.id } }
    var connected: [PeerID] {
        var connected: [PeerID] = []
        connected.reserveCapacity(degree)
        for (id, slot) in slots where slot.peer.isConnected { connected.append(id) }
        return connected.sorted()
    }

    func contains(_ id: PeerID) -> Bool { slots[id] != nil }
    func isConnected(_ id: PeerID) -> Bool { slots[id]?.peer.isConnected ?? false }

    /// Connected; or heard of within a minute while somebody is connected.
    func isReachable(_ id: PeerID, at now: Instant) -> Bool {
        guard let peer = slots[id]?.peer else { return false }
        return peer.isConnected || degree > 0 && now - peer.lastSeen <= MeshLimits.reachableFor
    }

    /// Adds or replaces an entry.
    /// - Parameter isLive: whether a link is up.
    /// - Returns: the peer evicted to make room; nil when there was room. Refused (`accepted` false) when every peer is
    ///   connected and none can go.
    @discardableResult
    func upsert(_ peer: Peer, isLive: (LinkID) -> Bool) -> (accepted: Bool, evicted: PeerID?) {
        if let slot = slots[peer.id] {
            degree += (peer.isConnected ? 1 : 0) - (slot.peer.isConnected ? 1 : 0)
            slot.peer = peer
            return (true, nil)
        }
        var evicted: PeerID?
        if slots.count >= MeshLimits.peerCapacity {
            guard let victim = victim(isLive: isLive) else { return (false, nil) }
            slots[victim] = nil
            evicted = victim
        }
        if peer.isConnected { degree += 1 }
        slots[peer.id] = Slot(peer)
        return (true, evicted)
    }

    /// Of the peers that are not connected the one heard of longest ago: of those whose link is gone if there are any,
    /// else of the link that brought most of them. A link that floods the registry thus evicts what it brought itself.
    private func victim(isLive: (LinkID) -> Bool) -> PeerID? {
        let idle = slots.values.lazy.map(\.peer).filter { !$0.isConnected }
        var brought: [LinkID: Int] = [:]
        for peer in idle { brought[peer.link, default: 0] += 1 }
        let gone = Set(brought.keys.filter { !isLive($0) })
        let largest = brought.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key
        return idle.lazy.filter { gone.isEmpty ? $0.link == largest : gone.contains($0.link) }
            .min { ($0.lastSeen, $0.id) < ($1.lastSeen, $1.id) }?.id
    }

    /// The neighbour a packet came in from was just heard. Authors farther away are not refreshed.
    func touch(_ ingressPeer: PeerID, at now: Instant) { slots[ingressPeer]?.peer.lastSeen = now }

    /// - Returns: true when the flag changed.
    @discardableResult
    func setConnected(_ isConnected: Bool, _ id: PeerID) -> Bool {
        guard let slot = slots[id], slot.peer.isConnected != isConnected else { return false }
        slot.peer.isConnected = isConnected
        degree += isConnected ? 1 : -1
        return true
    }

    @discardableResult
    func remove(_ id: PeerID) -> Peer? {
        guard let peer = slots.removeValue(forKey: id)?.peer else { return nil }
        if peer.isConnected { degree -= 1 }
        return peer
    }

    /// The reconciliation of each tick: silent peers without a direct link lose the flag, and those not heard of for a
    /// minute the entry.
    func reconcile(
        at now: Instant, hasDirectLink: (PeerID) -> Bool
    ) -> (disconnected: [PeerID], removed: [PeerID]) {
        var disconnected: [PeerID] = []
        var removed: [PeerID] = []
        for (id, slot) in slots {
            let silence = now - slot.peer.lastSeen
            guard silence > MeshLimits.peerInactivity else { continue }
            var isConnected = slot.peer.isConnected
            if isConnected, !hasDirectLink(id) {
                isConnected = false
                disconnected.append(id)
            }
            if !isConnected, silence > MeshLimits.reachableFor { removed.append(id) }
        }
        for peer in disconnected { setConnected(false, peer) }
        for peer in removed { remove(peer) }
        return (disconnected.sorted(), removed.sorted())
    }

    func snapshot(_ id: PeerID, at now: Instant) -> PeerSnapshot? {
        guard let peer = slots[id]?.peer else { return nil }
        return PeerSnapshot(
            id: id, nickname: peer.nickname, noiseKey: peer.noiseKey, signingKey: peer.signingKey,
            isConnected: peer.isConnected, isReachable: isReachable(id, at: now), lastSeen: peer.lastSeen,
            capabilities: peer.capabilities, bridgeCell: peer.bridgeCell)
    }
}
