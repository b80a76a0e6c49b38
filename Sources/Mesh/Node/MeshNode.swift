import Basics
import Crypto
import Wire

/// One mesh node, without I/O: frames and clock readings go in, effects come out (chapter 03 B).
///
/// Not thread-safe; call it from one loop. After every call take effects until `nextEffect()` returns nil, and arm one
/// timer for `nextDeadline`.
public final class MeshNode {
    public let identity: NodeIdentity

    public init(configuration: MeshConfiguration, identity: NodeIdentity, random: any RandomNumberGenerator) {
        self.identity = identity
    }

    public var me: PeerID { identity.peerID }

    // MARK: Life

    public func start(at now: Now) {}

    /// Says goodbye on every link. Close the links `MeshLimits.leaveLinger` after carrying the effects out.
    public func stop(at now: Now) {}

    /// Identities remembered from an earlier run.
    public func restore(_ identities: [IdentityRecord]) {}

    // MARK: Links

    /// A link can carry frames both ways: we subscribed (outgoing), or the neighbour did (incoming).
    /// - Parameters:
    ///   - frameLimit: min(ATT MTU − 3, 512).
    ///   - neighbour: any stable number for the remote address, so that reconnecting does not draw an announce each
    ///     time (chapter 03 A9); nil when unknown.
    public func linkUp(_ link: LinkID, role: LinkRole, frameLimit: Int, neighbour: UInt64? = nil, at now: Now) {}

    /// The link's usable frame size changed.
    public func linkChanged(_ link: LinkID, frameLimit: Int, at now: Now) {}

    public func linkDown(_ link: LinkID, at now: Now) {}

    /// One frame as the link delivered it; the bytes are not kept.
    public func receive(_ frame: UnsafeRawBufferPointer, on link: LinkID, at now: Now) {}

    // MARK: Time and effects

    public func timeout(at now: Now) {}

    public var nextDeadline: Instant? { nil }

    public func nextEffect() -> MeshEffect? { nil }

    // MARK: Commands

    /// Says something to everybody. Returns the message's stable ID; nil when it is empty or too long (chapter 03 B14).
    @discardableResult
    public func say(_ text: String, at now: Now) -> PublicMessage? { nil }

    /// Deposits a carrier with a gateway or bridge: directed and signed.
    /// - Returns: false when the peer is not reachable or the carrier does not encode.
    @discardableResult
    public func sendCarrier(_ carrier: NostrCarrier, to peer: PeerID, at now: Now) -> Bool { false }

    /// Puts a carrier on the air for everybody, unsigned. Returns false when it does not encode.
    @discardableResult
    public func broadcastCarrier(_ carrier: NostrCarrier, at now: Now) -> Bool { false }

    /// What the next announces say; a change announces at once (chapter 03 B19).
    public func setAdvertisement(capabilities: Capabilities, bridgeCell: String?, at now: Now) {}

    public func setNickname(_ nickname: String, at now: Now) {}

    /// Probes a peer; `MeshEvent.pong` answers, or nothing does for `MeshLimits.pingTimeout`.
    public func ping(_ peer: PeerID, at now: Now) {}

    // MARK: Observation

    public func peers(at now: Now) -> [PeerSnapshot] { [] }
    public var links: [LinkSnapshot] { [] }
    /// Peers flagged connected: the degree of chapter 03 B1.
    public var degree: Int { 0 }
    public var drops: Tally<MeshDrop> { Tally() }
    public var counts: Tally<MeshCount> { Tally() }
}
