/// A 64-bit name for what a frame carries: equal for copies that differ in the TTL and the sync flag only. Not
/// cryptographic and not keyed: it finds candidates in tables that no outsider fills.
public enum FrameHash {
    public static func of(_ bytes: [UInt8]) -> UInt64 {
        bytes.withUnsafeBytes { bytes in
            var hash = UInt64(bytes.count)
            var offset = 0
            while offset + 8 <= bytes.count {
                var word = word(bytes, offset)
                if offset == 0 { word &= ~ttl }
                if offset == 8 { word &= ~flag }
                hash = mix(hash, word)
                offset += 8
            }
            var rest: UInt64 = 0
            while offset < bytes.count {
                rest = rest << 8 | UInt64(bytes[offset])
                offset += 1
            }
            return mix(hash, rest)
        }
    }

    @inlinable
    public static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let mixed = (hash ^ word) &* 0x9e37_79b9_7f4a_7c15
        return mixed ^ (mixed >> 29)
    }

    /// Eight bytes at an offset the caller has checked, in the machine's order.
    @inline(__always)
    fileprivate static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }

    /// Byte 2 of the first word and the sync flag in byte 11, which is byte 3 of the second.
    fileprivate static let ttl = UInt64(littleEndian: 0xff_0000)
    fileprivate static let flag = UInt64(littleEndian: UInt64(PacketFlags.isSyncResponse.rawValue) << 24)
}

extension Frame {
    /// Whether both are copies of one frame: equal but for what may change on the way, the TTL and the sync flag.
    public func isCopy(of other: Frame) -> Bool {
        guard bytes.count == other.bytes.count, layout == other.layout else { return false }
        return bytes.withUnsafeBytes { a in
            other.bytes.withUnsafeBytes { b in
                // A frame has more than two words.
                guard (FrameHash.word(a, 0) ^ FrameHash.word(b, 0)) & ~FrameHash.ttl == 0,
                    (FrameHash.word(a, 8) ^ FrameHash.word(b, 8)) & ~FrameHash.flag == 0
                else { return false }
                var offset = 16
                while offset + 8 <= a.count {
                    guard FrameHash.word(a, offset) == FrameHash.word(b, offset) else { return false }
                    offset += 8
                }
                while offset < a.count {
                    guard a[offset] == b[offset] else { return false }
                    offset += 1
                }
                return true
            }
        }
    }
}
