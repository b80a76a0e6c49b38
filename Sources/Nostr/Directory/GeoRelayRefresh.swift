import Basics

/// Decides when the directory is fetched anew (chapter 05 §14.3). The fetch itself, over a route the network gate has
/// admitted at that moment, is the caller's.
public struct GeoRelayRefresh: Sendable {
    /// Between looks whether a fetch is due.
    public static let checkInterval = Interval.hours(1)
    /// Age of the last success that makes a fetch due.
    public static let maximumAge = Interval.hours(24)
    /// A forced fetch this soon after a success is skipped.
    public static let forcedInterval = Interval.seconds(60)
    public static let firstRetry = Interval.seconds(60)
    /// Failures counted for the retry delay.
    public static let countedFailures = 10
    /// Time a fetch may take.
    public static let timeout = Interval.seconds(15)

    /// Wall-clock time of the last success; the owner persists it.
    public private(set) var lastSuccess: WallTime?
    public private(set) var isFetching = false
    private var failures = 0
    private var nextAttempt: Instant

    public init(lastSuccess: WallTime?, at now: Now) {
        self.lastSuccess = lastSuccess
        nextAttempt = now.monotonic
    }

    /// When `begin` is worth calling again; nil while a fetch runs.
    public var nextDeadline: Instant? { isFetching ? nil : nextAttempt }

    /// Whether to fetch now; if so, one of `succeeded` and `failed` must follow.
    ///
    /// - Parameter forced: the route has just become usable, or somebody waits for a directory.
    public mutating func begin(forced: Bool = false, at now: Now) -> Bool {
        guard !isFetching else { return false }
        if !forced {
            guard now.monotonic >= nextAttempt else { return false }
            nextAttempt = now.monotonic + GeoRelayRefresh.checkInterval
        }
        // Trying again what failed is as good as forced: it may have been.
        let youngest = forced || failures > 0 ? GeoRelayRefresh.forcedInterval : GeoRelayRefresh.maximumAge
        guard age(at: now).map({ $0 >= youngest }) ?? true else { return false }
        isFetching = true
        return true
    }

    public mutating func succeeded(at now: Now) {
        isFetching = false
        failures = 0
        lastSuccess = now.wall
        nextAttempt = now.monotonic + GeoRelayRefresh.checkInterval
    }

    /// The fetch failed or was not admitted, or the file was refused.
    public mutating func failed(at now: Now) {
        isFetching = false
        failures = min(failures + 1, GeoRelayRefresh.countedFailures)
        let delay = GeoRelayRefresh.firstRetry * (1 << Int64(failures - 1))
        nextAttempt = now.monotonic + min(delay, GeoRelayRefresh.checkInterval)
    }

    /// nil without a success; a success in the future counts as none, since the clock was wrong then.
    private func age(at now: Now) -> Interval? {
        guard let lastSuccess, lastSuccess <= now.wall else { return nil }
        return .milliseconds(clamping: now.wall.distance(to: lastSuccess))
    }
}
