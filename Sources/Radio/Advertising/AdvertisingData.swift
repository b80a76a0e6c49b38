import Basics

/// Advertising data or a scan response, or both joined as the kernel reports them: a row of AD structures (chapter 03
/// A4; Core Specification, Vol 3 Part C 11).
public struct AdvertisingData: Equatable, Sendable {
    /// Whether the service is in a list of 128-bit UUIDs (0x06, 0x07) or has service data (0x21).
    public let offersMesh: Bool
    /// The eight bytes of service data, most significant first: whom the advertiser claims to be. It proves nothing.
    public let peerHint: UInt64?

    /// Reads what concerns the mesh. A structure that runs past the end ends the reading; zeros between structures are
    /// passed over, since the kernel puts the scan response behind whatever fills the advertising data up.
    public init(parsing bytes: UnsafeRawBufferPointer, service: BluetoothUUID = .meshService) {
        var reader = ByteReader(bytes)
        var offersMesh = false
        var peerHint: UInt64?
        while let length = reader.readUInt8() {
            guard length > 0 else { continue }
            guard let structure = reader.readView(Int(length)) else { break }
            var reader = ByteReader(structure)
            switch reader.readUInt8().flatMap(StructureType.init) {
            case .incompleteServiceList, .completeServiceList:
                while let uuid = AdvertisingData.readUUID(&reader) {
                    if uuid == service { offersMesh = true }
                }
            case .serviceData:
                guard AdvertisingData.readUUID(&reader) == service else { continue }
                offersMesh = true
                if peerHint == nil, reader.remaining == 8 { peerHint = reader.readUInt64() }
            case nil: continue
            }
        }
        self.offersMesh = offersMesh
        self.peerHint = peerHint
    }

    /// Those read here, of 128-bit UUIDs each (chapter 03 A4).
    private enum StructureType: UInt8 {
        case incompleteServiceList = 0x06
        case completeServiceList = 0x07
        case serviceData = 0x21
    }

    /// Sixteen bytes; nil where fewer are left.
    private static func readUUID(_ reader: inout ByteReader) -> BluetoothUUID? {
        guard let low = reader.readLittleEndian(UInt64.self), let high = reader.readLittleEndian(UInt64.self) else {
            return nil
        }
        return BluetoothUUID(high: high, low: low)
    }

    /// What we advertise: flags, and the service in a complete list of UUIDs; no name, no manufacturer data, and no
    /// scan response, which would tell every listener who we are (chapter 03 A3). 21 bytes. The kernel refuses flags of
    /// a caller's own where it adds them itself: leave them out then.
    public static func advertisement(service: BluetoothUUID = .meshService, withFlags: Bool = true) -> [UInt8] {
        (withFlags ? [0x02, 0x01, 0x06] : []) + [0x11, 0x07] + service.longBytes
    }
}
