/// Base 64 with the standard alphabet and padding (RFC 4648 §4): the form of a courier drop's content, and of nothing
/// else here (chapter 05 §18.21).
public enum Base64 {
    private static let alphabet = [UInt8]("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let pad = UInt8(ascii: "=")

    public static func encode(_ bytes: [UInt8]) -> String {
        var text = [UInt8]()
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var word = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            word <<= UInt32(8 * (3 - group.count))
            for index in 0..<4 {
                let digit = alphabet[Int(word >> UInt32(18 - 6 * index) & 63)]
                text.append(index <= group.count ? digit : pad)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Strict: whole groups of four, padding only where it belongs, unused bits zero; `nil` otherwise.
    public static func decode(_ text: String) -> [UInt8]? {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 4) else { return nil }
        let padding = digits.reversed().prefix { $0 == pad }.count
        guard padding <= 2 else { return nil }
        var bytes = [UInt8]()
        bytes.reserveCapacity(digits.count / 4 * 3)
        var word: UInt32 = 0
        for (index, digit) in digits.enumerated() {
            if index < digits.count - padding {
                guard let value = value(of: digit) else { return nil }
                word = word << 6 | UInt32(value)
            } else {
                word <<= 6
            }
            if index % 4 == 3 {
                bytes.append(UInt8(truncatingIfNeeded: word >> 16))
                bytes.append(UInt8(truncatingIfNeeded: word >> 8))
                bytes.append(UInt8(truncatingIfNeeded: word))
                word = 0
            }
        }
        guard bytes.suffix(padding).allSatisfy({ $0 == 0 }) else { return nil }
        bytes.removeLast(padding)
        return bytes
    }

    private static func value(of digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): digit - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): digit - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
