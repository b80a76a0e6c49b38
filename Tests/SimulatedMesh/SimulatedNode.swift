import Basics
import Crypto
import Mesh
import Wire

/// One node of a simulated mesh with everything it reported.
public struct SimulatedNode {
    public let index: Int
    public let identity: NodeIdentity
    public let mesh: MeshNode
    /// Milliseconds by which the node's wall clock is ahead.
    public let clockSkew: Int64
    public private(set) var events: [(at: Instant, event: MeshEvent)] = []

    public var id: PeerID { identity.peerID }

    func clock(_ now: Now) -> Now {
        Now(
            monotonic: now.monotonic,
            wall: WallTime(milliseconds: UInt64(max(0, Int64(now.wall.milliseconds) + clockSkew))))
    }

    mutating func note(_ event: MeshEvent, at now: Instant) { events.append((now, event)) }

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

extension SimulatedMesh {
    /// A line of nodes, each joined to the next by one link, after time enough to have met.
    public static func line(_ count: Int, seed: UInt64 = 1, _ conditions: Conditions = Conditions()) -> SimulatedMesh {
        let mesh = SimulatedMesh(seed: seed)
        for _ in 0..<count { mesh.addNode() }
        for index in 1..<count { mesh.connect(index - 1, index, conditions) }
        mesh.run(for: .seconds(12))
        return mesh
    }

    /// Frames of one type put on the air.
    public func air(_ type: MessageType) -> [Transmission] {
        air.filter { $0.bytes.count > 1 && $0.bytes[1] == type.rawValue }
    }

    public func peer(_ index: Int) -> PeerID { nodes[index].id }
}
