import Basics

/// Age of a carried event by its `created_at`, which is outside input of any value.
enum Freshness {
    /// |now − created_at| ≤ 900 s (chapter 06 §3.2, §3.4, §4.8).
    static func isFresh(_ createdAt: Int64, at wall: WallTime) -> Bool {
        age(createdAt, at: wall).magnitude <= GatewayLimits.eventSkew
    }

    /// Seconds since `createdAt`, negative for the future, saturated instead of trapping.
    static func age(_ createdAt: Int64, at wall: WallTime) -> Int64 {
        let (age, overflow) = wall.unixSeconds.subtractingReportingOverflow(createdAt)
        return overflow ? (createdAt < 0 ? .max : .min) : age
    }
}
