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
    /// Couriers an envelope can have been given to: a budget of 8 is halved three times.
    static let couriersEach = 8
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
