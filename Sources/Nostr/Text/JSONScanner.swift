import Basics

/// Why a text is not the JSON that was expected.
public enum JSONError: Error {
    case malformed
    case tooDeep
    /// A number that is valid JSON but no integer token of 64 bits (chapter 05 §18.2).
    case notAnInteger
}

/// A strict cursor over one JSON text (RFC 8259).
///
/// An own scanner because the time to parse a relay event must stay small against its signature check, and because it
/// must refuse a hostile text before allocating anything: nothing here allocates except `JSONString.text`.
///
/// The bytes must be valid UTF-8, which the caller checks once for the whole text, and must outlive the scanner.
public struct JSONScanner {
    /// Levels of arrays and objects that an ignored value may nest.
    public static let maximumDepth = 32

    private let bytes: UnsafeRawBufferPointer
    /// Offset of the next unread byte, never beyond the end.
    public private(set) var position: Int

    public init(_ bytes: UnsafeRawBufferPointer, from position: Int = 0) {
        self.bytes = bytes
        self.position = min(max(0, position), bytes.count)
    }

    var isAtEnd: Bool { position == bytes.count }

    @inline(__always) private func byte(at offset: Int) -> UInt8? { offset < bytes.count ? bytes[offset] : nil }

    mutating func skipWhitespace() {
        while let byte = byte(at: position), byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 {
            position += 1
        }
    }

    /// The first byte of the next token, not consumed.
    public mutating func peek() -> UInt8? {
        skipWhitespace()
        return byte(at: position)
    }

    /// Consumes the next token if it is the structural character `character`.
    public mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard peek() == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    public mutating func expect(_ character: Unicode.Scalar) throws(JSONError) {
        guard take(character) else { throw .malformed }
    }

    /// Nothing but white space is left.
    public mutating func expectEnd() throws(JSONError) {
        skipWhitespace()
        guard isAtEnd else { throw .malformed }
    }

    // MARK: Strings

    /// A string token, checked but not decoded.
    public mutating func string() throws(JSONError) -> JSONString {
        try expect("\"")
        let start = position
        var decodedCount = 0
        var hasEscapes = false
        while true {
            let run = bytes.plainJSONRun(from: position)
            position += run
            decodedCount += run
            guard let byte = byte(at: position) else { throw .malformed }
            switch byte {
            case UInt8(ascii: "\""):
                let token = JSONString(
                    bytes: UnsafeRawBufferPointer(rebasing: bytes[start..<position]), hasEscapes: hasEscapes,
                    utf8Count: decodedCount)
                position += 1
                return token
            case UInt8(ascii: "\\"):
                hasEscapes = true
                guard let escape = JSONString.escape(in: bytes, at: position) else { throw .malformed }
                position += escape.length
                decodedCount += UTF8.width(escape.scalar)
            default:
                throw .malformed
            }
        }
    }

    // MARK: Numbers

    /// A number token without fraction and exponent that fits 64 bits.
    public mutating func integer() throws(JSONError) -> Int64 {
        skipWhitespace()
        let start = position
        guard try skipNumber() else { throw .notAnInteger }
        let isNegative = byte(at: start) == UInt8(ascii: "-")
        var value: Int64 = 0
        for offset in (isNegative ? start + 1 : start)..<position {
            let digit = Int64(bytes[offset] - UInt8(ascii: "0"))
            let (product, overflows) = value.multipliedReportingOverflow(by: 10)
            let (sum, overflowsToo) =
                isNegative ? product.subtractingReportingOverflow(digit) : product.addingReportingOverflow(digit)
            guard !overflows, !overflowsToo else { throw .notAnInteger }
            value = sum
        }
        return value
    }

    /// Consumes a number token; false when it has a fraction or an exponent.
    private mutating func skipNumber() throws(JSONError) -> Bool {
        if byte(at: position) == UInt8(ascii: "-") { position += 1 }
        let first = position
        try skipDigits()
        if bytes[first] == UInt8(ascii: "0"), position > first + 1 {
            position = first + 1
            throw .malformed
        }
        var isInteger = true
        if byte(at: position) == UInt8(ascii: ".") {
            position += 1
            try skipDigits()
            isInteger = false
        }
        if let exponent = byte(at: position), exponent | 0x20 == UInt8(ascii: "e") {
            position += 1
            if let sign = byte(at: position), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position += 1 }
            try skipDigits()
            isInteger = false
        }
        return isInteger
    }

    private mutating func skipDigits() throws(JSONError) {
        let start = position
        while let digit = byte(at: position), digit &- UInt8(ascii: "0") < 10 { position += 1 }
        guard position > start else { throw .malformed }
    }

    // MARK: Whole values

    /// `true` or `false`; nil for any other value, which stays unread.
    public mutating func boolean() throws(JSONError) -> Bool? {
        switch peek() {
        case UInt8(ascii: "t"):
            try literal("true")
            return true
        case UInt8(ascii: "f"):
            try literal("false")
            return false
        default: return nil
        }
    }

    /// Consumes one value of any type, checking its grammar.
    public mutating func skipValue() throws(JSONError) { try skipValue(depth: 0) }

    private mutating func skipValue(depth: Int) throws(JSONError) {
        switch peek() {
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "t"): try literal("true")
        case UInt8(ascii: "f"): try literal("false")
        case UInt8(ascii: "n"): try literal("null")
        case UInt8(ascii: "["): try skipSequence(closedBy: "]", depth: depth + 1)
        case UInt8(ascii: "{"): try skipSequence(closedBy: "}", depth: depth + 1)
        default: _ = try skipNumber()
        }
    }

    private mutating func skipSequence(closedBy end: Unicode.Scalar, depth: Int) throws(JSONError) {
        guard depth <= JSONScanner.maximumDepth else { throw .tooDeep }
        position += 1
        if take(end) { return }
        repeat {
            if end == "}" {
                _ = try string()
                try expect(":")
            }
            try skipValue(depth: depth)
        } while take(",")
        try expect(end)
    }

    /// One of the words `true`, `false`, `null`, which the caller saw coming.
    public mutating func literal(_ text: StaticString) throws(JSONError) {
        for index in 0..<text.utf8CodeUnitCount {
            guard byte(at: position) == text.utf8Start[index] else { throw .malformed }
            position += 1
        }
    }
}

/// A checked string token inside a JSON text, still in its escaped form.
public struct JSONString {
    /// What stands between the quotes.
    let bytes: UnsafeRawBufferPointer
    let hasEscapes: Bool
    /// Bytes of the decoded string in UTF-8.
    let utf8Count: Int

    /// The decoded string.
    public var text: String {
        guard hasEscapes else { return String(decoding: bytes, as: UTF8.self) }
        return String(unsafeUninitializedCapacity: utf8Count) { output in
            var written = 0
            forEachByte { byte in
                guard written < output.count else { return }
                output[written] = byte
                written += 1
            }
            return written
        }
    }

    /// Whether the decoded string is `text`, byte for byte.
    func equals(_ text: StaticString) -> Bool {
        guard utf8Count == text.utf8CodeUnitCount else { return false }
        var index = 0
        var isEqual = true
        forEachByte { byte in
            if index >= text.utf8CodeUnitCount || text.utf8Start[index] != byte { isEqual = false }
            index += 1
        }
        return isEqual
    }

    private func forEachByte(_ body: (UInt8) -> Void) {
        var offset = 0
        while offset < bytes.count {
            if bytes[offset] == UInt8(ascii: "\\"), let escape = JSONString.escape(in: bytes, at: offset) {
                UTF8.encode(escape.scalar)?.forEach(body)
                offset += escape.length
            } else {
                body(bytes[offset])
                offset += 1
            }
        }
    }

    /// The escape whose backslash is at `offset`. A surrogate pair is one escape; a lone surrogate is none.
    static func escape(
        in bytes: UnsafeRawBufferPointer, at offset: Int
    ) -> (scalar: Unicode.Scalar, length: Int)? {
        guard offset + 1 < bytes.count else { return nil }
        switch bytes[offset + 1] {
        case UInt8(ascii: "\""): return ("\"", 2)
        case UInt8(ascii: "\\"): return ("\\", 2)
        case UInt8(ascii: "/"): return ("/", 2)
        case UInt8(ascii: "b"): return ("\u{08}", 2)
        case UInt8(ascii: "t"): return ("\t", 2)
        case UInt8(ascii: "n"): return ("\n", 2)
        case UInt8(ascii: "f"): return ("\u{0c}", 2)
        case UInt8(ascii: "r"): return ("\r", 2)
        case UInt8(ascii: "u"): break
        default: return nil
        }
        guard let unit = codeUnit(in: bytes, at: offset) else { return nil }
        if let scalar = Unicode.Scalar(unit) { return (scalar, 6) }
        guard UTF16.isLeadSurrogate(unit), let trail = codeUnit(in: bytes, at: offset + 6),
            UTF16.isTrailSurrogate(trail),
            let scalar = Unicode.Scalar(0x1_0000 + (UInt32(unit) & 0x3ff) << 10 + UInt32(trail) & 0x3ff)
        else { return nil }
        return (scalar, 12)
    }

    /// The UTF-16 code unit of a `\uXXXX` at `offset`.
    private static func codeUnit(in bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt16? {
        guard offset + 6 <= bytes.count, bytes[offset] == UInt8(ascii: "\\"), bytes[offset + 1] == UInt8(ascii: "u")
        else { return nil }
        var unit: UInt16 = 0
        for index in 2..<6 {
            guard let digit = Hex.value(of: bytes[offset + index]) else { return nil }
            unit = unit << 4 | UInt16(digit)
        }
        return unit
    }
}

extension UnsafeRawBufferPointer {
    /// How many bytes from `offset` on stand for themselves in a JSON string: no quote, backslash or control character.
    @inline(__always) func plainJSONRun(from offset: Int) -> Int {
        var end = offset
        while end + 16 <= count {
            let marks = (specialJSONBytes(at: end), specialJSONBytes(at: end + 8))
            if marks.0 != 0 { return end - offset + marks.0.trailingZeroBitCount / 8 }
            if marks.1 != 0 { return end - offset + 8 + marks.1.trailingZeroBitCount / 8 }
            end += 16
        }
        while end < count, self[end] >= 0x20, self[end] != 0x22, self[end] != 0x5c { end += 1 }
        return end - offset
    }

    /// Marks, of eight bytes at once, the high bit of those that do not stand for themselves, the first in the lowest
    /// byte. Only the lowest mark counts: a byte below n borrows into its high bit when n is subtracted from every
    /// byte, and into those above it.
    @inline(__always) private func specialJSONBytes(at offset: Int) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let word = UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        let quotes = word ^ (ones &* 0x22)
        let backslashes = word ^ (ones &* 0x5c)
        let found =
            (word &- ones &* 0x20) & ~word | (quotes &- ones) & ~quotes | (backslashes &- ones) & ~backslashes
        return found & (ones &* 0x80)
    }
}
