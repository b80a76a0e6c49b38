import Basics
import Mesh
import Wire

/// Nothing goes round in circles: a node puts one packet on one link once, and never with a TTL that grew. So what one
/// packet costs is bound by the links there are, each way.
public final class FloodCheck: SimulationObserver {
    /// Half as long as duplicates are remembered, after which a packet is as good as new (chapter 03 B4).
    private var crossings = RecentCrossings(
        span: Interval(nanoseconds: MeshLimits.duplicateLifetime.nanoseconds / 2))

    public init() {}

    public func transmitted(_ transmission: SimulatedMesh.Transmission, in mesh: SimulatedMesh) {
        let bytes = transmission.bytes
        guard transmission.from >= 0, bytes.count >= FrameLayout.smallestShortFrame else { return }
        let ttl = bytes[2]
        guard ttl > 0 else { return }
        if ttl >= Packet.originTTL, FrameHeader.sender(bytes) != mesh.nodes[transmission.from].id {
            mesh.report("flood", node: transmission.from, "relayed a packet with TTL \(ttl)")
        }
        if !crossings.insert(transmission.hash, on: transmission.link, at: transmission.at) {
            mesh.report("flood", node: transmission.from, "sent one packet of type \(bytes[1]) twice over one link")
        }
    }
}

/// Header fields of a frame that a node wrote, read without parsing it.
enum FrameHeader {
    static func sender(_ bytes: [UInt8]) -> PeerID {
        let offset = bytes[0] == 1 ? 14 : 16
        return bytes.withUnsafeBytes {
            PeerID(value: UInt64(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
        }
    }

    static func hasRecipient(_ bytes: [UInt8]) -> Bool { bytes[11] & PacketFlags.hasRecipient.rawValue != 0 }
    static func isSyncResponse(_ bytes: [UInt8]) -> Bool { bytes[11] & PacketFlags.isSyncResponse.rawValue != 0 }
}
