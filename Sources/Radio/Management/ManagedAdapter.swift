import Basics
import EventLoop

/// One controller of the kernel: joins an adapter's engine to the management channel, the clock and rfkill.
public final class ManagedAdapter: AdapterPort {
    public weak var delegate: (any AdapterPortDelegate)?
    public private(set) var index: UInt16
    /// Its number among the adapters of the process, which stays when the controller returns under another index.
    let place: UInt16

    private let loop: any EventLoop
    private let channel: ManagementChannel
    private let switches: RadioSwitches
    private var engine: AdapterEngine
    private var timer: (any Cancellable)?
    private var armedFor: Instant?
    /// What the delegate has still to hear, in the next turn of the loop.
    private var news: [AdapterEffect] = []

    init(
        index: UInt16, place: UInt16, configuration: AdapterConfiguration, loop: any EventLoop,
        channel: ManagementChannel, switches: RadioSwitches
    ) {
        self.index = index
        self.place = place
        self.loop = loop
        self.channel = channel
        self.switches = switches
        engine = AdapterEngine(place: place, configuration: configuration)
    }

    deinit { timer?.cancel() }

    // MARK: AdapterPort

    public var status: AdapterStatus { engine.status }
    /// The controller as it was when it was last set up; nil before. Its address is nobody else's business.
    public var controller: ControllerInformation? { engine.controller }

    public func start() { run { $0.start(at: $1) } }

    public func stop() {
        news.removeAll()
        run { engine, _ in engine.stop() }
    }

    public func setAdvertising(_ isWanted: Bool) { run { $0.setAdvertising(isWanted, at: $1) } }
    public func setScanning(_ isWanted: Bool) { run { $0.setScanning(isWanted, at: $1) } }
    public func pauseScanning(for span: Interval) { run { $0.pauseScanning(for: span, at: $1) } }

    public var admitsAttempt: Bool {
        engine.phase == .ready && engine.pause.admitsAttempt(at: loop.now.monotonic)
    }

    public func connectionAttemptBegan() { run { $0.attemptBegan(at: $1) } }
    public func connectionAttemptEnded(_ outcome: ConnectionOutcome) { run { $0.attemptEnded(outcome, at: $1) } }
    public func disconnect(_ address: BluetoothAddress) { run { $0.disconnect(address, at: $1) } }

    // Comes with every frame, and changes nothing that a timer or a command waits for.
    public func noteTraffic() { engine.noteTraffic(at: loop.now.monotonic) }

    // MARK: The directory

    var hasController: Bool { engine.isPresent }
    func appeared(knownCommands: Set<UInt16>?) { run { $0.appeared(knownCommands: knownCommands, at: $1) } }
    /// Its controller is gone and will be looked for under another number.
    func move(to index: UInt16) { self.index = index }
    func shareAntenna(_ isShared: Bool) { run { $0.shareAntenna(isShared, at: $1) } }
    func disappeared() { run { $0.disappeared(at: $1) } }
    func forbid() { run { engine, _ in engine.forbid() } }
    func heard(_ event: ManagementEvent) { run { $0.heard(event, at: $1) } }

    // MARK: Effects

    private func run(_ input: (inout AdapterEngine, Instant) -> Void) {
        input(&engine, loop.now.monotonic)
        while let effect = engine.nextEffect() { carryOut(effect) }
        arm()
    }

    private func carryOut(_ effect: AdapterEffect) {
        switch effect {
        case .send(let command, let token):
            channel.send(command, to: index) { [weak self] outcome in
                self?.run { $0.ended(token, outcome, at: $1) }
            }
        case .post(let command): channel.post(command, to: index)
        case .readSwitch: engine.switchRead(switches.block(ofController: index), at: loop.now.monotonic)
        default:
            if news.isEmpty { loop.enqueue { [weak self] in self?.tell() } }
            news.append(effect)
        }
    }

    private func arm() {
        let deadline = engine.nextDeadline
        guard deadline != armedFor else { return }
        timer?.cancel()
        timer = nil
        armedFor = deadline
        guard let deadline, deadline != .distantFuture else { return }
        timer = loop.schedule(after: deadline - loop.now.monotonic) { [weak self] in
            self?.armedFor = nil
            self?.run { $0.timeout(at: $1) }
        }
    }

    private func tell() {
        let batch = news
        news.removeAll()
        // The delegate may stop the adapter while it is told.
        for effect in batch where engine.phase != .stopped { tell(effect) }
    }

    private func tell(_ effect: AdapterEffect) {
        switch effect {
        case .up(let address): delegate?.adapterUp(self, address: address)
        case .down: delegate?.adapterDown(self)
        case .clearedAir: delegate?.adapterClearedAir(self)
        case .heard(let sighting): delegate?.adapter(self, heard: sighting)
        case .connected(let address): delegate?.adapter(self, connected: address)
        case .disconnected(let address, let reason):
            delegate?.adapter(self, disconnected: address, reason: reason)
        case .connectFailed(let address, let status):
            delegate?.adapter(self, connectFailed: address, status: status)
        case .send, .post, .readSwitch: break
        }
    }
}
