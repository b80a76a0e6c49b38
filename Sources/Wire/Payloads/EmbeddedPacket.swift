import Basics

/// A typed payload as it travels inside a private Nostr envelope: the text `bitchat1:` and a base64url mesh packet
/// (chapter 01 §14, chapter 05 §13.1). The envelope protects it, so the payload is in clear although the packet's type
/// says Noise: such a packet must never reach the mesh, nor be taken from it.
public struct EmbeddedPacket: Hashable, Sendable {
    private static let prefix = "bitchat1:"
    /// Digits that base64url needs for the largest packet.
    private static let maximumDigits = (WireLimits.payload + 2) / 3 * 4

    /// Claimed, not authenticated: the sender is whoever sealed the envelope.
    public var senderID: PeerID
    /// `nil` in geohash conversations.
    public var recipientID: PeerID?
    public var timestamp: WallTime
    public var payload: NoisePayload

    public init(senderID: PeerID, recipientID: PeerID?, timestamp: WallTime, payload: NoisePayload) {
        self.senderID = senderID
        self.recipientID = recipientID
        self.timestamp = timestamp
        self.payload = payload
    }

    /// Whether `text` claims to hold an embedded packet.
    public static func isEmbedded(_ text: String) -> Bool { text.utf8.starts(with: prefix.utf8) }

    public init?(text: String) {
        let digits = text.utf8.dropFirst(Self.prefix.utf8.count)
        guard
            Self.isEmbedded(text), digits.count <= Self.maximumDigits, let frame = Base64URL.decode(Substring(digits)),
            frame.count <= WireLimits.payload, let packet = Packet(decoding: frame), packet.type == .noiseEncrypted,
            let payload = NoisePayload(payload: packet.payload)
        else { return nil }
        self.init(
            senderID: packet.senderID, recipientID: packet.recipientID, timestamp: packet.timestamp, payload: payload)
    }

    /// The text, of a padded, unsigned version 1 packet. `nil` when the payload exceeds 65,535 bytes.
    public var text: String? {
        let packet = Packet(
            type: .noiseEncrypted, timestamp: timestamp, senderID: senderID, recipientID: recipientID,
            payload: payload.encoded())
        guard let frame = try? packet.encoded(padded: true) else { return nil }
        return Self.prefix + Base64URL.encode(frame)
    }
}
