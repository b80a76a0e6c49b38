import Basics

/// A request to the kernel's management channel (mgmt-api, "Commands"), as far as an adapter that speaks only LE
/// needs them.
public enum ManagementCommand: Hashable, Sendable {
    // To the kernel as a whole.
    case readVersion
    case readCommands
    case readIndexList

    // To one controller.
    case readInformation
    case setPowered(Bool)
    case setConnectable(Bool)
    case setBondable(Bool)
    case setLowEnergy(Bool)
    /// BR/EDR.
    case setClassic(Bool)
    /// Advertising outside of instances.
    case setAdvertising(Bool)
    /// A static random address, least significant byte first in the integer; 0 takes it back.
    case setStaticAddress(UInt64)
    case setPrivacyOff
    /// 3: neither input nor output, with which the kernel asks nobody anything.
    case setInputOutputCapability(UInt8)
    case forgetLongTermKeys
    case forgetIdentityKeys
    case forgetDevices
    case setDefaults([DefaultParameter])
    case disconnect(ManagementAddress)
    case readConnections
    /// Hears every LE advertiser.
    case startDiscovery
    /// Hears LE advertisers with the service in a list of UUIDs.
    case startServiceDiscovery(BluetoothUUID)
    case stopDiscovery
    case readAdvertisingFeatures
    case addAdvertising(AdvertisingInstance)
    /// First half of adding an instance whose interval is chosen.
    case setAdvertisingParameters(AdvertisingInstance)
    /// Second half.
    case setAdvertisingData(AdvertisingInstance)
    /// 0 removes all.
    case removeAdvertising(UInt8)
    case denyPIN(ManagementAddress)
    case denyConfirmation(ManagementAddress)
    case denyPasskey(ManagementAddress)

    /// Index of commands that concern no controller.
    public static let noController: UInt16 = 0xffff
    /// LE public and LE random, as a set of bits.
    private static let lowEnergyTypes: UInt8 = 0x06
    /// In place of an RSSI: any.
    private static let anySignal: UInt8 = 127

    public var code: UInt16 {
        switch self {
        case .readVersion: 0x01
        case .readCommands: 0x02
        case .readIndexList: 0x03
        case .readInformation: 0x04
        case .setPowered: 0x05
        case .setConnectable: 0x07
        case .setBondable: 0x09
        case .setLowEnergy: 0x0d
        case .forgetLongTermKeys: 0x13
        case .disconnect: 0x14
        case .readConnections: 0x15
        case .denyPIN: 0x17
        case .setInputOutputCapability: 0x18
        case .denyConfirmation: 0x1d
        case .denyPasskey: 0x1f
        case .startDiscovery: 0x23
        case .stopDiscovery: 0x24
        case .setAdvertising: 0x29
        case .setClassic: 0x2a
        case .setStaticAddress: 0x2b
        case .setPrivacyOff: 0x2f
        case .forgetIdentityKeys: 0x30
        case .forgetDevices: 0x34
        case .startServiceDiscovery: 0x3a
        case .readAdvertisingFeatures: 0x3d
        case .addAdvertising: 0x3e
        case .removeAdvertising: 0x3f
        case .setDefaults: 0x4c
        case .setAdvertisingParameters: 0x54
        case .setAdvertisingData: 0x55
        }
    }

    public var parameters: [UInt8] {
        switch self {
        case .readVersion, .readCommands, .readIndexList, .readInformation, .readConnections, .readAdvertisingFeatures:
            return []
        case .setPowered(let isOn), .setConnectable(let isOn), .setBondable(let isOn), .setLowEnergy(let isOn),
            .setClassic(let isOn), .setAdvertising(let isOn):
            return [isOn ? 1 : 0]
        case .setStaticAddress(let value): return ManagementAddress.bytes(of: value)
        case .setPrivacyOff: return [UInt8](repeating: 0, count: 17)
        case .setInputOutputCapability(let capability): return [capability]
        case .forgetLongTermKeys, .forgetIdentityKeys: return [0, 0]
        case .forgetDevices: return ManagementAddress.any.bytes
        case .setDefaults(let list): return list.flatMap(\.bytes)
        case .disconnect(let address), .denyPIN(let address), .denyConfirmation(let address),
            .denyPasskey(let address):
            return address.bytes
        case .startDiscovery, .stopDiscovery: return [ManagementCommand.lowEnergyTypes]
        case .startServiceDiscovery(let service):
            return [ManagementCommand.lowEnergyTypes, ManagementCommand.anySignal, 1, 0] + service.longBytes
        case .addAdvertising(let instance): return instance.whole
        case .setAdvertisingParameters(let instance): return instance.parameters
        case .setAdvertisingData(let instance): return instance.data
        case .removeAdvertising(let number): return [number]
        }
    }

    /// The message as it is written to the socket.
    public func message(to index: UInt16) -> [UInt8] {
        let parameters = parameters
        var message: [UInt8] = []
        message.append(littleEndian: code)
        message.append(littleEndian: index)
        message.append(littleEndian: UInt16(clamping: parameters.count))
        return message + parameters
    }

    /// How long the kernel may take.
    var limit: Interval {
        if case .setPowered = self { return ManagementLimits.powerLimit }
        return isAnsweredAtOnce ? ManagementLimits.readLimit : ManagementLimits.commandLimit
    }

    /// Whether the kernel answers out of its own memory, without waiting for the commands before it.
    var isAnsweredAtOnce: Bool {
        switch self {
        case .readVersion, .readCommands, .readIndexList, .readInformation, .readConnections, .readAdvertisingFeatures:
            true
        default: false
        }
    }
}

/// A default of the controller's parameters (mgmt-api, "Set Default System Configuration").
public struct DefaultParameter: Hashable, Sendable {
    public let type: UInt16
    public let value: UInt16

    public init(type: UInt16, value: UInt16) {
        self.type = type
        self.value = value
    }

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: type)
        bytes.append(2)
        bytes.append(littleEndian: value)
        return bytes
    }

    /// Advertising 100–152.5 ms (chapter 03 A3); scanning 30 ms of every 60 (A4); as central 15–30 ms, no latency,
    /// supervision 5 s (A13.1) instead of the kernel's 420 ms, which loses links that are well.
    static let mesh = [
        DefaultParameter(type: 0x000a, value: AdvertisingInstance.intervals.least),
        DefaultParameter(type: 0x000b, value: AdvertisingInstance.intervals.most),
        DefaultParameter(type: 0x0011, value: 96),
        DefaultParameter(type: 0x0012, value: 48),
        DefaultParameter(type: 0x0017, value: 12),
        DefaultParameter(type: 0x0018, value: 24),
        DefaultParameter(type: 0x0019, value: 0),
        DefaultParameter(type: 0x001a, value: 500),
    ]
}

/// What an advertising instance says. The kernel puts the flags field in front of it: general discoverable, and "BR/EDR
/// not supported" as long as that is off.
public struct AdvertisingInstance: Hashable, Sendable {
    public let number: UInt8
    public let advertisement: [UInt8]
    public let scanResponse: [UInt8]

    /// - Parameters:
    ///   - advertisement: at most 28 bytes, without the flags field.
    ///   - scanResponse: at most 31 bytes; empty for none.
    public init(number: UInt8, advertisement: [UInt8], scanResponse: [UInt8] = []) {
        self.number = number
        self.advertisement = [UInt8](advertisement.prefix(AdvertisingInstance.advertisementRoom))
        self.scanResponse = [UInt8](scanResponse.prefix(AdvertisingInstance.responseRoom))
    }

    static let advertisementRoom = 28
    static let responseRoom = 31
    /// 100 and 152.5 ms in units of 0.625 ms (chapter 03 A3).
    static let intervals: (least: UInt16, most: UInt16) = (160, 244)

    private static let connectable: UInt32 = 1 << 0
    private static let discoverable: UInt32 = 1 << 1
    private static let choosesInterval: UInt32 = 1 << 14
    private static let hasScanResponse: UInt32 = 1 << 16
    /// In place of a transmit power: no preference.
    private static let anyPower: UInt8 = 0x7f

    var whole: [UInt8] {
        var bytes = [number]
        bytes.append(littleEndian: AdvertisingInstance.connectable | AdvertisingInstance.discoverable)
        bytes += [0, 0, 0, 0]
        return bytes + sizes + advertisement + scanResponse
    }

    var parameters: [UInt8] {
        var flags = AdvertisingInstance.connectable | AdvertisingInstance.discoverable
        flags |= AdvertisingInstance.choosesInterval
        if !scanResponse.isEmpty { flags |= AdvertisingInstance.hasScanResponse }
        var bytes = [number]
        bytes.append(littleEndian: flags)
        bytes += [0, 0, 0, 0]
        bytes.append(littleEndian: UInt32(AdvertisingInstance.intervals.least))
        bytes.append(littleEndian: UInt32(AdvertisingInstance.intervals.most))
        bytes.append(AdvertisingInstance.anyPower)
        return bytes
    }

    var data: [UInt8] { [number] + sizes + advertisement + scanResponse }

    private var sizes: [UInt8] { [UInt8(clamping: advertisement.count), UInt8(clamping: scanResponse.count)] }
}
