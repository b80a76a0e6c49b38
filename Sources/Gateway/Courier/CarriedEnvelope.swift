import Basics
import Crypto
import Wire

/// How far a depositor is trusted with the box's room (chapter 06 §6.1).
public enum CourierTier: UInt8, Comparable, Sendable {
    /// Its announce verified; anybody can have that.
    case verified = 0
    /// Listed by the operator, or a mutual favourite.
    case favorite = 1

    public static func < (a: CourierTier, b: CourierTier) -> Bool { a.rawValue < b.rawValue }
}

/// Names an envelope by its ciphertext, which no budget changes: the first 16 bytes of its SHA-256.
public struct MailID: Hashable, Sendable {
    public static let size = 16
    public let bytes: [UInt8]

    public init(_ envelope: CourierEnvelope) { bytes = Array(SHA256.hash(envelope.ciphertext).prefix(MailID.size)) }

    /// `nil` unless it is 16 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == MailID.size else { return nil }
        self.bytes = bytes
    }
}

/// Names an envelope with whom it is for: the first 16 bytes of the SHA-256 of tag and ciphertext. What was delivered
/// is remembered by it. By the ciphertext alone whoever saw it could put another tag on it, be handed it, and have the
/// genuine one taken for delivered.
public struct LetterID: Hashable, Sendable {
    public static let size = 16
    public let bytes: [UInt8]

    public init(_ envelope: CourierEnvelope) {
        bytes = Array(SHA256.hash(envelope.recipientTag + envelope.ciphertext).prefix(LetterID.size))
    }
}

/// One envelope in the box's care, with what must survive a restart (chapter 06 §6.2).
public struct CarriedEnvelope: Hashable, Sendable {
    public let id: MailID
    let letter: LetterID
    /// `copies` is what is left of the spray budget.
    public internal(set) var envelope: CourierEnvelope
    public let depositor: NoisePublicKey
    public let storedAt: WallTime
    public let tier: CourierTier
    /// Who got a share of the budget.
    public internal(set) var couriers: Set<NoisePublicKey>
    public internal(set) var lastRemoteHandover: WallTime?
    /// When a relay last confirmed a copy, and how many times one did.
    public internal(set) var lastPublished: WallTime?
    public internal(set) var publications: UInt8

    public init(
        _ envelope: CourierEnvelope, depositor: NoisePublicKey, storedAt: WallTime, tier: CourierTier,
        couriers: Set<NoisePublicKey> = [], lastRemoteHandover: WallTime? = nil, lastPublished: WallTime? = nil,
        publications: UInt8 = 0
    ) {
        id = MailID(envelope)
        letter = LetterID(envelope)
        self.envelope = envelope
        self.depositor = depositor
        self.storedAt = storedAt
        self.tier = tier
        self.couriers = couriers
        self.lastRemoteHandover = lastRemoteHandover
        self.lastPublished = lastPublished
        self.publications = publications
    }

    /// What is left of the budget once a courier has taken its half; a share of nothing is no share.
    var share: UInt8 { envelope.copies / 2 }
    var wasSprayed: Bool { !couriers.isEmpty }

    /// Joins what is known of the same envelope from two sources, neither of which may bring budget back (chapter 06
    /// §6.6).
    func merged(with other: CarriedEnvelope) -> CarriedEnvelope {
        var merged = storedAt <= other.storedAt ? self : other
        merged.couriers = couriers.union(other.couriers)
        let budgets = [envelope.copies, other.envelope.copies]
        let copies = merged.wasSprayed ? budgets.min() : budgets.max()
        merged.envelope = envelope.withCopies(copies ?? 1)
        merged.lastRemoteHandover = [lastRemoteHandover, other.lastRemoteHandover].compactMap { $0 }.max()
        merged.lastPublished = [lastPublished, other.lastPublished].compactMap { $0 }.max()
        merged.publications = max(publications, other.publications)
        return merged
    }
}
