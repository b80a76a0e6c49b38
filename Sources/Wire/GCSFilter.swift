import Basics

/// What a packet ID contributes to a filter: the first 8 bytes of SHA-256 over the ID, top bit cleared (chapter 04
/// §4.1). Computed once per stored packet, because every request and every answer needs it again.
public struct GCSHash: Hashable, Sendable {
    public let value: UInt64

    public init(_ id: PacketID) {
        var hash = SHA256.Stream()
        hash.update(bigEndian: id.high)
        hash.update(bigEndian: id.low)
        value = hash.finish { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) & (.max >> 1) }
    }

    /// The number standing for the ID in a filter of the given range: 1 ..< modulus, or 0 when that is empty.
    @inlinable public func bucket(modulus: UInt32) -> UInt32 {
        guard modulus > 1 else { return 0 }
        return max(1, UInt32(value % UInt64(modulus)))
    }
}

/// A Golomb-coded set: "these packets I have", with false positives (chapter 04 §4). P and M travel with the bits.
public struct GCSFilter: Hashable, Sendable {
    /// Bytes of filter a request may carry.
    public static let largestData = 1_024
    /// Different filters that `variation` gives for the same members, where there are enough of them.
    public static let variations: UInt32 = 64
    /// P on the wire.
    public static let parameters: ClosedRange<UInt8> = 1...32

    /// P, the Golomb–Rice parameter: the false-positive rate is about 2^−P.
    public let parameter: UInt8
    /// M: members are mapped to 1 ..< M.
    public let modulus: UInt32
    public let data: [UInt8]

    public init(parameter: UInt8, modulus: UInt32, data: [UInt8]) {
        self.parameter = parameter
        self.modulus = modulus
        self.data = data
    }

    /// P for a wanted false-positive rate, which is clamped to 1e−6 … 0.25 (chapter 04 §4.2).
    public static func parameter(falsePositiveRate: Double) -> UInt8 {
        let inverse = 1 / max(0.000_001, min(falsePositiveRate, 0.25))
        // ceil(log2): the exponent, and one more unless it is a power of two.
        return UInt8(max(1, inverse.exponent + (inverse.significand == 1 ? 0 : 1)))
    }

    /// Members that surely fit into `bytes` (chapter 04 §4.2).
    public static func capacity(bytes: Int, parameter: UInt8) -> Int {
        max(1, max(8, 8 * bytes) / max(3, Int(parameter) + 2))
    }

    /// A filter over the first of `newestFirst` that fit into `budget` bytes.
    ///
    /// - Parameters:
    ///   - parameter: Clamped to `parameters`.
    ///   - variation: Another number gives another M, a little smaller, and so other false positives; 0 for the M of
    ///     the references.
    /// - Returns: The filter and how many of the input it covers, duplicates included (chapter 04 §4.3).
    public static func build(
        newestFirst hashes: [GCSHash], budget: Int, parameter: UInt8, variation: UInt32 = 0
    ) -> (filter: GCSFilter, covered: Int) {
        let parameter = min(max(parameter, parameters.lowerBound), parameters.upperBound)
        var count = min(hashes.count, capacity(bytes: budget, parameter: parameter))
        guard count > 0 else { return (GCSFilter(parameter: parameter, modulus: 1, data: []), 0) }
        let largest = UInt32(clamping: UInt64(count) << UInt64(parameter))
        let modulus = largest - variation % max(1, min(variations, largest / 4))

        while true {
            let buckets = sorted(hashes.prefix(count).map { $0.bucket(modulus: modulus) })
            let data = encode(buckets, parameter: parameter)
            if data.count <= budget {
                return (GCSFilter(parameter: parameter, modulus: modulus, data: data), count)
            }
            guard count > 1 else { return (GCSFilter(parameter: parameter, modulus: modulus, data: []), 0) }
            count = max(1, count * 9 / 10)
        }
    }

    /// The members' buckets in ascending order; empty when P or M are out of range (chapter 04 §4.4). Fill bits at the
    /// end may decode as members when P ≤ 6, in the references too.
    public func buckets() -> [UInt32] {
        guard GCSFilter.parameters.contains(parameter), modulus > 1 else { return [] }
        var buckets = [UInt32]()
        buckets.reserveCapacity(min(data.count * 8 / (Int(parameter) + 1), data.count * 4))
        data.withUnsafeBytes { bytes in
            var bits = BitReader(bytes)
            var sum: UInt64 = 0
            while let quotient = bits.readUnary(), let remainder = bits.read(parameter) {
                // The quotient is below 8 · 1,024 and P at most 32, so nothing overflows before the check.
                sum += UInt64(quotient) << UInt64(parameter) + remainder + 1
                guard sum < UInt64(modulus) else { return }
                buckets.append(UInt32(sum))
            }
        }
        return buckets
    }

    /// The filter decoded for lookups.
    public func members() -> GCSMembers { GCSMembers(buckets: buckets(), modulus: modulus) }

    private static func encode(_ buckets: [UInt32], parameter: UInt8) -> [UInt8] {
        var bits = BitWriter(capacity: buckets.count * (Int(parameter) + 2) / 8 + 1)
        var previous: UInt32 = 0
        for bucket in buckets where bucket != previous {
            let gap = bucket - previous - 1
            previous = bucket
            bits.writeUnary(gap >> UInt32(parameter))
            bits.write(UInt64(gap) & ((1 << UInt64(parameter)) - 1), count: UInt64(parameter))
        }
        return bits.finish()
    }

    /// Ascending order by radix, 11 bits a pass: the buckets are uniform 32-bit numbers, and a filter is built for
    /// every neighbour over and over.
    private static func sorted(_ values: [UInt32]) -> [UInt32] {
        guard values.count > 64 else { return values.sorted() }
        var from = values
        var to = values
        let largest = values.reduce(0, |)
        var shift: UInt32 = 0
        while shift < 32, largest >> shift > 0 {
            withUnsafeTemporaryAllocation(of: Int.self, capacity: 2_048) { starts in
                starts.initialize(repeating: 0)
                for value in from { starts[Int(value >> shift & 0x7ff)] += 1 }
                var start = 0
                for digit in starts.indices { (starts[digit], start) = (start, start + starts[digit]) }
                for value in from {
                    let digit = Int(value >> shift & 0x7ff)
                    to[starts[digit]] = value
                    starts[digit] += 1
                }
            }
            swap(&from, &to)
            shift += 11
        }
        return from
    }
}

/// Answers "does the requester probably hold this packet".
public struct GCSMembers: Sendable {
    private let buckets: [UInt32]
    private let modulus: UInt32

    init(buckets: [UInt32], modulus: UInt32) {
        self.buckets = buckets
        self.modulus = modulus
    }

    public func contains(_ hash: GCSHash) -> Bool {
        let bucket = hash.bucket(modulus: modulus)
        var low = 0
        var high = buckets.count
        while low < high {
            let middle = (low + high) / 2
            if buckets[middle] < bucket { low = middle + 1 } else { high = middle }
        }
        return low < buckets.count && buckets[low] == bucket
    }

    public func contains(_ id: PacketID) -> Bool { contains(GCSHash(id)) }
}
