/// A span of time in nanoseconds.
///
/// Own type instead of `Swift.Duration`: engines compare and add spans on every packet, and 64-bit arithmetic is
/// several times cheaper there than 128-bit attoseconds. Range ±292 years.
public struct Interval: Comparable, Hashable, Sendable {
    public let nanoseconds: Int64

    @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    public static let zero = Interval(nanoseconds: 0)
    @inlinable public static func microseconds(_ n: Int) -> Interval { Interval(nanoseconds: Int64(n) * 1_000) }
    @inlinable public static func milliseconds(_ n: Int) -> Interval { Interval(nanoseconds: Int64(n) * 1_000_000) }
    /// At most a century: for spans between outside times, of any size.
    @inlinable public static func milliseconds(clamping n: UInt64) -> Interval {
        .milliseconds(Int(min(n, 3_155_760_000_000)))
    }
    @inlinable public static func seconds(_ n: Int) -> Interval { Interval(nanoseconds: Int64(n) * 1_000_000_000) }
    @inlinable public static func seconds(_ n: Double) -> Interval { Interval(nanoseconds: Int64(n * 1e9)) }
    @inlinable public static func minutes(_ n: Int) -> Interval { .seconds(n * 60) }
    @inlinable public static func hours(_ n: Int) -> Interval { .seconds(n * 3_600) }

    /// Whole milliseconds, truncated toward zero.
    @inlinable public var milliseconds: Int64 { nanoseconds / 1_000_000 }
    @inlinable public var seconds: Double { Double(nanoseconds) / 1e9 }

    @inlinable public static func < (a: Interval, b: Interval) -> Bool { a.nanoseconds < b.nanoseconds }
    @inlinable public static func + (a: Interval, b: Interval) -> Interval {
        Interval(nanoseconds: a.nanoseconds + b.nanoseconds)
    }
    @inlinable public static func - (a: Interval, b: Interval) -> Interval {
        Interval(nanoseconds: a.nanoseconds - b.nanoseconds)
    }
    @inlinable public static func * (a: Interval, n: Int64) -> Interval { Interval(nanoseconds: a.nanoseconds * n) }
}

/// A reading of the monotonic clock. Windows and timers use nothing else, so that a clock step disturbs none of them.
public struct Instant: Comparable, Hashable, Sendable {
    /// Nanoseconds since an arbitrary origin that is fixed for the life of the process.
    public let nanoseconds: Int64

    @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    public static let zero = Instant(nanoseconds: 0)
    public static let distantFuture = Instant(nanoseconds: .max)

    @inlinable public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }
    @inlinable public static func + (a: Instant, b: Interval) -> Instant {
        Instant(nanoseconds: a.nanoseconds + b.nanoseconds)
    }
    @inlinable public static func - (a: Instant, b: Interval) -> Instant {
        Instant(nanoseconds: a.nanoseconds - b.nanoseconds)
    }
    @inlinable public static func - (a: Instant, b: Instant) -> Interval {
        Interval(nanoseconds: a.nanoseconds - b.nanoseconds)
    }
}

/// Wall-clock time as the wire carries it: milliseconds since 1970-01-01T00:00:00Z, truncated (chapter 01 §1).
public struct WallTime: Comparable, Hashable, Sendable {
    public let milliseconds: UInt64

    @inlinable public init(milliseconds: UInt64) { self.milliseconds = milliseconds }

    /// Whole seconds since the epoch, truncated: the unit of Nostr's `created_at`.
    @inlinable public var unixSeconds: Int64 { Int64(milliseconds / 1_000) }

    @inlinable public static func < (a: WallTime, b: WallTime) -> Bool { a.milliseconds < b.milliseconds }

    /// |self − other| in milliseconds; never overflows.
    @inlinable public func distance(to other: WallTime) -> UInt64 {
        milliseconds > other.milliseconds ? milliseconds - other.milliseconds : other.milliseconds - milliseconds
    }
}

/// The pair of clock readings every engine call receives; engines read no clock themselves.
public struct Now: Hashable, Sendable {
    public var monotonic: Instant
    public var wall: WallTime

    @inlinable public init(monotonic: Instant, wall: WallTime) {
        self.monotonic = monotonic
        self.wall = wall
    }

    /// Both clocks moved forward by `span`, as virtual time does it.
    @inlinable public func advanced(by span: Interval) -> Now {
        Now(
            monotonic: monotonic + span,
            wall: WallTime(milliseconds: UInt64(max(0, Int64(wall.milliseconds) + span.milliseconds))))
    }
}
