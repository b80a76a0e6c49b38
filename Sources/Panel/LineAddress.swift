/// How a GPIO line is named in the configuration: by the name the device tree gives it, or by its chip's label and its
/// offset. Never by the chip's number, which changes from board to board and from kernel to kernel.
public struct LineAddress: Equatable, Sendable, CustomStringConvertible {
    public enum Place: Equatable, Sendable {
        /// Such as `GPIO17`.
        case named(String)
        /// Such as `pinctrl-bcm2711:17`.
        case offset(UInt32, chip: String)
    }

    public let place: Place

    /// `NAME`, or `LABEL:OFFSET`; nil for anything else, or for more than 64 bytes.
    public init?(_ text: String) {
        guard !text.isEmpty, text.utf8.count <= 64, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x22 })
        else { return nil }
        guard let colon = text.lastIndex(of: ":") else {
            place = .named(text)
            return
        }
        let label = String(text[..<colon])
        guard !label.isEmpty, let offset = UInt32(text[text.index(after: colon)...]), offset < 65_536 else {
            return nil
        }
        // A number in the place of a label is the mistake this form exists to prevent.
        guard !label.hasPrefix("gpiochip"), Int(label) == nil else { return nil }
        place = .offset(offset, chip: label)
    }

    public var description: String {
        switch place {
        case .named(let name): name
        case .offset(let offset, let chip): "\(chip):\(offset)"
        }
    }
}
