import Basics

/// Every bound of carrying mail for others (chapter 06 §5, §6, §18).
public enum CourierLimits {
    /// Envelopes carried, in total and of depositors that are only verified; what one depositor may leave. The box's
    /// own numbers, since it serves a crowd and stays powered (chapter 06 §6.7).
    public static let gateway = CourierQuota(total: 200, verified: 160, perFavorite: 20, perVerified: 8)
    /// What a phone carries (chapter 06 §6.2).
    public static let phone = CourierQuota(total: 40, verified: 20, perFavorite: 5, perVerified: 2)
    /// How far beyond a day's life an expiry may lie, in milliseconds: 24 h and 1 h of skew (chapter 06 §6.2).
    static let longestLife: UInt64 = 25 * 3_600_000
    /// Least time between two speculative copies of an envelope, in milliseconds: 10 min (chapter 06 §6.4).
    public static let remoteHandoverPause: UInt64 = 600_000
    /// Couriers remembered of an envelope: ours. A budget of 8 is spent on three.
    public static let couriersEach = 8

    /// Between two looks for what has expired: ours.
    static let cleaningInterval = Interval.minutes(10)

    // MARK: Encounters

    /// Peers being given mail at a time, and bytes of envelopes given to one before the others get their turn: ours. A
    /// full batch takes about as long on the air as the pause; a single envelope always fits.
    static let visits = 64
    static let visitBytes = 24_576
    static let visitPause = Interval.seconds(2)
    /// Bytes of speculative copies, in a burst and a second, whatever number of peers ask for them by announcing: ours,
    /// two thirds of what the two downlinks may take together.
    public static let speculativeBurst = 65_536.0
    public static let speculativePerSecond = 700.0

    /// Peers whose tags are kept; as many as the registry of the mesh holds.
    static let rememberedTags = 1_024

    // MARK: Drops

    /// Peers whose mail relays are asked for, and how long one stays in the set after it was last heard (chapter 06
    /// §5.5).
    public static let watchedPeers = 64
    static let watchAge = Interval.minutes(5)
    /// How much later relays are told of it, unless they are asked anew for another reason: ours. Phones in the
    /// background announce every five minutes, and must not come and go each time.
    static let watchGrace = Interval.minutes(1)
    /// A newcomer displaces nobody who was heard within this time.
    static let watchReach = Interval.seconds(60)
    /// Tag values in one filter: 3 of each of 20 keys (chapter 06 §5.5).
    static let tagsPerFilter = 60
    static let keysPerFilter = tagsPerFilter / 3
    /// Look-back in seconds, and size, of a subscription (chapter 06 §5.5).
    static let dropLookBack: Int64 = 86_400
    static let dropLimit = 100
    /// Further answers asked for where relays had more than one answer holds, in a burst and a second: ours.
    static let dropPages = 16.0
    static let dropPagesPerSecond = 1.0 / 60
    /// Regular refresh, and least time between two that announces cause (chapter 06 §5.5).
    static let refreshInterval = Interval.minutes(30)
    static let refreshSpacing = Interval.seconds(60)
    /// Drops dealt with that are remembered: events, as many envelopes, and age in milliseconds. The age is that of
    /// chapter 06 §5.8. The number is ours: relays would tell a flood of more than its 512 again at every request.
    public static let rememberedDrops = 4_096
    static let rememberedFor: UInt64 = 86_400_000
    /// Bytes of drops for one neighbour, in a burst and a second, and neighbours counted apart: ours, a letter of any
    /// size every half minute.
    static let dropBurst = 65_536.0
    static let dropBytesPerSecond = 700.0
    static let dropBuckets = 128
    /// Fetched drops whose addressee has no proven link yet (chapter 06 §5.6).
    public static let undelivered = 64
    /// Drops being published at a time: each takes a circuit and a connection of its own to as many as four relays.
    public static let publicationsAtOnce = 2
    /// Pause after the first, second and every further confirmed copy, in milliseconds (chapter 06 §5.4).
    static let publicationPauses: [UInt64] = [1_800_000, 7_200_000, 21_600_000]
    /// Pause after a publication nobody confirmed: doubles from the first to the last.
    static let retryPause = Interval.minutes(1)
    static let longestRetryPause = Interval.minutes(30)
}

/// How much mail is taken, and of whom.
public struct CourierQuota: Hashable, Sendable {
    public let total: Int
    /// Of depositors who are only verified.
    public let verified: Int
    /// Of one depositor, whatever tier its envelopes were taken under.
    public let perFavorite: Int
    public let perVerified: Int

    public init(total: Int, verified: Int, perFavorite: Int, perVerified: Int) {
        self.total = total
        self.verified = verified
        self.perFavorite = perFavorite
        self.perVerified = perVerified
    }

    func each(_ tier: CourierTier) -> Int { tier == .favorite ? perFavorite : perVerified }
}
