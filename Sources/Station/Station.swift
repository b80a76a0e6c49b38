import Basics
import Crypto
import EventLoop
import Gateway
import Mesh
import Nostr
import Radio
import Uplink
import Wire

/// The daemon: builds the parts from the configuration, joins them, and answers the control socket.
public final class Station {
    private(set) var configuration: Configuration
    let identity: StationIdentity
    let radio: VirtualAir
    let switchboard: Switchboard
    let uplink: RelayUplink
    let started: Instant
    private(set) var clock = ClockSource.unproven
    /// Keys of the configuration file that were changed and take effect at the next start.
    private(set) var keysAwaitingRestart: [String] = []

    private let loop: any EventLoop
    private let log: Log
    /// Held for the life of the process: nobody else uses this state.
    private let state: StateDirectory
    private var control: ControlServer?
    private var clockTimer: (any Cancellable)?
    private var isStopping = false

    var mesh: MeshNode { switchboard.mesh }
    var gateway: Gateway { switchboard.gateway }
    var now: Now { loop.now }

    /// Takes the state directory and loads the identity; nothing is on the air or the network yet.
    public init(configuration: Configuration, loop: any EventLoop, log: Log) throws(StationFault) {
        var random = SystemRandomNumberGenerator()
        do throws(StationFault) {
            state = try StateDirectory(configuration.stateDirectory)
            identity = try IdentityStore(in: state).loadOrCreate(using: &random)
        } catch {
            throw error.about("state_directory")
        }
        self.configuration = configuration
        self.loop = loop
        self.log = log
        started = loop.now.monotonic
        radio = VirtualAir(loop: loop, configuration: try configuration.virtualAir(for: identity.node.peerID))
        uplink = RelayUplink(
            loop: loop, relays: configuration.relayChoice, isAllowed: configuration.network.tor == .off,
            dialer: LoopbackDialer(loop: loop))
        switchboard = Switchboard(
            loop: loop, radio: radio,
            mesh: MeshNode(
                configuration: MeshConfiguration(nickname: configuration.nickname(for: identity.node.peerID)),
                identity: identity.node, random: random),
            gateway: Gateway(
                configuration: configuration.gatewayConfiguration, seed: identity.deviceSeed, random: random),
            relays: uplink)
        switchboard.observer = self
    }

    /// Opens the control socket, then goes on the air and to the relays.
    public func start() throws(StationFault) {
        let control: ControlServer
        do throws(StationFault) {
            control = try ControlServer(path: configuration.controlSocket, loop: loop, commands: commands)
        } catch {
            throw error.about("control_socket")
        }
        do {
            try radio.start()
        } catch {
            control.stop()
            throw .radio(error, room: "air.room", name: "air.name")
        }
        self.control = control
        control.start()
        switchboard.perform { now in
            mesh.start(at: now)
            gateway.start(at: now)
        }
        log.info("started, radio \(configuration.radio.kind), tor \(configuration.network.tor)")
        checkClock()
        if !clock.isTrusted { log.warning("nothing is carried to or from relays: the clock is not known to be right") }
        if configuration.network.tor == .required {
            log.warning("no relay is dialled: tor is required, and this version cannot use it yet")
        }
    }

    /// Withdraws the gateway, says goodbye, lets both go out, and makes the loop return (chapter 03 B20).
    public func stop() {
        guard !isStopping else { return }
        isStopping = true
        clockTimer?.cancel()
        switchboard.perform { gateway.stop(at: $0) }
        switchboard.perform { mesh.stop(at: $0) }
        loop.schedule(after: MeshLimits.leaveLinger) { [self] in
            switchboard.stopTimer()
            radio.stop()
            uplink.stop()
            control?.stop()
            log.info("stopped")
            loop.stop()
        }
    }

    /// Takes over what may change while running; the rest waits for a restart.
    public func reload(_ next: Configuration) {
        guard !isStopping else { return }
        let current = configuration
        configuration = current.takingReloadable(from: next)
        log.level = configuration.log.level
        if configuration.nickname != current.nickname {
            switchboard.perform { mesh.setNickname(configuration.nickname(for: mesh.me), at: $0) }
        }
        if configuration.gateway != current.gateway || configuration.bridge != current.bridge { replaceGateway() }
        if configuration.nostr != current.nostr {
            switchboard.perform { uplink.use(configuration.relayChoice, at: $0) }
        }
        keysAwaitingRestart = configuration.keysThatDiffer(from: next)
        log.info("configuration read again")
        for key in keysAwaitingRestart { log.warning("\(key: key) was changed, which needs a restart") }
    }

    private func replaceGateway() {
        switchboard.perform { gateway.stop(at: $0) }
        switchboard.replaceGateway(
            Gateway(
                configuration: configuration.gatewayConfiguration, seed: identity.deviceSeed,
                random: SystemRandomNumberGenerator()))
        switchboard.perform { now in
            gateway.relayConnectivityChanged(uplink.isConnected, at: now)
            gateway.setClockTrusted(clock.isTrusted, at: now)
            gateway.start(at: now)
        }
    }

    /// Looks at the clock until it can be trusted. Once trusted it stays so: without its source it drifts by seconds a
    /// day at most.
    private func checkClock() {
        let before = clock
        clock = ClockSource.judge(
            now.wall, kernelSynchronised: ClockSource.kernelIsSynchronised,
            configurationVouches: configuration.clock.trustSystem)
        switchboard.perform { now in
            uplink.setClockTrusted(clock.isTrusted, at: now)
            gateway.setClockTrusted(clock.isTrusted, at: now)
        }
        if clock != before { log.info("the clock is \(clock) now") }
        guard !clock.isTrusted else { return }
        clockTimer = loop.schedule(after: ClockLimits.recheck) { [weak self] in self?.checkClock() }
    }

    private var commands: [ControlCommand] {
        [
            ControlCommand("ping") { ["version": Version.text] },
            ControlCommand("status") { [unowned self] in statusReport },
            ControlCommand("peers") { [unowned self] in peerReports },
            ControlCommand("counters") { [unowned self] in counterReport },
        ]
    }

    var controlTally: Tally<ControlEvent> { control?.tally ?? Tally() }
}

extension Station: SwitchboardObserver {
    func relayConnectivityChanged(_ isConnected: Bool) {
        log.info(isConnected ? "a relay is connected" : "no relay is connected any more")
    }
}
