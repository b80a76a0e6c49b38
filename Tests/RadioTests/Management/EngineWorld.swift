import Basics
import XCTest

@testable import Radio

/// An adapter's engine and a scripted controller in virtual time.
final class EngineWorld {
    var engine: AdapterEngine
    let controller: ScriptedController
    private(set) var now = Instant(nanoseconds: 1_000_000_000)
    private let origin: Instant
    /// Every command with the time it went out.
    private(set) var commands: [(at: Interval, command: ManagementCommand)] = []
    /// What the delegate would have heard.
    private(set) var news: [AdapterEffect] = []
    var block = RadioBlock.none
    private var agenda = DeadlineQueue<() -> Void>()

    static let seed = [UInt8](repeating: 7, count: OwnAddress.seedSize)
    static let everyCommand = Set(UInt16(1)...UInt16(0x5a))

    init(
        _ controller: ScriptedController = ScriptedController(),
        configuration: AdapterConfiguration = AdapterConfiguration(ownAddress: OwnAddress(seed: EngineWorld.seed))
    ) {
        self.controller = controller
        engine = AdapterEngine(place: 0, configuration: configuration)
        origin = now
    }

    /// Started, with its controller, ready.
    static func ready(
        _ controller: ScriptedController = ScriptedController(),
        configuration: AdapterConfiguration = AdapterConfiguration(ownAddress: OwnAddress(seed: EngineWorld.seed))
    ) -> EngineWorld {
        let world = EngineWorld(controller, configuration: configuration)
        world.plugIn()
        world.input { $0.start(at: $1) }
        world.advance(by: .seconds(1))
        XCTAssertEqual(world.engine.phase, .ready)
        world.forget()
        return world
    }

    /// Forgets what was logged.
    func forget() {
        commands.removeAll()
        news.removeAll()
    }

    func plugIn() { input { $0.appeared(knownCommands: EngineWorld.everyCommand, at: $1) } }
    func unplug() { input { $0.disappeared(at: $1) } }
    func hear(_ event: ManagementEvent) { input { $0.heard(event, at: $1) } }

    var codes: [UInt16] { commands.map(\.command.code) }
    func times(of code: UInt16) -> [Interval] { commands.filter { $0.command.code == code }.map(\.at) }
    var state: AdapterStatus.State { engine.status.state }
    func count(_ event: AdapterEvent) -> UInt64 { engine.counters[event] }

    func input(_ body: (inout AdapterEngine, Instant) -> Void) {
        body(&engine, now)
        drain()
    }

    /// Plays everything due within `span`.
    func advance(by span: Interval) {
        let end = now + span
        var turns = 0
        while true {
            let next = [agenda.nextDeadline, engine.nextDeadline].compactMap { $0 }.min()
            guard let next, next <= end else { break }
            turns = next <= now ? turns + 1 : 0
            guard turns < 1_000 else { return XCTFail("something is due again and again at one instant") }
            now = max(now, next)
            while let action = agenda.takeDue(at: now) { action() }
            if let deadline = engine.nextDeadline, deadline <= now { input { $0.timeout(at: $1) } }
        }
        now = end
    }

    func advance(to time: Interval) { advance(by: origin + time - now) }

    /// Runs later, at a time of its own.
    func schedule(after delay: Interval, _ action: @escaping () -> Void) { agenda.add(action, due: now + delay) }

    private func drain() {
        while let effect = engine.nextEffect() {
            switch effect {
            case .send(let command, let token):
                commands.append((now - origin, command))
                carryOut(command, token)
            case .post(let command):
                commands.append((now - origin, command))
                _ = controller.answer(command)
            case .readSwitch: engine.switchRead(block, at: now)
            default: news.append(effect)
            }
        }
    }

    private func carryOut(_ command: ManagementCommand, _ token: UInt64) {
        guard let outcome = controller.answer(command) else {
            return schedule(after: command.limit) { [unowned self] in
                self.input { $0.ended(token, .timedOut, at: $1) }
            }
        }
        schedule(after: .milliseconds(1)) { [unowned self] in self.input { $0.ended(token, outcome, at: $1) } }
        guard command.code == 0x23 || command.code == 0x3a, case .success = outcome else { return }
        let round = controller.discoveries
        schedule(after: .milliseconds(10_240)) { [unowned self] in
            let isOn = self.controller.isDiscovering && self.controller.discoveries == round
            guard isOn, !self.controller.forgetsDiscovery else { return }
            self.controller.endDiscovery()
            self.hear(.discovering(false))
        }
    }
}

extension BluetoothAddress {
    /// A phone with a private address.
    static func phone(_ number: UInt64) -> BluetoothAddress {
        BluetoothAddress(value: 0x4000_0000_0000 | number, kind: .random)
    }
}

extension ManagementEvent {
    static func connected(_ number: UInt64, isOutgoing: Bool = false) -> ManagementEvent {
        .deviceConnected(ManagementAddress(.phone(number)), isOutgoing: isOutgoing)
    }

    static func disconnected(_ number: UInt64) -> ManagementEvent {
        .deviceDisconnected(ManagementAddress(.phone(number)), reason: 3)
    }

    static func found(_ number: UInt64, data: [UInt8] = [0x02, 0x01, 0x06]) -> ManagementEvent {
        .deviceFound(DeviceReport(address: ManagementAddress(.phone(number)), rssi: -70, data: data))
    }
}
