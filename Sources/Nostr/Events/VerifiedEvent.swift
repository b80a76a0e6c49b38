import Basics
import Crypto

/// An event whose id and BIP-340 signature have been checked. Making one is the only way to get at anything downstream,
/// so an unverified event has no effect by construction (chapter 05 §1.3).
public struct VerifiedEvent: Hashable, Sendable {
    public let event: NostrEvent
    public let id: EventID
    public let author: NostrPublicKey

    /// `nil` unless the id is the one of the other fields, spelled in lower case, and the signature is the author's.
    public init?(verifying event: NostrEvent) {
        let digest = SHA256.hash(event.canonicalBytes)
        let id = EventID(digest: digest)
        guard EventID(hex: event.id) == id, let author = NostrPublicKey(canonicalHex: event.pubkey),
            let signature = event.sig.flatMap({ Hex.decode($0) }), author.verify(signature, digest: digest)
        else { return nil }
        self.event = event
        self.id = id
        self.author = author
    }

    private init(_ event: NostrEvent, id: EventID, author: NostrPublicKey) {
        self.event = event
        self.id = id
        self.author = author
    }

    /// Signs a new event with fresh auxiliary randomness; `nil` when it would break the limits every receiver applies.
    public static func signed(
        kind: Int, tags: [[String]], content: String, createdAt: Int64, key: NostrSecretKey,
        using random: inout some RandomNumberGenerator
    ) -> VerifiedEvent? {
        signed(
            EventTemplate(kind: kind, tags: tags, content: content), createdAt: createdAt, key: key, using: &random)
    }

    public static func signed(
        _ template: EventTemplate, createdAt: Int64, key: NostrSecretKey, using random: inout some RandomNumberGenerator
    ) -> VerifiedEvent? {
        // Without an id, which signing computes.
        let event = NostrEvent(
            id: "", pubkey: key.publicKey.hex, createdAt: createdAt, kind: template.kind, tags: template.tags,
            content: template.content, sig: nil)
        return signed(event, key: key, using: &random)
    }

    /// Signs an event built before, such as a mined one; `nil` also when it is another author's.
    public static func signed(
        _ event: NostrEvent, key: NostrSecretKey, using random: inout some RandomNumberGenerator
    ) -> VerifiedEvent? {
        guard event.isWithinLimits, event.pubkey == key.publicKey.hex else { return nil }
        let id = event.computedID
        guard let signature = key.sign(id.bytes, using: &random) else { return nil }
        var event = event
        event.id = id.hex
        event.sig = Hex.encode(signature)
        return VerifiedEvent(event, id: id, author: key.publicKey)
    }

    /// The event's JSON, made from the parsed fields: unknown members of the original are gone.
    public func json() -> [UInt8] { event.json() }
}

extension NostrPublicKey {
    /// Exactly 64 lower-case hex digits, as an event must spell its author.
    public init?(canonicalHex text: String) {
        guard text.utf8.allSatisfy({ $0 < UInt8(ascii: "A") || $0 > UInt8(ascii: "F") }) else { return nil }
        self.init(hex: text)
    }
}
