/// A Bluetooth LE device address with its type. It identifies a person's phone: it is never logged, and never leaves
/// the process except to the kernel.
public struct BluetoothAddress: Hashable, Sendable {
    /// As the kernel numbers them in management messages and socket addresses.
    public enum Kind: UInt8, Sendable {
        case `public` = 1
        case random = 2
    }

    /// The six bytes in the order of the air, least significant first, as an integer.
    public let value: UInt64
    public let kind: Kind

    public init(value: UInt64, kind: Kind) {
        self.value = value & 0xFFFF_FFFF_FFFF
        self.kind = kind
    }
}
