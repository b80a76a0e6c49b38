/// The flags byte (chapter 01 §2.2). Bits 5–7 are emitted 0 and ignored on decode.
public struct PacketFlags: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let hasRecipient = PacketFlags(rawValue: 0x01)
    public static let hasSignature = PacketFlags(rawValue: 0x02)
    public static let isCompressed = PacketFlags(rawValue: 0x04)
    /// Means something in version 2 only.
    public static let hasRoute = PacketFlags(rawValue: 0x08)
    /// "RSR": the packet answers a REQUEST_SYNC. Outside the signature.
    public static let isSyncResponse = PacketFlags(rawValue: 0x10)
}
