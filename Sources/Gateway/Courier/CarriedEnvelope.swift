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

/// Names a letter: the first 16 bytes of the SHA-256 of its whole envelope with a budget of one, which couriers share
/// out. By less than all that is left, whoever saw a letter could make one that nobody can open, be it under another
/// tag, prekey or expiry, and have it taken for the genuine one, in its place or as delivered.
public struct MailID: Hashable, Sendable {
    public static let size = 16
    public let bytes: [UInt8]

    public init(_ envelope: CourierEnvelope) {
        bytes = MailID.hash(envelope.withCopies(1).encoded() ?? envelope.recipientTag + envelope.ciphertext)
    }

    /// `nil` unless it is 16 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == MailID.size else { return nil }
        self.bytes = bytes
    }

    /// The name by the ciphertext alone, under which earlier versions kept a letter.
    public static func byCiphertext(_ envelope: CourierEnvelope) -> [UInt8] { hash(envelope.ciphertext) }

    private static func hash(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(bytes).prefix(size)) }
}

/// One envelope in the box's care, with what must survive a restart (chapter 06 §6.2).
public struct CarriedEnvelope: Hashable, Sendable {
    public let id: MailID
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
