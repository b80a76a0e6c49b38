import Basics

/// Rules for names that people choose (chapter 01 §9.1). Names received from others are not judged by them.
public enum Nickname {
    /// Characters as readers see them.
    public static let lengths = 1...50
    /// Bytes an announce can carry.
    public static let maximumSize = 255

    /// Trimmed and in normalisation form C. `nil` when it is empty or too long, or holds a control or format character.
    public static func normalized(_ text: String) -> String? {
        let trimmed = TextTrimming.trim(text)
        guard lengths.contains(trimmed.count), trimmed.unicodeScalars.allSatisfy(isVisible) else { return nil }
        var composed = [UInt8]()
        // Underscored, but public since Swift 5: the standard library's only normaliser without Foundation.
        trimmed._withNFCCodeUnits { composed.append($0) }
        return String(decoding: composed, as: UTF8.self)
    }

    /// The name to emit: normalised, and `nil` also where no announce can carry it.
    public static func announceable(_ text: String) -> String? {
        normalized(text).flatMap { $0.utf8.count <= maximumSize ? $0 : nil }
    }

    /// A name as typed: `@` does not count, and `#` with four hex digits at the end tells namesakes apart.
    /// - Returns: the name, and the suffix with its `#` or empty text.
    public static func split(_ typed: String) -> (base: String, suffix: String) {
        let scalars = String.UnicodeScalarView(typed.unicodeScalars.filter { $0 != "@" })
        let suffix = scalars.suffix(5)
        guard suffix.count == 5, suffix.first == "#", suffix.dropFirst().allSatisfy(isHexDigit) else {
            return (String(scalars), "")
        }
        return (String(scalars.dropLast(5)), String(suffix))
    }

    private static func isVisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format: false
        default: true
        }
    }

    private static func isHexDigit(_ scalar: Unicode.Scalar) -> Bool {
        UInt8(exactly: scalar.value).flatMap(Hex.value) != nil
    }
}
