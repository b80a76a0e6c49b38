/// "N per window" as a list of timestamps: entries strictly older than the window are removed at each use, and the
/// action is refused when N remain (chapter 06 §0). Holds at most N timestamps.
public struct SlidingWindow: Sendable {
    public let limit: Int
    public let window: Interval
    private var times: [Instant] = []

    public init(limit: Int, window: Interval) {
        precondition(limit > 0, "a window admits at least one use")
        self.limit = limit
        self.window = window
    }

    /// Uses inside the window that ends at `now`.
    public mutating func count(at now: Instant) -> Int {
        times.removeAll { now - $0 > window }
        return times.count
    }

    /// Records one use, or refuses it.
    public mutating func take(at now: Instant) -> Bool {
        guard count(at: now) < limit else { return false }
        times.append(now)
        return true
    }

    /// When the oldest recorded use was, for arming a timer.
    public var oldest: Instant? { times.first }

    public mutating func removeAll() { times.removeAll() }
}

/// A token bucket: `capacity` tokens, refilled continuously at `perSecond`.
public struct TokenBucket: Sendable {
    public let capacity: Double
    public let perSecond: Double
    private var tokens: Double
    private var refilled: Instant?

    public init(capacity: Double, perSecond: Double) {
        self.capacity = capacity
        self.perSecond = perSecond
        tokens = capacity
    }

    /// When `cost` tokens will be there if nobody takes any before; for arming a timer.
    public func available(_ cost: Double = 1, at now: Instant) -> Instant {
        let missing = cost - tokens
        guard missing > 0, let refilled else { return now }
        // A microsecond more than computed, so that rounding does not make the timer early and fire again.
        return max(now, refilled + .seconds(missing / perSecond) + .microseconds(1))
    }

    /// Takes `cost` tokens, or none and refuses.
    /// - Parameter reserve: tokens that must be left for others.
    public mutating func take(_ cost: Double = 1, leaving reserve: Double = 0, at now: Instant) -> Bool {
        refill(at: now)
        guard tokens >= cost + reserve else { return false }
        tokens -= cost
        return true
    }

    /// Takes `cost` tokens, or all there are.
    public mutating func spend(_ cost: Double = 1, at now: Instant) {
        refill(at: now)
        tokens = max(0, tokens - cost)
    }

    private mutating func refill(at now: Instant) {
        if let last = refilled, now > last {
            tokens = min(capacity, tokens + (now - last).seconds * perSecond)
        }
        refilled = now
    }
}
