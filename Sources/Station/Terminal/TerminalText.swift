/// Makes text from outside safe to print: a terminal must show it, never obey it.
public enum TerminalText {
    /// Replaces every code point that could move the cursor, change colours, reorder or hide text: controls (Cc),
    /// format characters such as direction marks and zero-width joiners (Cf), line and paragraph separators,
    /// surrogates, private use and unassigned ones. They appear as `\u{1B}`, or `\n` and `\t`; a backslash is doubled,
    /// so that no text can imitate this.
    public static func escape(_ text: some StringProtocol, alsoEscaping special: Unicode.Scalar? = nil) -> String {
        var out = ""
        for scalar in text.unicodeScalars { out += scalar == special ? code(of: scalar) : escape(scalar) }
        return out
    }

    /// The same for what somebody said, where a joiner stays if it follows a character outside ASCII: Persian and the
    /// scripts of India are misspelt without them, and so are most emoji. In names they would only hide.
    static func escapeProse(_ text: some StringProtocol) -> String {
        var out = ""
        var mayJoin = false
        for scalar in text.unicodeScalars {
            if isJoiner(scalar), mayJoin { out.unicodeScalars.append(scalar) } else { out += escape(scalar) }
            mayJoin = !scalar.isASCII && isPrintable(scalar)
        }
        return out
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\\": "\\\\"
        case "\n": "\\n"
        case "\t": "\\t"
        case _ where isPrintable(scalar): String(scalar)
        default: code(of: scalar)
        }
    }

    private static func code(of scalar: Unicode.Scalar) -> String {
        "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    }

    /// Zero-width joiner and non-joiner.
    private static func isJoiner(_ scalar: Unicode.Scalar) -> Bool { scalar == "\u{200C}" || scalar == "\u{200D}" }

    static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x7f { return scalar.value >= 0x20 }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: return false
        default: return true
        }
    }
}
