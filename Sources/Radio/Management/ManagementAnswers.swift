import Basics

/// The version of the management interface (mgmt-api, "Read Management Version Information").
public struct ManagementVersion: Hashable, Sendable {
    public let version: UInt8
    public let revision: UInt16

    public init?(parsing bytes: [UInt8]) {
        guard bytes.count >= 3 else { return nil }
        version = bytes[0]
        revision = UInt16(bytes[1]) | UInt16(bytes[2]) << 8
    }
}

/// The codes of the commands this kernel knows (mgmt-api, "Read Management Supported Commands"), without the two that
/// every kernel knows.
public struct ManagementCommandList: Hashable, Sendable {
    public let commands: Set<UInt16>

    public init?(parsing bytes: [UInt8]) {
        let commands: Set<UInt16>? = bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard let count = reader.readLittleEndian(UInt16.self), reader.skip(2),
                Int(count) <= reader.remaining / 2
            else { return nil }
            return Set((0..<count).compactMap { _ in reader.readLittleEndian(UInt16.self) })
        }
        guard let commands else { return nil }
        self.commands = commands
    }
}

/// The controllers there are, without those that are still being prepared or held exclusively by somebody (mgmt-api,
/// "Read Controller Index List").
public struct ControllerList: Hashable, Sendable {
    /// Ascending.
    public let indexes: [UInt16]

    public init?(parsing bytes: [UInt8]) {
        let indexes: [UInt16]? = bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard let count = reader.readLittleEndian(UInt16.self), Int(count) <= reader.remaining / 2 else {
                return nil
            }
            return (0..<min(Int(count), ManagementLimits.listEntries)).compactMap { _ in
                reader.readLittleEndian(UInt16.self)
            }
        }
        guard let indexes else { return nil }
        self.indexes = indexes.sorted()
    }
}

/// A controller as the kernel knows it (mgmt-api, "Read Controller Information"), without its names.
public struct ControllerInformation: Hashable, Sendable {
    /// The public address; nil when the controller has none.
    public let address: BluetoothAddress?
    /// HCI version: 6 is Bluetooth 4.0, 9 is 5.0.
    public let version: UInt8
    /// Company identifier of the maker.
    public let manufacturer: UInt16
    public let supported: AdapterSettings
    public let current: AdapterSettings

    public init(
        address: BluetoothAddress?, version: UInt8 = 9, manufacturer: UInt16 = 0, supported: AdapterSettings,
        current: AdapterSettings
    ) {
        self.address = address
        self.version = version
        self.manufacturer = manufacturer
        self.supported = supported
        self.current = current
    }

    public init?(parsing bytes: [UInt8]) {
        let parsed: ControllerInformation? = bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard let value = reader.readLittleEndian(bytes: 6), let version = reader.readUInt8(),
                let manufacturer = reader.readLittleEndian(UInt16.self),
                let supported = reader.readLittleEndian(UInt32.self),
                let current = reader.readLittleEndian(UInt32.self)
            else { return nil }
            return ControllerInformation(
                address: value == 0 ? nil : BluetoothAddress(value: value, kind: .public), version: version,
                manufacturer: manufacturer, supported: AdapterSettings(rawValue: supported),
                current: AdapterSettings(rawValue: current))
        }
        guard let parsed else { return nil }
        self = parsed
    }
}

/// What advertising a controller and this kernel can do, and which instances there are (mgmt-api, "Read Advertising
/// Features").
public struct AdvertisingFeatures: Hashable, Sendable {
    public let flags: UInt32
    public let mostInstances: UInt8
    public let instances: [UInt8]

    public init(flags: UInt32 = 1, mostInstances: UInt8 = 5, instances: [UInt8]) {
        self.flags = flags
        self.mostInstances = mostInstances
        self.instances = instances
    }

    /// Whether phones can connect to what it advertises.
    public var canBeConnected: Bool { flags & 1 != 0 && mostInstances > 0 }

    public init?(parsing bytes: [UInt8]) {
        let parsed: AdvertisingFeatures? = bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard let flags = reader.readLittleEndian(UInt32.self), reader.skip(2), let most = reader.readUInt8(),
                let count = reader.readUInt8(), let instances = reader.readBytes(Int(count))
            else { return nil }
            return AdvertisingFeatures(flags: flags, mostInstances: most, instances: instances)
        }
        guard let parsed else { return nil }
        self = parsed
    }
}

/// The link-layer connections of a controller (mgmt-api, "Get Connections").
public struct ConnectionList: Hashable, Sendable {
    public let addresses: [ManagementAddress]

    public init?(parsing bytes: [UInt8]) {
        let addresses: [ManagementAddress]? = bytes.withUnsafeBytes { bytes in
            var reader = ByteReader(bytes)
            guard let count = reader.readLittleEndian(UInt16.self),
                Int(count) <= reader.remaining / ManagementAddress.size
            else { return nil }
            return (0..<min(Int(count), ManagementLimits.listEntries)).compactMap { _ in ManagementAddress(&reader) }
        }
        guard let addresses else { return nil }
        self.addresses = addresses
    }
}
