import Basics
import Wire

/// Private messages sealed for somebody who is away (chapter 02 §7).
public enum SealedMail {
    /// Milliseconds a sealed message waits for its addressee: 24 hours (§7.4).
    public static let lifetime: UInt64 = 86_400_000
    /// Spray budget of what is handed to couriers (§7.4).
    public static let courierCopies: UInt8 = 4

    private static let identityPrologue = Array("bitchat-courier-v1".utf8)
    private static let prekeyPrologue = Array("bitchat-prekey-v1".utf8)

    /// An envelope for today; `nil` when a key is refused or the payload does not fit.
    ///
    /// - Parameters:
    ///   - payload: a typed payload; only private messages are ever sealed.
    ///   - prekey: the one-time prekey it is sealed to, else the static key. The tag names the static key either way.
    public static func seal(
        _ payload: [UInt8], to recipient: NoisePublicKey, prekey: PrekeyBundle.Prekey? = nil,
        from sender: NoiseStaticKey, copies: UInt8 = courierCopies, at now: WallTime,
        using random: inout some RandomNumberGenerator
    ) -> CourierEnvelope? {
        seal(
            payload, to: recipient, prekey: prekey, from: sender, copies: copies, at: now,
            ephemeral: .generate(using: &random))
    }

    static func seal(
        _ payload: [UInt8], to recipient: NoisePublicKey, prekey: PrekeyBundle.Prekey?, from sender: NoiseStaticKey,
        copies: UInt8, at now: WallTime, ephemeral: NoiseStaticKey
    ) -> CourierEnvelope? {
        let key = prekey.map { NoisePublicKey($0.publicKey) } ?? recipient
        guard let key, payload.count <= CourierEnvelope.ciphertextSizes.upperBound - NoiseSeal.overhead,
            let ciphertext = NoiseSeal.seal(
                payload, to: key, from: sender, ephemeral: ephemeral, prologue: prologue(prekeyID: prekey?.id))
        else { return nil }
        let expiry = now.milliseconds.addingReportingOverflow(lifetime)
        return CourierEnvelope(
            recipientTag: CourierTag.tag(for: recipient, day: CourierEnvelope.day(at: now)),
            expiry: WallTime(milliseconds: expiry.overflow ? .max : expiry.partialValue), ciphertext: ciphertext,
            copies: copies, prekeyID: prekey?.id)
    }

    /// Payload and proven sender; `nil` for whatever was not sealed to this key.
    ///
    /// - Parameter key: the one-time prekey the envelope names, else the static key.
    public static func open(
        _ envelope: CourierEnvelope, with key: NoiseStaticKey
    ) -> (sender: NoisePublicKey, payload: [UInt8])? {
        NoiseSeal.open(envelope.ciphertext, with: key, prologue: prologue(prekeyID: envelope.prekeyID))
    }

    /// What binds a seal to its purpose and to one prekey (§3.1).
    private static func prologue(prekeyID: UInt32?) -> [UInt8] {
        guard let prekeyID else { return identityPrologue }
        var prologue = prekeyPrologue
        prologue.append(bigEndian: prekeyID)
        return prologue
    }
}
