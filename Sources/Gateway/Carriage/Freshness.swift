import Basics

/// Age of a carried event by its `created_at`, which is outside input of any value.
public enum Freshness {
    /// |now − created_at| ≤ 900 s (chapter 06 §3.2, §3.4, §4.8).
    static func isFresh(_ createdAt: Int64, at wall: WallTime) -> Bool {
        age(createdAt, at: wall).magnitude <= GatewayLimits.eventSkew
    }

    /// Seconds since `createdAt`, negative for the future.
    static func age(_ createdAt: Int64, at wall: WallTime) -> Int64 { seconds(from: createdAt, to: wall.unixSeconds) }

    /// Saturated instead of trapping, whatever a stranger wrote into an event.
    public static func seconds(from start: Int64, to end: Int64) -> Int64 {
        let (span, overflow) = end.subtractingReportingOverflow(start)
        return overflow ? (start < 0 ? .max : .min) : span
    }
}
