import Basics
import Wire

/// One live link and what is believed about its far end (chapter 03 A11). Everything here dies with the link.
struct Link {
    let id: LinkID
    let role: LinkRole
    /// Largest frame the link carries.
    var frameLimit: Int
    let upSince: Instant

    /// Presumed peer at the far end, from an announce whose directness can be forged.
    var peer: PeerID?
    /// Peer that completed a Noise handshake on exactly this link.
    var provenPeer: PeerID?
    var reboundAt: Instant?

    /// Budget of new packets, whoever they claim to be from.
    var packets = TokenBucket(capacity: MeshLimits.linkPacketBurst, perSecond: MeshLimits.linkPacketsPerSecond)
    /// Budget of bytes inflated to tell packets apart.
    var inflation = TokenBucket(
        capacity: MeshLimits.linkInflationBurst, perSecond: MeshLimits.linkInflationPerSecond)
    /// Budget of identities it may introduce.
    var identities = TokenBucket(
        capacity: MeshLimits.newIdentityBurst, perSecond: MeshLimits.newIdentitiesPerSecond)
    /// What came in on it and is relayed as its share; the rest is relayed where there is room to spare.
    var broadcastShare = TokenBucket(
        capacity: MeshLimits.ingressShareBurst, perSecond: MeshLimits.ingressSharePerSecond)
    var directedShare = TokenBucket(
        capacity: MeshLimits.ingressShareBurst, perSecond: MeshLimits.ingressSharePerSecond)
    /// What is written to it.
    var output = TokenBucket(capacity: MeshLimits.linkOutputBurst, perSecond: MeshLimits.linkOutputPerSecond)
    /// Budget of relays for authors whose key is unknown.
    var unverifiedRelays = TokenBucket(
        capacity: MeshLimits.unverifiedRelayBurst, perSecond: MeshLimits.unverifiedRelaysPerSecond)

    var framesIn: UInt64 = 0
    var framesOut: UInt64 = 0
    var lastIn: Instant?
    var lastOut: Instant?

    init(id: LinkID, role: LinkRole, frameLimit: Int, upSince: Instant) {
        self.id = id
        self.role = role
        self.frameLimit = Link.usable(frameLimit)
        self.upSince = upSince
    }

    static func usable(_ frameLimit: Int) -> Int {
        min(max(frameLimit, MeshLimits.frameLimitFloor), MeshLimits.frameLimitCap)
    }
}
