/// One message of the one-way X pattern: sealed to a key, its sender authenticated, no reply needed (chapter 02 §7.1).
/// Neither fresh nor unique by itself: whoever opens one must recognise what it has opened before.
public enum NoiseSeal {
    /// Bytes a seal adds: ephemeral key, the sender's static key with its tag, the payload's tag.
    public static let overhead = 96

    /// The sealed message; nil when the recipient's key is refused, or the payload is too long for a message.
    /// - Parameter ephemeral: fresh, never used before.
    public static func seal(
        _ payload: [UInt8], to recipient: NoisePublicKey, from sender: NoiseStaticKey, ephemeral: NoiseStaticKey,
        prologue: [UInt8]
    ) -> [UInt8]? {
        var handshake = NoiseHandshake(
            sealingTo: recipient, staticKey: sender, ephemeral: ephemeral, prologue: prologue)
        return try? handshake?.write(payload)
    }

    /// Payload and proven sender; nil for whatever was not sealed to this key under this prologue.
    public static func open(
        _ message: [UInt8], with key: NoiseStaticKey, prologue: [UInt8]
    ) -> (sender: NoisePublicKey, payload: [UInt8])? {
        var handshake = NoiseHandshake(openingWith: key, prologue: prologue)
        guard let payload = try? handshake.read(message), let sender = handshake.remoteStatic else { return nil }
        return (sender, payload)
    }
}
