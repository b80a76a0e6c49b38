import Basics

/// A frame read in place from a receive buffer; valid only as long as the buffer is. Reading costs no allocation, also
/// for a compressed payload of ordinary size.
public struct FrameView {
    /// Exactly the frame, trailing bytes cut.
    public let bytes: UnsafeRawBufferPointer
    public let layout: FrameLayout

    /// The frame at the start of `buffer`.
    @inlinable
    public static func parse(_ buffer: UnsafeRawBufferPointer) -> Result<FrameView, FrameRejection> {
        FrameLayout.parse(buffer).map { FrameView(validated: buffer, $0) }
    }

    /// `layout` must have been parsed from these very bytes.
    @usableFromInline
    init(validated buffer: UnsafeRawBufferPointer, _ layout: FrameLayout) {
        bytes = UnsafeRawBufferPointer(rebasing: buffer[..<layout.length])
        self.layout = layout
    }

    @inlinable public var version: UInt8 { layout.version }
    @inlinable public var type: MessageType { MessageType(rawValue: bytes[FrameLayout.typeOffset]) }
    @inlinable public var ttl: UInt8 { bytes[FrameLayout.ttlOffset] }
    @inlinable public var timestamp: WallTime { WallTime(milliseconds: uint64(at: FrameLayout.timestampOffset)) }
    /// As received, unknown bits included.
    @inlinable public var flags: PacketFlags { PacketFlags(rawValue: bytes[FrameLayout.flagsOffset]) }
    @inlinable public var isSyncResponse: Bool { flags.contains(.isSyncResponse) }
    @inlinable public var senderID: PeerID { PeerID(value: uint64(at: layout.senderOffset)) }
    /// As received: the all-`ff` recipient is returned as such.
    @inlinable public var recipientID: PeerID? {
        layout.hasRecipient ? PeerID(value: uint64(at: layout.recipientOffset)) : nil
    }
    /// No recipient, or the all-`ff` one.
    @inlinable public var isBroadcast: Bool { recipientID.map { $0 == .broadcast } ?? true }

    /// Hop at a position in `0 ..< layout.routeCount`; `nil` outside.
    @inlinable public func hop(_ position: Int) -> PeerID? {
        guard position >= 0, position < layout.routeCount else { return nil }
        return PeerID(value: uint64(at: layout.routeOffset + 1 + position * PeerID.size))
    }
    public var route: [PeerID] { layout.routeCount == 0 ? [] : (0..<layout.routeCount).compactMap(hop) }

    /// The body as received, compressed or not.
    @inlinable public var body: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[layout.bodyOffset..<layout.signatureOffset])
    }
    /// The 64 signature bytes.
    @inlinable public var signature: UnsafeRawBufferPointer? {
        layout.hasSignature ? UnsafeRawBufferPointer(rebasing: bytes[layout.signatureOffset..<layout.length]) : nil
    }

    /// Runs `use` on the uncompressed payload: in place, or inflated into a buffer that is valid during the call only.
    /// - Returns: `nil` when the body does not inflate to the announced size (chapter 01 §3.4).
    @inlinable
    public func withPayload<R>(_ use: (UnsafeRawBufferPointer) throws -> R) rethrows -> R? {
        guard layout.isCompressed else { return try use(body) }
        return try Compression.withInflated(body, size: layout.payloadLength, use)
    }

    /// The uncompressed payload, copied.
    public func payload() -> [UInt8]? {
        layout.isCompressed ? Compression.inflate(body, originalSize: layout.payloadLength) : [UInt8](body)
    }

    @usableFromInline
    func uint64(at offset: Int) -> UInt64 {
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}
