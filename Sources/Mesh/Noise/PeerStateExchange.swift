import Basics
import Crypto
import Wire

/// The exchange of authenticated peer state within one session generation (chapter 02 §6.9): one copy at its beginning,
/// one echo to the first valid copy of the peer, which is the one that counts.
struct PeerStateExchange {
    let generation: Bytes32
    /// Copies of ours still to be sent.
    private(set) var pendingCopies = 1
    private(set) var proven: AuthenticatedPeerState?

    init(generation: Bytes32) { self.generation = generation }

    mutating func noteSent() { pendingCopies = max(0, pendingCopies - 1) }

    /// - Returns: true for the first copy. A later one changes nothing, whatever it says: Android's rule.
    mutating func accept(_ state: AuthenticatedPeerState) -> Bool {
        guard proven == nil else { return false }
        proven = state
        pendingCopies += 1
        return true
    }
}

extension MeshNode {
    /// Binds a signing key to a Noise key for good: whatever was trusted on first use gives way (chapter 02 §6.9).
    func pin(_ signingKey: SigningPublicKey, provenBy noiseKey: NoisePublicKey, capabilities: Capabilities) {
        let peer = noiseKey.peerID
        let known = identities[peer]
        let isImpostor = known.map { $0.signingKey != signingKey } ?? false
        // A name announced under another signing key was never this peer's.
        let nickname = isImpostor ? "" : known?.nickname ?? ""
        let record = IdentityRecord(
            noiseKey: noiseKey, signingKey: signingKey, authenticatedSigningKey: signingKey, nickname: nickname)
        learn(record)
        guard let live = registry[peer], live.signingKey != signingKey || live.noiseKey != noiseKey else { return }
        registry.upsert(
            Peer(
                id: peer, nickname: peer.hex, noiseKey: noiseKey, signingKey: signingKey,
                isConnected: live.isConnected, lastSeen: live.lastSeen, capabilities: capabilities, bridgeCell: nil,
                announcedAt: WallTime(milliseconds: 0), link: live.link)
        ) { linkTable[$0] != nil }
        if let snapshot = registry.snapshot(peer, at: now.monotonic) { emit(.peerUpdated(snapshot)) }
    }
}
