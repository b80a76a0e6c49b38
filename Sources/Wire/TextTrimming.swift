/// The white space that message texts are trimmed of at both ends (chapter 01 §11.3). Not the Unicode property: U+200B
/// counts, U+FEFF and U+180E do not.
public enum TextTrimming {
    public static func isWhiteSpace(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09...0x0d, 0x20, 0x85, 0xa0, 0x1680, 0x2000...0x200b, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000: true
        default: false
        }
    }

    /// `text` without white space at its ends, decided code point by code point.
    public static func trim(_ text: some StringProtocol) -> String {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !isWhiteSpace($0) }),
            let last = scalars.lastIndex(where: { !isWhiteSpace($0) })
        else { return "" }
        return String(String.UnicodeScalarView(scalars[first...last]))
    }
}
