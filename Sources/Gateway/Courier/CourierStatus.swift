import Basics

/// Counts of mail by outcome. They identify no sender or recipient.
public enum CourierOutcome: String, CaseIterable, Error, Sendable {
    // Deposits
    case deposited
    /// Carried already.
    case depositKnown = "deposit-known"
    /// Handed to whom it is for before.
    case depositDelivered = "deposit-delivered"
    /// Not handed over by the neighbour who signed it.
    case depositUnproven = "deposit-unproven"
    case depositMalformed = "deposit-malformed"
    case depositExpired = "deposit-expired"
    case depositExpiryTooFar = "deposit-expiry-too-far"
    case depositorQuota = "depositor-quota"
    case verifiedFull = "verified-full"
    case storeFull = "store-full"
    case switchedOff = "switched-off"
    /// Expired in our care, or made room.
    case lapsed
    case evicted
    // Encounters
    case handedOver = "handed-over"
    case handoverRefused = "handover-refused"
    case shared
    case shareRefused = "share-refused"
    /// Not yet: its addressee was given enough of them lately.
    case dropThrottled = "drop-throttled"
    case speculative
    case speculativeThrottled = "speculative-throttled"
    /// For this box itself.
    case own
    case ownUnopened = "own-unopened"
    // Drops going out
    case dropConfirmed = "drop-confirmed"
    case dropFailed = "drop-failed"
    // Drops coming in
    case dropDelivered = "drop-delivered"
    case dropUndelivered = "drop-undelivered"
    case dropRepeated = "drop-repeated"
    case dropWrongKind = "drop-wrong-kind"
    case dropMalformed = "drop-malformed"
    case dropOversized = "drop-oversized"
    case dropExpired = "drop-expired"
    case dropMislabelled = "drop-mislabelled"
    case dropForNobody = "drop-for-nobody"
    /// Relays had more than was asked for.
    case dropsUnread = "drops-unread"

    init(_ refusal: CourierRefusal) {
        switch refusal {
        case .malformed: self = .depositMalformed
        case .expired: self = .depositExpired
        case .expiryTooFar: self = .depositExpiryTooFar
        case .depositorQuota: self = .depositorQuota
        case .verifiedFull: self = .verifiedFull
        case .full: self = .storeFull
        }
    }
}

/// The mail in care as the operator sees it: counts and ages, never who (chapter 06 §13).
public struct CourierStatus: Sendable {
    public struct Tier: Sendable {
        public let carried: Int
        public let limit: Int
        /// Whole hours since the oldest was taken in: the moment would tell who stood near the box then.
        public let oldestHours: Int?
    }

    public let favorite: Tier
    public let verified: Tier
    /// Nothing more is taken of depositors who are only verified: the room is taken, and no relay has a copy of any of
    /// it that could make room.
    public let isVerifiedFull: Bool
    /// Of all carried, those a relay has a copy of.
    public let published: Int
    public let publishing: Int
    public let watchedPeers: Int
    public let undelivered: Int
    public let subscriptions: Int
    /// Carries, and asks relays.
    public let isOn: Bool
    public let isUsingRelays: Bool
}
