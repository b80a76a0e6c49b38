/// Hexadecimal text of bytes. Emission is lower case (chapter 01 §1.2).
public enum Hex {
    /// Lower-case hex of any bytes.
    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var ascii = [UInt8]()
        ascii.reserveCapacity(bytes.underestimatedCount * 2)
        for byte in bytes {
            ascii.append(digit(byte >> 4))
            ascii.append(digit(byte & 15))
        }
        return String(decoding: ascii, as: UTF8.self)
    }

    /// Strict hex: an even number of digits of either case and nothing else; `nil` otherwise.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var bytes = [UInt8]()
        bytes.reserveCapacity(text.utf8.count / 2)
        var high: UInt8?
        for character in text.utf8 {
            guard let value = value(of: character) else { return nil }
            if let first = high {
                bytes.append(first << 4 | value)
                high = nil
            } else {
                high = value
            }
        }
        return high == nil ? bytes : nil
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
