import Basics
import Crypto
import Nostr
import Wire

/// An envelope as relays keep it (chapter 06 §5.1).
extension Courier {
    /// Signed by a key of its own that nobody keeps.
    public static func drop(
        of envelope: CourierEnvelope, at wall: WallTime, using random: inout some RandomNumberGenerator
    ) -> VerifiedEvent? {
        guard let bytes = envelope.withCopies(1).encoded(), bytes.count <= CourierEnvelope.maximumDropSize else {
            return nil
        }
        return VerifiedEvent.signed(
            .courierDrop(
                envelope: bytes, recipientTag: envelope.recipientTag, expiresAt: envelope.expiry.unixSeconds),
            createdAt: wall.unixSeconds, key: .generate(using: &random), using: &random)
    }

    /// What is in a drop, checked in the order of chapter 06 §5.6 steps 1, 3 and 4.
    public static func envelope(
        in event: NostrEvent, at wall: WallTime
    ) throws(CourierOutcome) -> CourierEnvelope {
        guard event.kind == EventKind.courierDrop else { throw .dropWrongKind }
        // Three bytes make four characters.
        guard event.content.utf8.count <= (CourierEnvelope.maximumDropSize + 2) / 3 * 4 else { throw .dropOversized }
        guard let bytes = Base64.decode(event.content) else { throw .dropMalformed }
        guard bytes.count <= CourierEnvelope.maximumDropSize else { throw .dropOversized }
        guard let envelope = CourierEnvelope(payload: bytes) else { throw .dropMalformed }
        guard !envelope.isExpired(at: wall) else { throw .dropExpired }
        guard event.hasTag("x", Hex.encode(envelope.recipientTag)) else { throw .dropMislabelled }
        return envelope
    }

    /// What asks relays for the drops of a day under these tags, in hexadecimal (chapter 06 §5.5).
    /// - Parameter until: Unix seconds; nil for now.
    public static func filter(_ tags: [String], at wall: WallTime, until: Int64? = nil) -> NostrFilter {
        NostrFilter(
            kinds: [EventKind.courierDrop], tags: ["x": tags], since: firstSecond(at: wall), until: until,
            limit: CourierLimits.dropLimit)
    }

    /// How far back drops are read, in Unix seconds.
    public static func firstSecond(at wall: WallTime) -> Int64 { wall.unixSeconds - CourierLimits.dropLookBack }
}
