import Basics

/// Identifies a packet's content for gossip membership: the first 16 bytes of SHA-256 over type, sender, timestamp and
/// uncompressed payload (chapter 01 §11.1). Recipient, TTL, flags, route and signature do not enter.
public struct PacketID: Hashable, Comparable, Sendable {
    public static let size = 16

    /// The 16 bytes as two big-endian halves.
    public let high: UInt64
    public let low: UInt64

    @inlinable public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    public init(type: MessageType, sender: PeerID, timestamp: WallTime, payload: UnsafeRawBufferPointer) {
        var hash = SHA256.Stream()
        hash.update(bigEndian: type.rawValue)
        hash.update(bigEndian: sender.value)
        hash.update(bigEndian: timestamp.milliseconds)
        hash.update(payload)
        self = hash.finish { digest in
            PacketID(
                high: UInt64(bigEndian: digest.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
                low: UInt64(bigEndian: digest.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }

    public init(_ packet: Packet) {
        self = packet.payload.withUnsafeBytes {
            PacketID(type: packet.type, sender: packet.senderID, timestamp: packet.timestamp, payload: $0)
        }
    }

    /// `nil` when the body does not inflate.
    public init?(_ view: FrameView) {
        let id = view.withPayload {
            PacketID(type: view.type, sender: view.senderID, timestamp: view.timestamp, payload: $0)
        }
        guard let id else { return nil }
        self = id
    }

    /// `nil` unless there are exactly 16 bytes.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == PacketID.size else { return nil }
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    public var bytes: [UInt8] {
        var bytes = [UInt8]()
        bytes.reserveCapacity(PacketID.size)
        bytes.append(bigEndian: high)
        bytes.append(bigEndian: low)
        return bytes
    }
    /// 32 lower-case hex digits.
    public var hex: String { Hex.encode(bytes) }

    public static func < (a: PacketID, b: PacketID) -> Bool { (a.high, a.low) < (b.high, b.low) }
}

extension Packet {
    public var id: PacketID { PacketID(self) }
}
