/// The type byte of a packet (chapter 01 §8). Unknown values are legal: they are relayed, never delivered.
public struct MessageType: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8

    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let announce = MessageType(rawValue: 0x01)
    public static let message = MessageType(rawValue: 0x02)
    public static let leave = MessageType(rawValue: 0x03)
    public static let courierEnvelope = MessageType(rawValue: 0x04)
    public static let noiseHandshake = MessageType(rawValue: 0x10)
    public static let noiseEncrypted = MessageType(rawValue: 0x11)
    public static let fragment = MessageType(rawValue: 0x20)
    public static let requestSync = MessageType(rawValue: 0x21)
    public static let fileTransfer = MessageType(rawValue: 0x22)
    public static let boardPost = MessageType(rawValue: 0x23)
    public static let prekeyBundle = MessageType(rawValue: 0x24)
    public static let groupMessage = MessageType(rawValue: 0x25)
    public static let ping = MessageType(rawValue: 0x26)
    public static let pong = MessageType(rawValue: 0x27)
    public static let nostrCarrier = MessageType(rawValue: 0x28)
    public static let voiceFrame = MessageType(rawValue: 0x29)
    public static let announceV2 = MessageType(rawValue: 0x2c)
}
