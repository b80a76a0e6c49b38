import Basics
import Crypto
import Wire

/// What the node wants done. Take effects with `MeshNode.nextEffect()` until there are none, after every call.
public enum MeshEffect: Sendable {
    /// Write one frame to a link. The link's queue applies its own bounds (chapter 03 A10).
    case transmit(frame: [UInt8], link: LinkID, priority: WritePriority)
    /// Close a link the node has already forgotten; no event follows for it.
    case disconnect(LinkID)
    /// Something happened that others may care about.
    indirect case event(MeshEvent)
    /// Keep this for `MeshNode.restoreHistory` after a restart.
    indirect case archive(HistoryBatch)
    /// Keep this for `MeshNode.restoreBoard` after a restart.
    indirect case boardArchive(BoardBatch)
}

public enum MeshEvent: Sendable {
    /// A verified announce made this peer a direct neighbour.
    case peerConnected(PeerSnapshot)
    /// The last link to the peer ended, or it fell silent; it may still be reachable over others.
    case peerDisconnected(PeerID)
    /// First heard of over others, or its name, capabilities or cell changed.
    case peerUpdated(PeerSnapshot)
    /// The peer said goodbye.
    case peerLeft(PeerID)
    /// The peer was not heard of for a minute, or rotated to a new identity.
    case peerRemoved(PeerID)
    /// A verified announce came in live, whatever our clock says of it: what its sender's clock said, for whoever keeps
    /// the time (chapter 03 A13.7).
    case timeHeard(WallTime, from: PeerID, on: LinkID)
    /// Verified and not seen before.
    case publicMessage(PublicMessage)
    /// A carrier addressed to us, with its depositor's signature verified; or a broadcast one, whose sender means
    /// nothing (chapter 06 §2). The event inside is unverified either way.
    case carrier(NostrCarrier, addressedToUs: Bool, depositor: PeerID?)
    /// An envelope addressed to us; only with `MeshConfiguration.takesMail`. `depositor` is the key of the neighbour
    /// who signed the packet and handed it over itself, and may leave mail for others (chapter 06 §6.1); nil for
    /// whatever came another way.
    case mail(CourierEnvelope, from: PeerID, depositor: NoisePublicKey?)
    /// Keys of somebody's to seal mail to; only with `MeshConfiguration.takesMail`.
    case prekeyBundle(Verified<PrekeyBundle>)
    /// A verified announce took effect; only with `MeshConfiguration.takesMail`.
    case announced(PeerID, NoisePublicKey, AnnounceStanding)
    /// Signing and Noise keys of a peer were pinned or its name changed: what a restart should remember.
    case identityLearned(IdentityRecord)
    /// An identity made room for another: a restart should not remember it either.
    case identityForgotten(IdentityRecord)
    /// A handshake with the peer is complete: it holds the key this is the fingerprint of.
    case sessionEstablished(PeerID, fingerprint: Fingerprint)
    /// An attempt of ours came to nothing, or a session is gone without another in its place.
    case sessionFailed(PeerID, NoiseSessionFailure)
    /// The handshake that established a session came in over this link of the peer's (chapter 02 §4.10).
    case linkProven(LinkID, PeerID)
    /// Came encrypted from the holder of the key this is the fingerprint of; the body is not parsed yet.
    case noisePayload(NoisePayload, from: PeerID, fingerprint: Fingerprint)
    /// Handed over for the peer, and never sent.
    case undeliverable(NoisePayload, to: PeerID)
    /// Answer to `MeshNode.ping`; hops is nil when the TTLs make no sense.
    case pong(PeerID, roundTrip: Interval, hops: Int?)
}

/// A public message whose author's signature verified (chapter 03 B14).
public struct PublicMessage: Hashable, Sendable {
    public let sender: PeerID
    public let nickname: String
    public let text: String
    public let timestamp: WallTime
    /// Content-derived, 32 hex digits (chapter 01 §11.3).
    public let stableID: String
    /// Came as an answer to a sync request, not live.
    public let isReplay: Bool

    public init(
        sender: PeerID, nickname: String, text: String, timestamp: WallTime, stableID: String, isReplay: Bool
    ) {
        self.sender = sender
        self.nickname = nickname
        self.text = text
        self.timestamp = timestamp
        self.stableID = stableID
        self.isReplay = isReplay
    }
}

/// A peer as the registry knows it now.
public struct PeerSnapshot: Hashable, Sendable {
    public let id: PeerID
    public let nickname: String
    public let noiseKey: NoisePublicKey
    public let signingKey: SigningPublicKey
    /// A direct neighbour.
    public let isConnected: Bool
    /// Connected, or heard of within a minute while we have a neighbour (chapter 03 B11.1).
    public let isReachable: Bool
    public let lastSeen: Instant
    /// Nil when the last announce carried none, which is not the same as an empty set.
    public let capabilities: Capabilities?
    public let bridgeCell: String?

    public init(
        id: PeerID, nickname: String, noiseKey: NoisePublicKey, signingKey: SigningPublicKey, isConnected: Bool,
        isReachable: Bool, lastSeen: Instant, capabilities: Capabilities?, bridgeCell: String?
    ) {
        self.id = id
        self.nickname = nickname
        self.noiseKey = noiseKey
        self.signingKey = signingKey
        self.isConnected = isConnected
        self.isReachable = isReachable
        self.lastSeen = lastSeen
        self.capabilities = capabilities
        self.bridgeCell = bridgeCell
    }
}

/// A link as observed: what was really received and sent, not what is hoped for.
public struct LinkSnapshot: Hashable, Sendable {
    public let id: LinkID
    public let role: LinkRole
    /// Presumed peer at the far end.
    public let peer: PeerID?
    public let frameLimit: Int
    public let upSince: Instant
    public let framesIn: UInt64
    public let framesOut: UInt64
    public let lastIn: Instant?
    public let lastOut: Instant?

    init(_ link: Link) {
        id = link.id
        role = link.role
        peer = link.peer
        frameLimit = link.frameLimit
        upSince = link.upSince
        framesIn = link.framesIn
        framesOut = link.framesOut
        lastIn = link.lastIn
        lastOut = link.lastOut
    }
}
