/// A UUID as attributes and advertising data carry it. The 16-bit form stands for its place in the Bluetooth base
/// UUID, so both forms of one UUID are equal (Core Specification, Vol 3 Part B 2.5.1).
public struct BluetoothUUID: Hashable, Sendable {
    /// As written: the first and the last 64 bits.
    public let high: UInt64
    public let low: UInt64

    /// Release builds of both phone applications (chapter 03 A1).
    public static let meshService = BluetoothUUID(high: 0xF47B_5E2D_4A9E_4C5A, low: 0x9B3F_8E1D_2C3A_4B5C)
    /// Debug builds of the iOS application: a mesh of its own, for a laboratory (chapter 03 A1).
    public static let debugMeshService = BluetoothUUID(high: 0xF47B_5E2D_4A9E_4C5A, low: 0x9B3F_8E1D_2C3A_4B5A)
    /// The one characteristic of either service (chapter 03 A1).
    public static let meshCharacteristic = BluetoothUUID(high: 0xA1B2_C3D4_E5F6_4A5B, low: 0x8C9D_0E1F_2A3B_4C5D)

    private static let baseHigh: UInt64 = 0x0000_0000_0000_1000
    private static let baseLow: UInt64 = 0x8000_0080_5F9B_34FB

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    public init(_ short: UInt16) {
        self.init(high: BluetoothUUID.baseHigh | UInt64(short) << 32, low: BluetoothUUID.baseLow)
    }

    /// Two or sixteen bytes as they travel, least significant first; nil for any other number.
    public init?(littleEndian bytes: some BidirectionalCollection<UInt8>) {
        switch bytes.count {
        case 2: self.init(bytes.reversed().reduce(UInt16(0)) { $0 << 8 | UInt16($1) })
        case 16:
            let reversed = bytes.reversed()
            self.init(
                high: reversed.prefix(8).reduce(0) { $0 << 8 | UInt64($1) },
                low: reversed.suffix(8).reduce(0) { $0 << 8 | UInt64($1) })
        default: return nil
        }
    }

    /// The 16-bit form, if there is one.
    public var short: UInt16? {
        guard low == BluetoothUUID.baseLow, high & 0xFFFF_0000_FFFF_FFFF == BluetoothUUID.baseHigh else { return nil }
        return UInt16(truncatingIfNeeded: high >> 32)
    }

    /// Sixteen bytes as they travel in ATT and in advertising data.
    public var longBytes: [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: low >> (8 * UInt64($0))) }
            + (0..<8).map { UInt8(truncatingIfNeeded: high >> (8 * UInt64($0))) }
    }

    /// The shortest form, two or sixteen bytes.
    public var bytes: [UInt8] {
        guard let short else { return longBytes }
        return [UInt8(truncatingIfNeeded: short), UInt8(short >> 8)]
    }
}
