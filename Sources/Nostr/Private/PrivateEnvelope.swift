import Basics
import Crypto
import Wire

/// Why an event is not taken as a private message, in the order of the checks (chapter 05 §12.4).
public enum PrivateEnvelopeRejection: String, CaseIterable, Error, Sendable {
    case notAnEnvelope = "not-an-envelope"
    case notForUs = "not-for-us"
    case undecryptable
    case malformedSeal = "malformed-seal"
    case badSealSignature = "bad-seal-signature"
    case malformedMessage = "malformed-message"
    case otherAuthor = "other-author"
}

/// Private messages over relays, kinds 1059, 13 and 14 (chapter 05 §12). The apps' own scheme: it borrows the numbers
/// of NIP-17 and NIP-59 and is compatible with neither.
///
/// A signed seal inside a wrap by a key made for it alone: relays see the recipient and nothing of the sender.
public enum PrivateEnvelope {
    /// Seal and wrap are dated up to so many seconds back, each by chance. Never ahead: relays refuse the future
    /// (chapter 05 §12.1).
    public static let longestBackdating: Int64 = 900

    /// An envelope to publish; `nil` when the text is too long or the recipient's key is no point.
    public static func wrap(
        _ content: String, from sender: NostrSecretKey, to recipient: NostrPublicKey, at now: WallTime,
        using random: inout some RandomNumberGenerator
    ) -> VerifiedEvent? {
        // As iOS has it: neither id nor tags.
        let message = NostrEvent(
            id: "", pubkey: sender.publicKey.hex, createdAt: now.unixSeconds, kind: EventKind.privateMessage, tags: [],
            content: content, sig: nil)
        guard
            let seal = layer(
                EventKind.seal, around: message.json(), tags: [], from: sender, to: recipient, at: now, using: &random)
        else { return nil }
        return layer(
            EventKind.privateEnvelope, around: seal.json(), tags: [["p", recipient.hex]],
            from: .generate(using: &random), to: recipient, at: now, using: &random)
    }

    private static func layer(
        _ kind: Int, around plaintext: [UInt8], tags: [[String]], from sender: NostrSecretKey,
        to recipient: NostrPublicKey, at now: WallTime, using random: inout some RandomNumberGenerator
    ) -> VerifiedEvent? {
        guard
            let content = EnvelopeLayer.seal(
                plaintext, from: sender, to: recipient, nonce: random.bytes(XChaChaPoly.nonceSize))
        else { return nil }
        let createdAt = now.unixSeconds - Int64.random(in: 0...longestBackdating, using: &random)
        return .signed(kind: kind, tags: tags, content: content, createdAt: createdAt, key: sender, using: &random)
    }

    /// What the envelope holds, proven to be from its sender; refused by the first failing check. Whether its time is
    /// acceptable is `PrivateLetter.isCurrent`.
    public static func open(
        _ envelope: VerifiedEvent, with key: NostrSecretKey
    ) throws(PrivateEnvelopeRejection) -> PrivateLetter {
        let wrap = envelope.event
        let addressed = [["p", key.publicKey.hex]]
        guard wrap.kind == EventKind.privateEnvelope, wrap.content.utf8.count <= EnvelopeLayer.maximumSize else {
            throw .notAnEnvelope
        }
        guard hasSameBytes(wrap.tags, addressed) else { throw .notForUs }
        let sealed = try event(wrap, from: envelope.author, by: key, else: .malformedSeal)
        guard sealed.kind == EventKind.seal, sealed.tags.isEmpty else { throw .malformedSeal }
        guard let seal = VerifiedEvent(verifying: sealed) else { throw .badSealSignature }
        let message = try event(sealed, from: seal.author, by: key, else: .malformedMessage)
        guard message.kind == EventKind.privateMessage, message.sig == nil,
            message.tags.isEmpty || hasSameBytes(message.tags, addressed)
        else { throw .malformedMessage }
        guard message.pubkey.hasSameBytes(as: sealed.pubkey) else { throw .otherAuthor }
        return PrivateLetter(sender: seal.author, content: message.content, sentAt: message.createdAt)
    }

    private static func event(
        _ outer: NostrEvent, from sender: NostrPublicKey, by key: NostrSecretKey,
        else rejection: PrivateEnvelopeRejection
    ) throws(PrivateEnvelopeRejection) -> NostrEvent {
        guard let json = EnvelopeLayer.open(outer.content, by: key, from: sender) else { throw .undecryptable }
        guard let event = try? NostrEvent(json: json, limit: EnvelopeLayer.maximumSize) else { throw rejection }
        return event
    }

    /// Tags as spelled: `==` would call differently spelled text the same.
    private static func hasSameBytes(_ tags: [[String]], _ other: [[String]]) -> Bool {
        tags.elementsEqual(other) { $0.elementsEqual($1) { $0.hasSameBytes(as: $1) } }
    }
}

/// The content of a private envelope.
public struct PrivateLetter: Hashable, Sendable {
    /// Proven by the seal's signature.
    public let sender: NostrPublicKey
    public let content: String
    /// The sender's clock, in Unix seconds.
    public let sentAt: Int64

    /// Seconds it may lie in the future: 15 minutes (chapter 05 §12.4 rule 4).
    private static let maximumLead: Int64 = 900
    /// Seconds it may be old: a day and 15 minutes.
    private static let maximumAge: Int64 = 87_300

    public init(sender: NostrPublicKey, content: String, sentAt: Int64) {
        self.sender = sender
        self.content = content
        self.sentAt = sentAt
    }

    public func isCurrent(at now: WallTime) -> Bool {
        let (age, isOverflown) = now.unixSeconds.subtractingReportingOverflow(sentAt)
        return !isOverflown && -Self.maximumLead <= age && age <= Self.maximumAge
    }

    /// The mesh packet the letter exists for; `nil` for other content, which is ignored (chapter 05 §12.4 rule 5). Its
    /// sender ID is a claim: who wrote is `sender`.
    public var packet: EmbeddedPacket? { EmbeddedPacket(text: content) }
}
