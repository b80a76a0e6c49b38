import Basics

/// One received or encoded frame, kept byte for byte: what a node relays, archives and serves. Only the TTL and the RSR
/// flag may change; nothing is ever re-encoded, because signatures cover compressed bytes (chapter 01 §6.4).
public struct Frame: Hashable, Sendable {
    /// Exactly the frame; padding and other trailing bytes were dropped.
    public private(set) var bytes: [UInt8]
    public let layout: FrameLayout

    public init(_ bytes: [UInt8]) throws(FrameRejection) {
        let layout = try bytes.withUnsafeBytes { FrameLayout.parse($0) }.get()
        self.bytes = bytes.count == layout.length ? bytes : Array(bytes.prefix(layout.length))
        self.layout = layout
    }

    /// A frame joined from fragments.
    ///
    /// Android takes what looks like padding off a frame before it cuts it, and a signature often ends in 01 or 02 02.
    /// A signature short by just that is completed; whether rightly, its verification tells (chapter 01 §18 item 9).
    public init(reassembled bytes: [UInt8]) throws(FrameRejection) {
        do {
            self = try Frame(bytes)
        } catch {
            guard error == .truncated else { throw error }
            for missing in 1...2 {
                let completed = bytes + Array(repeating: UInt8(missing), count: missing)
                guard let frame = try? Frame(completed), frame.layout.hasSignature,
                    frame.layout.length == completed.count
                else { continue }
                self = frame
                return
            }
            throw error
        }
    }

    /// A copy of a frame read in place.
    public init(_ view: FrameView) {
        bytes = [UInt8](view.bytes)
        layout = view.layout
    }

    @inlinable
    public func withView<R>(_ use: (FrameView) throws -> R) rethrows -> R {
        try bytes.withUnsafeBytes { try use(FrameView(validated: $0, layout)) }
    }

    public var version: UInt8 { layout.version }
    public var type: MessageType { withView(\.type) }
    public var ttl: UInt8 { withView(\.ttl) }
    public var timestamp: WallTime { withView(\.timestamp) }
    public var isSyncResponse: Bool { withView(\.isSyncResponse) }
    public var senderID: PeerID { withView(\.senderID) }
    /// As received: the all-`ff` recipient is returned as such.
    public var recipientID: PeerID? { withView(\.recipientID) }
    public var isBroadcast: Bool { withView(\.isBroadcast) }
    public var route: [PeerID] { withView(\.route) }
    public var signature: [UInt8]? { withView { $0.signature.map { [UInt8]($0) } } }
    /// The uncompressed payload, bounded; `nil` when the body does not inflate.
    public func payload() -> [UInt8]? { withView { $0.payload() } }
    /// The parsed packet; `nil` when the body does not inflate.
    public func packet() -> Packet? { withView { Packet($0) } }

    /// Changes byte 2 and nothing else.
    public mutating func setTTL(_ ttl: UInt8) { bytes[FrameLayout.ttlOffset] = ttl }

    /// Changes flag 0x10 and nothing else.
    public mutating func setSyncResponse(_ isSyncResponse: Bool) {
        var flags = PacketFlags(rawValue: bytes[FrameLayout.flagsOffset])
        if isSyncResponse { flags.insert(.isSyncResponse) } else { flags.remove(.isSyncResponse) }
        bytes[FrameLayout.flagsOffset] = flags.rawValue
    }

    /// Replaces the signature bytes; nothing happens to an unsigned frame, nor with another number of bytes than 64.
    public mutating func setSignature(_ signature: [UInt8]) {
        guard layout.hasSignature, signature.count == WireLimits.signature else { return }
        bytes.replaceSubrange(layout.signatureOffset..<layout.length, with: signature)
    }

    /// The bytes for a link: padded when the type asks for it (chapter 01 §4.2).
    public func transmitted() -> [UInt8] { type.isPadded ? Padding.padded(bytes) : bytes }
}
