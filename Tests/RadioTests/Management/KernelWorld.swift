import Basics
import EventLoop

@testable import Radio

/// Adapters of the real channel, in virtual time, over a pair of sockets at whose other end scripted controllers are.
final class KernelWorld {
    let loop = EmbeddedLoop()
    let kernel = FakeKernel()
    let directory: AdapterDirectory
    let switches: SwitchFolder
    private(set) var controllers: [UInt16: ScriptedController] = [:]
    private(set) var given: [any AdapterPort] = []
    let log = AdapterLog()
    private var answered = 0

    init(choices: [AdapterChoice] = [], isAlwaysRandom: Bool = false, antennas: AntennaSurvey? = nil) throws {
        switches = try SwitchFolder()
        directory = AdapterDirectory(
            loop: loop, choices: choices,
            configuration: AdapterConfiguration(
                ownAddress: OwnAddress(seed: EngineWorld.seed, isAlwaysRandom: isAlwaysRandom)),
            channel: ManagementChannel(loop: loop, open: kernel.open), switches: RadioSwitches(path: switches.path),
            antennas: antennas ?? AntennaSurvey(root: switches.path))
    }

    /// A radio over these adapters, instead of the log.
    func radio(over ether: Ether) -> BluetoothRadio {
        BluetoothRadio(
            loop: loop, configuration: BluetoothConfiguration(), source: directory, sockets: ether.port(),
            random: SeededRandom(seed: 1))
    }

    /// A phone that offers the mesh service advertises.
    func advertise(_ phone: BluetoothAddress, to index: UInt16) {
        let data = AdvertisingData.advertisement(service: .meshService)
        var report = ManagementAddress(phone).bytes + [0xb0, 0, 0, 0, 0]
        report.append(littleEndian: UInt16(data.count))
        kernel.say(0x12, index, report + data)
        settle()
    }

    deinit { directory.stop() }

    func start() {
        directory.start { [unowned self] adapter in
            self.given.append(adapter)
            adapter.delegate = self.log
            adapter.start()
        }
        settle()
    }

    /// Lets both sides talk until neither has anything to say.
    func settle() {
        var isTalking = true
        while isTalking {
            loop.pollDescriptors()
            isTalking = answer()
        }
    }

    func advance(by span: Interval) {
        let step = Interval.milliseconds(100)
        var left = span
        while left > .zero {
            loop.advance(by: min(step, left))
            left = left - step
            settle()
        }
    }

    func plugIn(_ index: UInt16, address: UInt64, isAnnounced: Bool = true) {
        controllers[index] = ScriptedController(publicAddress: address)
        if isAnnounced { kernel.say(4, index, []) }
        settle()
    }

    func pullOut(_ index: UInt16, isAnnounced: Bool = true) {
        controllers[index] = nil
        if isAnnounced { kernel.say(5, index, []) }
        settle()
    }

    private func answer() -> Bool {
        kernel.receive()
        let new = kernel.commands[answered...]
        answered = kernel.commands.count
        for (code, index, parameters) in new { answer(code, index, parameters) }
        return !new.isEmpty
    }

    private func answer(_ code: UInt16, _ index: UInt16, _ parameters: [UInt8]) {
        switch (code, index) {
        case (1, ManagementCommand.noController): kernel.complete(code, index, [1, 23, 0])
        case (2, ManagementCommand.noController):
            let codes = EngineWorld.everyCommand.sorted()
            kernel.complete(code, index, [UInt8(codes.count), 0, 0, 0] + codes.flatMap { [UInt8($0), 0] })
        case (3, ManagementCommand.noController):
            let list = controllers.keys.sorted()
            kernel.complete(code, index, [UInt8(list.count), 0] + list.flatMap { [UInt8($0), 0] })
        default:
            guard let controller = controllers[index] else { return kernel.refuse(code, index, .invalidIndex) }
            guard let command = ManagementCommand(code: code, parameters: parameters) else {
                return kernel.refuse(code, index, .unknownCommand)
            }
            switch controller.answer(command) {
            case .success(let answer): kernel.complete(code, index, answer)
            case .refused(let status): kernel.refuse(code, index, status)
            case .timedOut, .lost, nil: break
            }
        }
    }
}

extension ManagementCommand {
    /// What a controller needs to see of a command.
    fileprivate init?(code: UInt16, parameters: [UInt8]) {
        let isOn = parameters.first == 1
        let instance = AdvertisingInstance(number: parameters.first ?? 0, advertisement: [])
        let simple: [UInt16: ManagementCommand] = [
            4: .readInformation, 5: .setPowered(isOn), 9: .setBondable(isOn), 0x0d: .setLowEnergy(isOn),
            0x13: .forgetLongTermKeys, 0x15: .readConnections, 0x18: .setInputOutputCapability(3),
            0x23: .startDiscovery, 0x24: .stopDiscovery, 0x29: .setAdvertising(isOn), 0x2a: .setClassic(isOn),
            0x2b: .setStaticAddress(parameters.reversed().reduce(0) { $0 << 8 | UInt64($1) }), 0x2f: .setPrivacyOff,
            0x30: .forgetIdentityKeys, 0x34: .forgetDevices, 0x3a: .startServiceDiscovery(.meshService),
            0x3d: .readAdvertisingFeatures, 0x3e: .addAdvertising(instance),
            0x3f: .removeAdvertising(instance.number), 0x4c: .setDefaults([]),
            0x54: .setAdvertisingParameters(instance), 0x55: .setAdvertisingData(instance),
        ]
        guard let command = simple[code] else { return nil }
        self = command
    }
}

/// What adapters told their delegate, as text.
final class AdapterLog: AdapterPortDelegate {
    private(set) var lines: [String] = []
    var onUp: (() -> Void)?

    func take() -> [String] {
        defer { lines.removeAll() }
        return lines
    }

    private func note(_ adapter: any AdapterPort, _ text: String) { lines.append("hci\(adapter.index) \(text)") }

    func adapterUp(_ adapter: any AdapterPort, address: BluetoothAddress) {
        note(adapter, "up")
        onUp?()
    }

    func adapterDown(_ adapter: any AdapterPort) { note(adapter, "down") }
    func adapterClearedAir(_ adapter: any AdapterPort) { note(adapter, "clear") }
    func adapter(_ adapter: any AdapterPort, heard sighting: Sighting) { note(adapter, "heard") }
    func adapter(_ adapter: any AdapterPort, connected address: BluetoothAddress) { note(adapter, "connected") }
    func adapter(_ adapter: any AdapterPort, disconnected address: BluetoothAddress, reason: UInt8) {
        note(adapter, "disconnected \(reason)")
    }
    func adapter(_ adapter: any AdapterPort, connectFailed address: BluetoothAddress, status: UInt8) {
        note(adapter, "failed \(status)")
    }
}
