import Basics
import Wire

/// Rotating peer IDs and recognition tags (chapter 01 §13). No client emits or consumes them; a node computes them only
/// when asked to.
public enum PeerIDRotation {
    public static let secondsPerEpoch: Int64 = 3_600
    public static let tagSize = 8
    /// Slots of a tag block.
    public static let slotCount = 8

    /// Hours since 1970 in UTC; 0 before it.
    public static func epoch(unixSeconds: Int64) -> UInt32 { UInt32(clamping: unixSeconds / secondsPerEpoch) }

    /// The epochs a receiver tests around `epoch`: three, two at 0.
    public static func candidates(around epoch: UInt32) -> [UInt32] {
        (epoch == 0 ? [] : [epoch - 1]) + [epoch] + (epoch == .max ? [] : [epoch + 1])
    }

    /// The secret a node's rotating IDs follow from.
    public static func rotationSecret(of key: NoiseStaticKey) -> SecretBytes {
        HKDFSHA256.derive(key.privateKey, info: Array("bitchat-peer-rotation-v1".utf8))
    }

    public static func peerID(secret: SecretBytes, epoch: UInt32) -> PeerID {
        var message = Array("bitchat-peer-id-v2".utf8)
        message.append(bigEndian: epoch)
        return PeerID(value: secret.withBytes { prefix(of: message, key: $0) })
    }

    /// The key two peers share for recognising each other; `nil` when the other key is refused.
    public static func recognitionKey(_ own: NoiseStaticKey, with other: NoisePublicKey) -> SecretBytes? {
        own.sharedSecret(with: other).map(recognitionKey)
    }

    static func recognitionKey(sharedSecret: SecretBytes) -> SecretBytes {
        HKDFSHA256.derive(sharedSecret, info: Array("bitchat-recognition-v1".utf8))
    }

    /// The 8-byte tag by which `recipient` recognises `sender` under its rotating ID.
    public static func tag(
        key: SecretBytes, epoch: UInt32, sender: NoisePublicKey, recipient: NoisePublicKey, senderID: PeerID
    ) -> [UInt8] {
        var message = [UInt8]()
        message.append(bigEndian: epoch)
        message += sender.bytes
        message += recipient.bytes
        message += senderID.bytes
        var tag = [UInt8]()
        tag.append(bigEndian: key.withBytes { prefix(of: message, key: $0) })
        return tag
    }

    /// Whether any slot of a received block holds the tag of one of the epochs around `epoch`. A block of another size
    /// than 64 bytes matches nothing. A match is a hint, never proof.
    public static func block(
        _ block: [UInt8], matches key: SecretBytes, around epoch: UInt32, sender: NoisePublicKey,
        recipient: NoisePublicKey, senderID: PeerID
    ) -> Bool {
        guard block.count == slotCount * tagSize else { return false }
        return candidates(around: epoch).contains { epoch in
            let tag = tag(key: key, epoch: epoch, sender: sender, recipient: recipient, senderID: senderID)
            return stride(from: 0, to: block.count, by: tagSize).contains { tag[...] == block[$0..<$0 + tagSize] }
        }
    }

    /// What a peer would sign to bind a rotating ID to its static key.
    public static func bindingMessage(epoch: UInt32, peerID: PeerID, noiseKey: NoisePublicKey) -> [UInt8] {
        var message = Array("bitchat-peerid-binding-v1".utf8)
        message.append(bigEndian: epoch)
        return message + peerID.bytes + noiseKey.bytes
    }

    private static func prefix(of message: [UInt8], key: UnsafeRawBufferPointer) -> UInt64 {
        HMACSHA256.secret(of: message, key: key).withBytes { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
    }
}
