import Basics

/// What a durable publication is about, whichever event carries it: a message, an envelope, a note. Two attempts to
/// bring the same thing across have the same key although their events differ.
public struct PublicationKey: Hashable, Sendable {
    public static let size = SHA256.digestSize

    /// 32 bytes.
    public let bytes: [UInt8]

    public init(hashing content: [UInt8]) { bytes = SHA256.hash(content) }

    /// `nil` unless there are exactly 32 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == PublicationKey.size else { return nil }
        self.bytes = bytes
    }
}

/// What is published.
public enum DurableContent: Hashable, Sendable {
    /// The same event each time, so that a relay that has it says so.
    /// - place: the geohash whose relays are meant; nil for the default relays.
    case event(VerifiedEvent, place: String?)
    /// Signed by a key made for each attempt and over connections that carry nothing else: for what must not be linked
    /// to this box. Goes to the default relays.
    case unlinkable(EventTemplate)
}

/// What must outlive the process of one durable publication.
public struct PublicationRecord: Hashable, Sendable {
    public enum State: Hashable, Sendable {
        /// Still to be published, until `expiresAt`; tried so often, last at that time.
        case waiting(DurableContent, expiresAt: WallTime, attempts: Int, lastAttempt: WallTime)
        /// A relay has it. Only its OK makes this: a write is no success, and a key kept for what was never sent would
        /// silence it for a day.
        case published(at: WallTime)
    }

    public let key: PublicationKey
    public let state: State

    public init(key: PublicationKey, state: State) {
        self.key = key
        self.state = state
    }
}
