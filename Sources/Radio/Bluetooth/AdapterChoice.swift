/// An adapter as the operator names it: by its place among the system's controllers, or by the address printed on it,
/// which stays when others are plugged in.
public enum AdapterChoice: Hashable, Sendable {
    /// N of hciN.
    case index(UInt16)
    /// The public address.
    case address(BluetoothAddress)

    /// `hci0`, or an address such as `00:1A:7D:DA:71:13`.
    public init?(_ text: String) {
        if text.hasPrefix("hci") {
            let digits = text.dropFirst(3)
            guard let index = UInt16(digits), String(index) == digits, index != .max else { return nil }
            self = .index(index)
            return
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 6 else { return nil }
        var value: UInt64 = 0
        for part in parts {
            guard part.utf8.count == 2, part.allSatisfy(\.isHexDigit), let byte = UInt8(part, radix: 16) else {
                return nil
            }
            value = value << 8 | UInt64(byte)
        }
        guard value != 0 else { return nil }
        self = .address(BluetoothAddress(value: value, kind: .public))
    }

    public var text: String {
        switch self {
        case .index(let index): return "hci\(index)"
        case .address(let address):
            let bytes = (0..<6).reversed().map { shift -> String in
                let digits = String(address.value >> (8 * UInt64(shift)) & 0xFF, radix: 16, uppercase: true)
                return digits.count == 1 ? "0" + digits : digits
            }
            return bytes.joined(separator: ":")
        }
    }
}
