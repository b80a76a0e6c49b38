import Basics
import Crypto
import Mesh
import Wire

/// One node of a simulated mesh with everything it reported.
public final class SimulatedNode {
    public let index: Int
    public let identity: NodeIdentity
    public internal(set) var mesh: MeshNode
    /// Milliseconds by which the node's wall clock is ahead.
    public let clockSkew: Int64
    /// What it reported, as long as `SimulatedMesh.recordsEvents` is on.
    public private(set) var events: [(at: Instant, event: MeshEvent)] = []
    /// What stands behind the node and takes its events: a gateway.
    public internal(set) var attachment: (any NodeAttachment)?
    /// Left for good.
    public internal(set) var isRetired = false
    /// Identities that the node's storage would hold across a restart.
    var pinned: [PeerID: IdentityRecord] = [:]
    /// Public history that the node's storage would hold across a restart.
    public var archive = SimulatedArchive()
    /// What earlier runs of the node counted.
    var pastDrops = Tally<MeshDrop>()
    var pastCounts = Tally<MeshCount>()
    /// The moment the heap will wake it.
    var wake = Instant.distantFuture

    init(index: Int, identity: NodeIdentity, mesh: MeshNode, clockSkew: Int64) {
        self.index = index
        self.identity = identity
        self.mesh = mesh
        self.clockSkew = clockSkew
    }

    public var id: PeerID { identity.peerID }

    /// Over all runs of the node.
    public var drops: Tally<MeshDrop> { pastDrops.adding(mesh.drops) }
    public var counts: Tally<MeshCount> { pastCounts.adding(mesh.counts) }

    func clock(_ now: Now) -> Now {
        guard clockSkew != 0 else { return now }
        return Now(
            monotonic: now.monotonic,
            wall: WallTime(milliseconds: UInt64(max(0, Int64(now.wall.milliseconds) + clockSkew))))
    }

    func note(_ event: MeshEvent, at now: Instant) { events.append((now, event)) }

    var nextDeadline: Instant {
        let own = mesh.nextDeadline ?? .distantFuture
        return attachment?.nextDeadline.map { min($0, own) } ?? own
    }

    // MARK: Reports by kind

    /// Public messages delivered, in order.
    public var heard: [PublicMessage] {
        events.compactMap { if case .publicMessage(let message) = $0.event { message } else { nil } }
    }
    public var texts: [String] { heard.map(\.text) }

    public var carriers: [(carrier: NostrCarrier, addressedToUs: Bool, depositor: PeerID?)] {
        events.compactMap {
            if case .carrier(let carrier, let addressed, let depositor) = $0.event {
                (carrier, addressed, depositor)
            } else {
                nil
            }
        }
    }

    public var connectedEvents: [PeerID] {
        events.compactMap { if case .peerConnected(let peer) = $0.event { peer.id } else { nil } }
    }
    public var disconnectedEvents: [PeerID] {
        events.compactMap { if case .peerDisconnected(let peer) = $0.event { peer } else { nil } }
    }
    public var leftEvents: [PeerID] {
        events.compactMap { if case .peerLeft(let peer) = $0.event { peer } else { nil } }
    }
    public var removedEvents: [PeerID] {
        events.compactMap { if case .peerRemoved(let peer) = $0.event { peer } else { nil } }
    }
    public var pongs: [(peer: PeerID, hops: Int?)] {
        events.compactMap { if case .pong(let peer, _, let hops) = $0.event { (peer, hops) } else { nil } }
    }
}

/// What a node's events go to, and what acts through it.
public protocol NodeAttachment: AnyObject {
    func happened(_ event: MeshEvent, at now: Now, in mesh: SimulatedMesh)
    /// Carries out one effect; false when it is quiet.
    func step(_ node: SimulatedNode, at now: Now, in mesh: SimulatedMesh) -> Bool
    func timeout(at now: Now)
    var nextDeadline: Instant? { get }
}
