/// Finds where a text stops being JSON (RFC 8259), which the library's decoder does not tell.
enum JSONSyntax {
    static let depthLimit = 32

    /// Offset of the first byte that cannot stand where it stands, the length when the text ends too early, `nil` when
    /// it is JSON.
    static func firstError(in bytes: [UInt8]) -> Int? {
        var scanner = Scanner(bytes: bytes)
        guard scanner.value(depth: 0) else { return scanner.offset }
        scanner.skipSpace()
        return scanner.offset == bytes.count ? nil : scanner.offset
    }

    private struct Scanner {
        let bytes: [UInt8]
        var offset = 0

        var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

        mutating func skipSpace() {
            while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d { offset += 1 }
        }

        mutating func take(_ byte: UInt8) -> Bool {
            guard next == byte else { return false }
            offset += 1
            return true
        }

        mutating func value(depth: Int) -> Bool {
            skipSpace()
            guard depth < JSONSyntax.depthLimit else { return false }
            switch next {
            case UInt8(ascii: "{"): return list(closing: UInt8(ascii: "}"), depth: depth) { $0.member(depth: depth) }
            case UInt8(ascii: "["): return list(closing: UInt8(ascii: "]"), depth: depth) { $0.value(depth: depth + 1) }
            case UInt8(ascii: "\""): return string()
            case UInt8(ascii: "t"): return word("true")
            case UInt8(ascii: "f"): return word("false")
            case UInt8(ascii: "n"): return word("null")
            default: return number()
            }
        }

        mutating func list(closing: UInt8, depth: Int, _ item: (inout Scanner) -> Bool) -> Bool {
            offset += 1
            skipSpace()
            if take(closing) { return true }
            while item(&self) {
                skipSpace()
                if take(closing) { return true }
                guard take(UInt8(ascii: ",")) else { return false }
            }
            return false
        }

        mutating func member(depth: Int) -> Bool {
            skipSpace()
            guard next == UInt8(ascii: "\""), string() else { return false }
            skipSpace()
            return take(UInt8(ascii: ":")) && value(depth: depth + 1)
        }

        mutating func string() -> Bool {
            offset += 1
            while let byte = next {
                if byte < 0x20 { return false }
                offset += 1
                if byte == UInt8(ascii: "\"") { return true }
                if byte == UInt8(ascii: "\\"), !escape() { return false }
            }
            return false
        }

        mutating func escape() -> Bool {
            guard let byte = next else { return false }
            if byte == UInt8(ascii: "u") {
                offset += 1
                for _ in 0..<4 where !digit(isHex: true) { return false }
                return true
            }
            guard #""\/bfnrt"#.utf8.contains(byte) else { return false }
            offset += 1
            return true
        }

        mutating func word(_ text: String) -> Bool { text.utf8.allSatisfy { take($0) } }

        mutating func number() -> Bool {
            _ = take(UInt8(ascii: "-"))
            if !take(UInt8(ascii: "0")), !digits() { return false }
            if take(UInt8(ascii: ".")), !digits() { return false }
            if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
                if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
                return digits()
            }
            return true
        }

        mutating func digits() -> Bool {
            guard digit(isHex: false) else { return false }
            while digit(isHex: false) {}
            return true
        }

        mutating func digit(isHex: Bool) -> Bool {
            guard let byte = next else { return false }
            let isDigit = (0x30...0x39).contains(byte)
            guard isDigit || isHex && (0x61...0x66).contains(byte | 0x20) else { return false }
            offset += 1
            return true
        }
    }
}
