import Basics

/// The iOS reader of hex text (chapter 01 §1.2), for peer IDs and fragment ID lists. All else is read with `Hex`.
public enum TolerantHex {
    /// White space at the ends and one leading `0x` are dropped; then come pairs of two hex digits, or of `+` and one
    /// digit. `nil` for anything else; no bytes for empty text.
    public static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var digits = Array(TextTrimming.trim(text).utf8)[...]
        if digits.starts(with: "0x".utf8) || digits.starts(with: "0X".utf8) { digits = digits.dropFirst(2) }
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes = [UInt8]()
        bytes.reserveCapacity(digits.count / 2)
        while let first = digits.popFirst(), let second = digits.popFirst() {
            let high = first == UInt8(ascii: "+") ? 0 : Hex.value(of: first)
            guard let high, let low = Hex.value(of: second) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }
}
