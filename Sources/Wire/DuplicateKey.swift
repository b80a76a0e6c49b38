import Basics

/// Recognises copies of one packet at this node (chapter 01 §11.2): a keyed hash over sender, timestamp, type,
/// recipient and uncompressed payload. TTL, flags, route and signature do not enter.
///
/// The recipient does, unlike in the reference, since most types travel unverified: a copy readdressed to somebody else
/// must not make this node drop the packet that is meant for it. The two forms of a broadcast are one.
///
/// Keyed, so that nobody outside can aim for collisions; computed without a heap allocation.
public struct DuplicateKey: Hashable, Sendable {
    public let value: SipHash128.Digest

    public init(
        sender: PeerID, timestamp: WallTime, type: MessageType, recipient: PeerID?, payload: UnsafeRawBufferPointer,
        under key: SipHash128.Key
    ) {
        // Two passes instead of one: the payload is hashed where it lies, then its digest with the header fields.
        let digest = SipHash128.hash(payload, under: key)
        value = withUnsafeTemporaryAllocation(byteCount: 41, alignment: 8) { block in
            block.storeBytes(of: sender.value.bigEndian, toByteOffset: 0, as: UInt64.self)
            block.storeBytes(of: timestamp.milliseconds.bigEndian, toByteOffset: 8, as: UInt64.self)
            block.storeBytes(of: digest.first, toByteOffset: 16, as: UInt64.self)
            block.storeBytes(of: digest.second, toByteOffset: 24, as: UInt64.self)
            block.storeBytes(of: (recipient ?? .broadcast).value.bigEndian, toByteOffset: 32, as: UInt64.self)
            block.storeBytes(of: type.rawValue, toByteOffset: 40, as: UInt8.self)
            return SipHash128.hash(UnsafeRawBufferPointer(block), under: key)
        }
    }

    /// `nil` when the body does not inflate: such a frame is none.
    public init?(_ view: FrameView, under key: SipHash128.Key) {
        let duplicateKey = view.withPayload {
            DuplicateKey(
                sender: view.senderID, timestamp: view.timestamp, type: view.type, recipient: view.recipientID,
                payload: $0, under: key)
        }
        guard let duplicateKey else { return nil }
        self = duplicateKey
    }

    public init(_ packet: Packet, under key: SipHash128.Key) {
        self = packet.payload.withUnsafeBytes {
            DuplicateKey(
                sender: packet.senderID, timestamp: packet.timestamp, type: packet.type,
                recipient: packet.recipientID, payload: $0, under: key)
        }
    }

    /// The value is uniform already, so half of it serves a hash table.
    public func hash(into hasher: inout Hasher) { hasher.combine(value.first) }
}
