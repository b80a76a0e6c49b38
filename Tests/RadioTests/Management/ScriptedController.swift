import Basics

@testable import Radio

/// A controller and the kernel in front of it, as far as commands are concerned: does what it is told, or misbehaves
/// as the test says.
final class ScriptedController {
    var information: ControllerInformation
    var isPowered = false
    /// Instances that have data, and those that have parameters only.
    private(set) var instances: Set<UInt8> = []
    private var prepared: Set<UInt8> = []
    private(set) var isDiscovering = false
    private(set) var staticAddress: UInt64 = 0
    var settings: AdapterSettings
    var connections: [ManagementAddress] = []

    /// Answers instead of its own, by command code.
    var refusals: [UInt16: ManagementStatus] = [:]
    /// Commands it never answers.
    var mute: Set<UInt16> = []
    var isMute = false
    /// A discovery that never ends by itself, or says nothing when it does.
    var forgetsDiscovery = false
    /// Discovery can neither be started nor stopped until the power was off.
    var hasStuckScan = false
    var isBlocked = false

    private(set) var discoveries = 0
    var publicAddress: UInt64?

    init(
        supported: AdapterSettings = [
            .powered, .connectable, .bondable, .classic, .lowEnergy, .privacy, .staticAddress,
        ],
        settings: AdapterSettings = [.bondable, .classic, .lowEnergy], publicAddress: UInt64? = 0x0200_A15E_0001
    ) {
        self.settings = settings.subtracting(.powered)
        self.publicAddress = publicAddress
        isPowered = settings.contains(.powered)
        information = ControllerInformation(address: nil, supported: supported, current: settings)
    }

    var currentSettings: AdapterSettings {
        var current = settings.subtracting([.powered, .staticAddress])
        if isPowered { current.insert(.powered) }
        if staticAddress != 0 { current.insert(.staticAddress) }
        return current
    }

    /// nil when it does not answer.
    func answer(_ command: ManagementCommand) -> ManagementOutcome? {
        guard !isMute, !mute.contains(command.code) else { return nil }
        if let status = refusals[command.code] { return .refused(status) }
        switch command {
        case .readInformation: return .success(informationBytes)
        case .setPowered(let isOn): return power(isOn)
        case .setLowEnergy(let isOn): return set(.lowEnergy, isOn)
        case .setClassic(let isOn): return isPowered ? .refused(.rejected) : set(.classic, isOn)
        case .setBondable(let isOn): return set(.bondable, isOn)
        case .setPrivacyOff: return isPowered ? .refused(.rejected) : set(.privacy, false)
        case .setAdvertising(let isOn): return set(.advertising, isOn)
        case .setStaticAddress(let value):
            guard !isPowered else { return .refused(.rejected) }
            staticAddress = value
            return .success([])
        case .readAdvertisingFeatures:
            let list = instances.union(prepared).sorted()
            return .success([3, 0, 0, 0, 31, 31, 5, UInt8(list.count)] + list)
        case .setAdvertisingParameters(let instance):
            guard isPowered else { return .refused(.rejected) }
            instances.remove(instance.number)
            prepared.insert(instance.number)
            return .success([instance.number, 0x7f, 28, 31])
        case .setAdvertisingData(let instance):
            guard prepared.remove(instance.number) != nil else { return .refused(.invalidParameters) }
            instances.insert(instance.number)
            return .success([instance.number])
        case .addAdvertising(let instance):
            instances.insert(instance.number)
            return .success([instance.number])
        case .removeAdvertising(let number): return remove(number)
        case .startDiscovery, .startServiceDiscovery:
            guard isPowered else { return .refused(.notPowered) }
            guard !isDiscovering, !hasStuckScan else { return .refused(.busy) }
            isDiscovering = true
            discoveries += 1
            return .success([6])
        case .stopDiscovery:
            guard isDiscovering else { return .refused(.rejected) }
            isDiscovering = false
            return .success([6])
        case .readConnections:
            return .success([UInt8(connections.count), 0] + connections.flatMap(\.bytes))
        default: return .success([])
        }
    }

    /// As after 10.24 s.
    func endDiscovery() { isDiscovering = false }

    /// Behind everybody's back.
    func loseInstances() {
        instances.removeAll()
        prepared.removeAll()
    }

    func addForeignInstance(_ number: UInt8) { instances.insert(number) }

    private func power(_ isOn: Bool) -> ManagementOutcome {
        if isOn, isBlocked { return .refused(.blocked) }
        isPowered = isOn
        if !isOn {
            isDiscovering = false
            hasStuckScan = false
            connections.removeAll()
        }
        return .success([])
    }

    private func set(_ setting: AdapterSettings, _ isOn: Bool) -> ManagementOutcome {
        if isOn { settings.insert(setting) } else { settings.remove(setting) }
        return .success([])
    }

    private func remove(_ number: UInt8) -> ManagementOutcome {
        // The kernel fails in the call itself while the controller is off.
        guard isPowered else { return .refused(.failed) }
        let all = instances.union(prepared)
        guard number == 0 ? !all.isEmpty : all.contains(number) else { return .refused(.invalidParameters) }
        if number == 0 { loseInstances() }
        instances.remove(number)
        prepared.remove(number)
        return .success([number])
    }

    private var informationBytes: [UInt8] {
        var bytes = ManagementAddress.bytes(of: publicAddress ?? 0)
        bytes.append(information.version)
        bytes.append(littleEndian: information.manufacturer)
        bytes.append(littleEndian: information.supported.rawValue)
        bytes.append(littleEndian: currentSettings.rawValue)
        return bytes + [UInt8](repeating: 0, count: 263)
    }
}
