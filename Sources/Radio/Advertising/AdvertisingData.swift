/// Advertising data or a scan response, or both joined as the kernel reports them: a row of AD structures (chapter 03
/// A4; Core Specification, Vol 3 Part C 11).
public struct AdvertisingData: Equatable, Sendable {
    /// Whether the service is in a list of 128-bit UUIDs (0x06, 0x07) or has service data (0x21).
    public let offersMesh: Bool
    /// The eight bytes of service data, most significant first: whom the advertiser claims to be. It proves nothing.
    public let peerHint: UInt64?

    /// Reads what concerns the mesh; what is damaged is left out.
    public init(parsing bytes: UnsafeRawBufferPointer, service: BluetoothUUID = .meshService) {
        offersMesh = false
        peerHint = nil
    }

    /// What we advertise: flags, and the service in a complete list of UUIDs; no name, no manufacturer data (chapter 03
    /// A3). 21 bytes. The kernel refuses flags of a caller's own where it adds them itself: leave them out then.
    public static func advertisement(service: BluetoothUUID = .meshService, withFlags: Bool = true) -> [UInt8] {
        (withFlags ? [0x02, 0x01, 0x06] : []) + [0x11, 0x07] + service.longBytes
    }

    /// The optional scan response: who we are, to anybody who listens (chapter 03 A3). 26 bytes.
    public static func scanResponse(service: BluetoothUUID = .meshService, peer: UInt64) -> [UInt8] {
        [0x19, 0x21] + service.longBytes + withUnsafeBytes(of: peer.bigEndian) { [UInt8]($0) }
    }
}
