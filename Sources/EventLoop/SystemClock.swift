import Basics
import Glibc

/// The machine's clocks, read directly: nothing caches a reading.
public enum SystemClock {
    /// CLOCK_MONOTONIC: never stepped, stands still while the machine is suspended.
    public static var monotonic: Instant {
        let time = read(CLOCK_MONOTONIC)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// CLOCK_REALTIME, truncated to milliseconds. A clock set before 1970 reads as zero.
    public static var wall: WallTime {
        let time = read(CLOCK_REALTIME)
        return WallTime(milliseconds: UInt64(max(0, Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)))
    }

    /// CLOCK_BOOTTIME: as the monotonic clock, and counts the time the machine was suspended.
    public static var running: Instant {
        let time = read(CLOCK_BOOTTIME)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    public static var now: Now { Now(monotonic: monotonic, wall: wall) }

    private static func read(_ clock: clockid_t) -> timespec {
        var time = timespec()
        clock_gettime(clock, &time)
        return time
    }
}
