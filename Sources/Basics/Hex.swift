/// Hexadecimal text of bytes. Emission is lower case (chapter 01 §1.2).
public enum Hex {
    /// Lower-case hex of any bytes.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        // Contiguous storage keeps the loop free of generic iteration, which costs a hundred times the work itself.
        if let text = bytes.withContiguousStorageIfAvailable({ encode(UnsafeRawBufferPointer($0)) }) { return text }
        return Array(bytes).withUnsafeBytes { encode($0) }
    }

    private static func encode(_ bytes: UnsafeRawBufferPointer) -> String {
        String(unsafeUninitializedCapacity: bytes.count * 2) { ascii in
            for (index, byte) in bytes.enumerated() {
                ascii[2 * index] = digit(byte >> 4)
                ascii[2 * index + 1] = digit(byte & 15)
            }
            return bytes.count * 2
        }
    }

    /// Strict hex: an even number of digits of either case and nothing else; `nil` otherwise.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        if let bytes = text.utf8.withContiguousStorageIfAvailable({ decode(UnsafeRawBufferPointer($0)) }) {
            return bytes
        }
        return Array(text.utf8).withUnsafeBytes { decode($0) }
    }

    private static func decode(_ digits: UnsafeRawBufferPointer) -> [UInt8]? {
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes = [UInt8]()
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(of: digits[index]), let low = value(of: digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// Value of one ASCII hex digit of either case.
    @inlinable public static func value(of character: UInt8) -> UInt8? {
        switch character {
        case 0x30...0x39: character - 0x30
        case 0x61...0x66: character - 0x61 + 10
        case 0x41...0x46: character - 0x41 + 10
        default: nil
        }
    }

    @inlinable static func digit(_ nibble: UInt8) -> UInt8 { nibble < 10 ? 0x30 + nibble : 0x61 + nibble - 10 }
}
