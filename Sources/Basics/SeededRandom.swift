/// A small deterministic generator (SplitMix64) for simulations and tests: the same seed gives the same run, byte for
/// byte. Not for keys outside tests.
public struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

extension RandomNumberGenerator {
    /// `count` random bytes.
    public mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8]()
        bytes.reserveCapacity(count + 7)
        while bytes.count < count { bytes.append(bigEndian: next()) }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// A uniform span in `low ... high`, at nanosecond grain.
    public mutating func interval(_ low: Interval, _ high: Interval) -> Interval {
        Interval(nanoseconds: Int64.random(in: low.nanoseconds...high.nanoseconds, using: &self))
    }
}
