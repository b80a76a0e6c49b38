import Basics

/// An address with its type as management messages carry it: seven bytes. BR/EDR ones occur too, and are only ever
/// sent back.
public struct ManagementAddress: Hashable, Sendable {
    public let value: UInt64
    /// 0 BR/EDR, 1 LE public, 2 LE random.
    public let type: UInt8

    public init(value: UInt64, type: UInt8) {
        self.value = value & 0xFFFF_FFFF_FFFF
        self.type = type
    }

    public init(_ address: BluetoothAddress) { self.init(value: address.value, type: address.kind.rawValue) }

    static let size = 7
    /// Stands for every device.
    static let any = ManagementAddress(value: 0, type: 0)

    init?(_ reader: inout ByteReader) {
        guard let value = reader.readLittleEndian(bytes: 6), let type = reader.readUInt8() else { return nil }
        self.init(value: value, type: type)
    }

    /// nil for anything but LE.
    public var lowEnergy: BluetoothAddress? {
        BluetoothAddress.Kind(rawValue: type).map { BluetoothAddress(value: value, kind: $0) }
    }

    var bytes: [UInt8] { ManagementAddress.bytes(of: value) + [type] }

    /// Six bytes in the order of the air.
    static func bytes(of value: UInt64) -> [UInt8] { (0..<6).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
}
