/// A line of words and `KEY=VALUE` pairs, as tor writes its status (control-spec §2.1.1, §4.1.10).
struct TorKeywords: Equatable {
    /// What has no `=`, in order.
    private(set) var words: [String] = []
    private var values: [String: String] = [:]

    subscript(_ key: String) -> String? { values[key] }

    func integer(_ key: String) -> Int? { values[key].flatMap { Int($0) } }

    /// Reads as much as makes sense; what does not is left out.
    init(_ text: some StringProtocol) {
        var rest = Array(text.utf8)[...]
        var left = TorLimits.keywords
        while left > 0 {
            rest = rest.drop { $0 == 0x20 || $0 == 0x0a }
            guard !rest.isEmpty else { return }
            left -= 1
            let name = rest.prefix { $0 != 0x20 && $0 != 0x0a && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: "\"") }
            rest = rest.dropFirst(name.count)
            let key = String(decoding: name, as: UTF8.self)
            if rest.first == UInt8(ascii: "=") {
                rest = rest.dropFirst()
                values[key] = TorKeywords.takeValue(&rest)
            } else if !key.isEmpty {
                words.append(key)
            } else {
                // A quoted word by itself carries nothing that is asked for here.
                _ = TorKeywords.takeValue(&rest)
            }
        }
    }

    private static func takeValue(_ rest: inout ArraySlice<UInt8>) -> String {
        guard rest.first == UInt8(ascii: "\"") else {
            let plain = rest.prefix { $0 != 0x20 && $0 != 0x0a }
            rest = rest.dropFirst(plain.count)
            return String(decoding: plain, as: UTF8.self)
        }
        rest = rest.dropFirst()
        var out: [UInt8] = []
        while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
            out.append(byte == UInt8(ascii: "\\") ? takeEscaped(&rest) : byte)
        }
        return String(decoding: out, as: UTF8.self)
    }

    /// What stands after a backslash: C's letters, up to three octal digits, or the character itself.
    private static func takeEscaped(_ rest: inout ArraySlice<UInt8>) -> UInt8 {
        guard let byte = rest.popFirst() else { return UInt8(ascii: "\\") }
        switch byte {
        case UInt8(ascii: "n"): return 0x0a
        case UInt8(ascii: "r"): return 0x0d
        case UInt8(ascii: "t"): return 0x09
        case 0x30...0x37:
            var value = UInt32(byte - 0x30)
            for digit in rest.prefix(2).prefix(while: { (0x30...0x37).contains($0) }) {
                value = value * 8 + UInt32(digit - 0x30)
                rest = rest.dropFirst()
            }
            return UInt8(truncatingIfNeeded: value)
        default: return byte
        }
    }
}
