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

/// Who is around. Entries are made by verified announces only, and at most `MeshLimits.peerCapacity` of them.
struct PeerRegistry {
    private var peers: [PeerID: Peer] = [:]
    /// Peers flagged connected: the degree of chapter 03 B1.
    private(set) var degree = 0

    subscript(id: PeerID) -> Peer? { peers[id] }
    var count: Int { peers.count }
    var isEmpty: Bool { peers.isEmpty }
    var all: [Peer] { peers.values.sorted { $0.id < $1.id } }
    var connected: [PeerID] { peers.values.filter(\.isConnected).map(\.id).sorted() }

    func isConnected(_ id: PeerID) -> Bool { peers[id]?.isConnected ?? false }

    /// Connected; or heard of within a minute while somebody is connected.
    func isReachable(_ id: PeerID, at now: Instant) -> Bool {
        guard let peer = peers[id] else { return false }
        return peer.isConnected || degree > 0 && now - peer.lastSeen <= MeshLimits.reachableFor
    }

    /// Adds or replaces an entry.
    /// - Parameter isLive: whether a link is up.
    /// - Returns: the peer evicted to make room; nil when there was room. Refused (`accepted` false) when every peer is
    ///   connected and none can go.
    @discardableResult
    mutating func upsert(_ peer: Peer, isLive: (LinkID) -> Bool) -> (accepted: Bool, evicted: PeerID?) {
        if let position = peers.index(forKey: peer.id) {
            degree += (peer.isConnected ? 1 : 0) - (peers.values[position].isConnected ? 1 : 0)
            peers.values[position] = peer
            return (true, nil)
        }
        var evicted: PeerID?
        if peers.count >= MeshLimits.peerCapacity {
            guard let victim = victim(isLive: isLive) else { return (false, nil) }
            peers[victim] = nil
            evicted = victim
        }
        if peer.isConnected { degree += 1 }
        peers[peer.id] = peer
        return (true, evicted)
    }

    /// Of the peers that are not connected the one heard of longest ago: of those whose link is gone if there are any, else
    /// of the link that brought most of them. A link that floods the registry thus evicts what it brought itself.
    private func victim(isLive: (LinkID) -> Bool) -> PeerID? {
        let idle = peers.values.filter { !$0.isConnected }
        var brought: [LinkID: Int] = [:]
        for peer in idle { brought[peer.link, default: 0] += 1 }
        let gone = Set(brought.keys.filter { !isLive($0) })
        let largest = brought.max { ($0.value, $0.key) < ($1.value, $1.key) }?.key
        return idle.lazy.filter { gone.isEmpty ? $0.link == largest : gone.contains($0.link) }
            .min { ($0.lastSeen, $0.id) < ($1.lastSeen, $1.id) }?.id
    }

    /// The neighbour a packet came in from was just heard. Authors farther away are not refreshed.
    mutating func touch(_ ingressPeer: PeerID, at now: Instant) {
        guard let position = peers.index(forKey: ingressPeer) else { return }
        peers.values[position].lastSeen = now
    }

    /// - Returns: true when the flag changed.
    @discardableResult
    mutating func setConnected(_ isConnected: Bool, _ id: PeerID) -> Bool {
        guard let peer = peers[id], peer.isConnected != isConnected else { return false }
        peers[id]?.isConnected = isConnected
        degree += isConnected ? 1 : -1
        return true
    }

    @discardableResult
    mutating func remove(_ id: PeerID) -> Peer? {
        guard let peer = peers.removeValue(forKey: id) else { return nil }
        if peer.isConnected { degree -= 1 }
        return peer
    }

    /// The reconciliation of each tick: silent peers without a direct link lose the flag, and those not heard of for a
    /// minute the entry.
    mutating func reconcile(
        at now: Instant, hasDirectLink: (PeerID) -> Bool
    ) -> (disconnected: [PeerID], removed: [PeerID]) {
        var disconnected: [PeerID] = []
        var removed: [PeerID] = []
        for position in peers.indices {
            let silence = now - peers.values[position].lastSeen
            guard silence > MeshLimits.peerInactivity else { continue }
            let peer = peers.values[position]
            var isConnected = peer.isConnected
            if isConnected, !hasDirectLink(peer.id) {
                isConnected = false
                disconnected.append(peer.id)
            }
            if !isConnected, silence > MeshLimits.reachableFor { removed.append(peer.id) }
        }
        for peer in disconnected { setConnected(false, peer) }
        for peer in removed { remove(peer) }
        return (disconnected.sorted(), removed.sorted())
    }

    func snapshot(_ id: PeerID, at now: Instant) -> PeerSnapshot? {
        guard let peer = peers[id] else { return nil }
        return PeerSnapshot(
            id: id, nickname: peer.nickname, noiseKey: peer.noiseKey, signingKey: peer.signingKey,
            isConnected: peer.isConnected, isReachable: isReachable(id, at: now), lastSeen: peer.lastSeen,
            capabilities: peer.capabilities, bridgeCell: peer.bridgeCell)
    }
}
