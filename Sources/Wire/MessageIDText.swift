import Basics

/// The reference's text form of the duplicate key, `senderHex-timestamp-type-digest`; here the seed of the fan-out
/// subset (chapter 01 §11.2, chapter 03 B1, B7).
public func messageIDText(
    sender: PeerID, timestamp: WallTime, type: MessageType, payload: UnsafeRawBufferPointer
) -> String {
    let digest = Hex.encode(SHA256.hash(payload).prefix(4))
    return "\(sender.hex)-\(timestamp.milliseconds)-\(type.rawValue)-\(digest)"
}

public func messageIDText(_ packet: Packet) -> String {
    packet.payload.withUnsafeBytes {
        messageIDText(sender: packet.senderID, timestamp: packet.timestamp, type: packet.type, payload: $0)
    }
}

/// `nil` when the body does not inflate.
public func messageIDText(_ view: FrameView) -> String? {
    view.withPayload {
        messageIDText(sender: view.senderID, timestamp: view.timestamp, type: view.type, payload: $0)
    }
}
