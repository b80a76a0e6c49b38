extension UnsafeRawBufferPointer {
    /// Whether these bytes are well-formed UTF-8 (RFC 3629: no overlong form, no surrogate, nothing above U+10FFFF).
    public var isValidUTF8: Bool {
        var offset = 0
        while offset < count {
            // Most relay traffic is ASCII: eight bytes at a time.
            if offset + 8 <= count, loadUnaligned(fromByteOffset: offset, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
            {
                offset += 8
                continue
            }
            guard let length = sequenceLength(at: offset) else { return false }
            offset += length
        }
        return true
    }

    /// Length of the well-formed sequence at `offset`, which is inside the buffer.
    private func sequenceLength(at offset: Int) -> Int? {
        let lead = self[offset]
        let second: ClosedRange<UInt8>
        let length: Int
        switch lead {
        case 0x00...0x7f: return 1
        case 0xc2...0xdf: (length, second) = (2, 0x80...0xbf)
        case 0xe0: (length, second) = (3, 0xa0...0xbf)
        case 0xed: (length, second) = (3, 0x80...0x9f)
        case 0xe1...0xef: (length, second) = (3, 0x80...0xbf)
        case 0xf0: (length, second) = (4, 0x90...0xbf)
        case 0xf1...0xf3: (length, second) = (4, 0x80...0xbf)
        case 0xf4: (length, second) = (4, 0x80...0x8f)
        default: return nil
        }
        guard offset + length <= count, second.contains(self[offset + 1]) else { return nil }
        for index in (offset + 2)..<Swift.max(offset + 2, offset + length) where self[index] & 0xc0 != 0x80 {
            return nil
        }
        return length
    }
}
