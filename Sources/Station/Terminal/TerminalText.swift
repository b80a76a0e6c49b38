/// Makes text from outside safe to print: a terminal must show it, never obey it.
public enum TerminalText {
    /// Replaces every code point that could move the cursor, change colours, reorder or hide text: controls (Cc),
    /// format characters such as direction marks and zero-width joiners (Cf), line and paragraph separators,
    /// surrogates, private use and unassigned ones. They appear as `\u{1B}`, or `\n` and `\t`; a backslash is doubled,
    /// so that no text can imitate this.
    public static func escape(_ text: some StringProtocol) -> String {
        var out = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": out += "\\\\"
            case "\n": out += "\\n"
            case "\t": out += "\\t"
            case _ where isPrintable(scalar): out.unicodeScalars.append(scalar)
            default: out += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            }
        }
        return out
    }

    static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x7f { return scalar.value >= 0x20 }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
        default: return true
        }
    }
}
