import Basics

/// What the vault counts.
public enum VaultEvent: String, CaseIterable, Sendable {
    case put
    case removed
    /// Written to the disk as one change.
    case written
    case writeFailed
    /// Records that made room for others.
    case evicted
    /// Too large, or the disk takes nothing and memory is full.
    case refused
    /// Records that did not open and were set aside.
    case recordSetAside
    /// Files that could not be read and were set aside.
    case fileSetAside
}

/// Why the vault keeps things in memory only.
public enum VaultTrouble: String, CaseIterable, Sendable {
    case diskFull
    case diskFailing
    /// SQLite rejected the call: a bug in this module.
    case refused
}

/// State of the vault, for the operator.
public struct VaultStatus: Equatable, Sendable {
    public let isPersistent: Bool
    public let records: Int
    /// Sealed.
    public let bytes: Int
    /// Bytes waiting for the disk.
    public let waitingBytes: Int
    /// Bytes written within the last 24 hours, or since the start.
    public let writtenToday: Int
    /// Nil when what is kept is safe from a power cut.
    public let trouble: VaultTrouble?
}

/// Bytes written, by the hour, over the last day.
struct WriteLedger {
    private static let hours = 24
    private var hour: Int64 = 0
    private var buckets = [Int](repeating: 0, count: hours)
    private(set) var total = 0

    mutating func add(_ bytes: Int, at now: Instant) {
        roll(to: now)
        buckets[Int(hour % Int64(WriteLedger.hours))] += bytes
        total += bytes
    }

    mutating func lastDay(at now: Instant) -> Int {
        roll(to: now)
        return buckets.reduce(0, +)
    }

    private mutating func roll(to now: Instant) {
        let next = max(hour, now.nanoseconds / Interval.hours(1).nanoseconds)
        if next - hour >= Int64(WriteLedger.hours) {
            buckets = [Int](repeating: 0, count: WriteLedger.hours)
        } else {
            for passed in stride(from: hour + 1, through: next, by: 1) {
                buckets[Int(passed % Int64(WriteLedger.hours))] = 0
            }
        }
        hour = next
    }
}
