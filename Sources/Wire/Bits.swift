/// Reads bits from the most significant of each byte down.
struct BitReader {
    private let bytes: UnsafeRawBufferPointer
    private var position = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    private var remaining: Int { bytes.count * 8 - position }

    /// The next bits, first one on top; at least 57 of them as far as there are, zeros behind.
    private var window: UInt64 {
        let first = position >> 3
        if first + 8 <= bytes.count {
            return UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: first, as: UInt64.self))
                << UInt64(position & 7)
        }
        let tail = bytes[first...].reduce((bits: UInt64(0), shift: UInt64(56))) { tail, byte in
            (tail.bits | UInt64(byte) << tail.shift, tail.shift &- 8)
        }
        return tail.bits << UInt64(position & 7)
    }

    /// The number of one-bits up to the next zero-bit, which is consumed too; `nil` when none comes.
    mutating func readUnary() -> Int? {
        var ones = 0
        while remaining > 0 {
            let valid = min(remaining, 57)
            let run = min((~window).leadingZeroBitCount, valid)
            ones += run
            position += run
            if run < valid {
                position += 1
                return ones
            }
        }
        return nil
    }

    /// The next 1 … 32 bits as a number; `nil` when there are fewer.
    mutating func read(_ count: UInt8) -> UInt64? {
        guard count > 0, count <= 32, Int(count) <= remaining else { return nil }
        let value = window >> UInt64(64 - count)
        position += Int(count)
        return value
    }
}

/// Writes bits from the most significant of each byte down; the last byte is filled with zeros.
struct BitWriter {
    private var bytes: [UInt8] = []
    private var pending: UInt64 = 0
    private var pendingCount: UInt64 = 0

    init(capacity: Int) { bytes.reserveCapacity(capacity) }

    /// The low `count` ≤ 32 bits of `value`, which has no others.
    mutating func write(_ value: UInt64, count: UInt64) {
        pending = pending << count | value
        pendingCount += count
        while pendingCount >= 8 {
            pendingCount -= 8
            bytes.append(UInt8(truncatingIfNeeded: pending >> pendingCount))
        }
    }

    /// `ones` one-bits and a zero-bit.
    mutating func writeUnary(_ ones: UInt32) {
        var ones = UInt64(ones)
        while ones >= 31 {
            write(0x7fff_ffff, count: 31)
            ones -= 31
        }
        write((1 << (ones + 1)) - 2, count: ones + 1)
    }

    mutating func finish() -> [UInt8] {
        if pendingCount > 0 { write(0, count: 8 - pendingCount) }
        return bytes
    }
}
