import Basics

/// How an adapter presents itself.
public struct AdapterConfiguration: Sendable {
    /// The service that is advertised and looked for (chapter 03 A1).
    public var service: BluetoothUUID
    public var ownAddress: OwnAddress

    public init(service: BluetoothUUID = .meshService, ownAddress: OwnAddress) {
        self.service = service
        self.ownAddress = ownAddress
    }
}

/// The address an adapter has on the air: the controller's public one, or a static random one. A seed gives every
/// controller another one; with a new seed, as after a panic wipe, all of them change (chapter 03 A13.1).
public struct OwnAddress: Sendable {
    public static let seedSize = 32
    private let seed: [UInt8]
    /// Even where the controller has a public address.
    public let isAlwaysRandom: Bool

    /// - Parameter seed: `seedSize` random bytes, not derived from any identity that goes on the air.
    public init(seed: [UInt8], isAlwaysRandom: Bool = false) {
        self.seed = seed
        self.isAlwaysRandom = isAlwaysRandom
    }

    /// The static random address of an adapter, by its place among those of the process: 46 bits of the seed's hash
    /// under the two bits that mark such an address (Core Specification, Vol 6 Part B 1.3.2.1).
    func staticAddress(ofAdapter place: UInt16) -> UInt64 {
        var hash = SHA256.Stream()
        hash.update(seed)
        hash.update(bigEndian: place)
        let number = hash.finish().prefix(6).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } & 0x3FFF_FFFF_FFFF
        // All zeros and all ones are no addresses.
        let isReserved = number == 0 || number == 0x3FFF_FFFF_FFFF
        return 0xC000_0000_0000 | (isReserved ? 1 : number)
    }
}
