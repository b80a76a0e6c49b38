import Basics
import Crypto
import EventLoop
import Gateway
import Mesh
import Nostr
import Radio
import Uplink
import Vault
import Wire

/// The daemon: builds the parts from the configuration, joins them, and answers the control socket.
public final class Station: Box {
    private(set) var configuration: Configuration
    let identity: StationIdentity
    let radio: any ObservedRadio
    let switchboard: Switchboard
    let uplink: RelayUplink
    /// `nil` with `network.tor = "off"`.
    let torRoute: TorRoute?
    let directory: DirectoryKeeper
    private let fetcher: HTTPFetcher
    let started: Instant
    let clock: ClockService
    /// Keys of the configuration file that were changed and take effect at the next start.
    private(set) var keysAwaitingRestart: [String] = []
    /// The configuration file, while it is one that was not taken.
    private(set) var refusedFile: String?

    /// Its wall clock is mesh time.
    private let loop: any EventLoop
    private let timekeeper: Timekeeper
    private let log: Log
    /// Held for the life of the process: nobody else uses this state.
    private let premises: Premises
    let vault: Vault
    private let restart: BoxStart.Restart
    private var control: ControlServer?
    private(set) var isStopping = false
    /// What is left of it, from the beginning of a wipe on.
    private(set) var silent: SilentBox?
    private var afterStop: BoxStart.Restart?
    /// As last logged.
    private var routeStage: TorStage?

    var aftermath: Aftermath { premises.aftermath }
    var panel: PanelDesk { premises.panel }
    var hasStateOnDisk: Bool { MasterKey.exists(in: premises.directory) }
    var mesh: MeshNode { switchboard.mesh }
    var gateway: Gateway { switchboard.gateway }
    var courier: Courier? { switchboard.courier }
    var now: Now { loop.now }

    init(
        _ premises: Premises, _ identity: StationIdentity, masterKey: SecretBytes, loop machineLoop: any EventLoop,
        clock machine: MachineClock, log: Log, restart: @escaping BoxStart.Restart
    ) throws(StationFault) {
        let random = SystemRandomNumberGenerator()
        let configuration = premises.aftermath.applied(to: premises.configuration)
        self.premises = premises
        self.identity = identity
        self.configuration = configuration
        self.log = log
        self.restart = restart
        vault = Vault(
            in: configuration.storage == .persistent ? premises.directory : nil, masterKey: masterKey,
            stores: BoxStores.all, loop: machineLoop, random: random)
        clock = ClockService(
            machineLoop, machine: machine, trustsSystem: configuration.clock.trustSystem,
            lastKnown: LastKnownTime(vault).value)
        let loop = clock.loop
        self.loop = loop
        started = loop.now.monotonic
        radio = try Station.makeRadio(
            configuration, peer: identity.node.peerID, masterKey: masterKey, loop: loop, log: log)
        let route = try configuration.network.route(
            on: loop, resolver: SystemResolver(loop: machineLoop), time: { loop.now.wall })
        torRoute = route as? TorRoute
        fetcher = HTTPFetcher(loop: loop, dialer: route)
        directory = DirectoryKeeper(loop: loop, archive: NostrArchive(vault), fetcher: fetcher)
        directory.load(configuration.nostr)
        uplink = RelayUplink(
            loop: loop, relays: configuration.relayChoice(directory), route: route,
            usesTor: configuration.network.tor == .required, archive: NostrArchive(vault), fetcher: fetcher)
        var node = MeshConfiguration(
            nickname: configuration.nickname(for: identity.node.peerID), isClockTrusted: false)
        node.takesMail = true
        switchboard = Switchboard(
            loop: loop, radio: radio, mesh: MeshNode(configuration: node, identity: identity.node, random: random),
            gateway: Gateway(
                configuration: configuration.gatewayConfiguration, seed: identity.deviceSeed, random: random),
            relays: uplink, archive: MeshArchive(vault), carried: NostrArchive(vault),
            notes: NotesDesk(seed: identity.deviceSeed, random: random),
            courier: Courier(
                configuration: configuration.courierConfiguration(own: identity.node.noise.publicKey), random: random),
            mailArchive: MailArchive(vault))
        let probe = TimeProbe(
            loop: loop, relays: { [uplink] in uplink.choice.defaults },
            socket: { [uplink] in uplink.makeSocket(to: $0) })
        timekeeper = Timekeeper(
            clock, switchboard: switchboard, probe: probe,
            setRelaysOpen: { [uplink] in uplink.setClockTrusted($0, at: $1) })
        switchboard.observer = self
        uplink.onDate = { [clock] in clock.heard($0, of: $1.text) }
        clock.onSave = { [vault] in LastKnownTime(vault).save($0) }
        clock.onChange = { [unowned self] in clockChanged(from: $0) }
        torRoute?.targets = { [weak uplink] in uplink?.targets ?? [] }
        uplink.onRouteChange = { [weak self] in self?.routeChanged() }
        directory.isRouteOpen = { [unowned uplink] in uplink.client.gate == .open }
        directory.onChange = { [unowned self] in useDirectory() }
    }

    /// Opens the control socket, then goes on the air and to the relays.
    public func start() throws(StationFault) {
        do throws(StationFault) {
            try open()
        } catch {
            // Something else may have lamps and state.
            panel.stop()
            control?.stop()
            premises.state?.release()
            throw error
        }
        control?.start()
        switchboard.perform { now in
            MeshArchive(vault).restore(into: mesh, at: now)
            uplink.durable.restore(at: now)
            gateway.remember(published: NostrArchive(vault).carried)
            switchboard.notes?.restore(NostrArchive(vault).boardCopies)
            if let courier { switchboard.mailArchive?.restore(into: courier, at: now) }
            mesh.start(at: now)
            gateway.start(at: now)
            if configuration.courier.isEnabled { courier?.start(at: now) }
        }
        panel.observe = { [unowned self] in panelState }
        panel.onWipe = { [unowned self] in
            guard !isStopping else { return }
            log.warning("a wipe was asked for with the button")
            _ = beginWipe()
        }
        panel.onAcknowledge = { [unowned self] in
            if silent == nil, !isStopping { premises.acknowledgeWipe(log) }
        }
        panel.refresh()
        log.info("started, radio \(configuration.radio.kind), tor \(configuration.network.tor)")
        clock.use(relays: Set(uplink.choice.defaults.map(\.text)))
        uplink.route.start()
        timekeeper.start()
        if !clock.standing.source.isTrusted {
            log.warning("nothing is carried to or from relays: the clock is not known to be right")
        }
    }

    private func open() throws(StationFault) {
        do throws(StationFault) {
            control = try ControlServer(path: configuration.controlSocket, loop: loop, commands: commands)
        } catch {
            throw error.about("control_socket")
        }
        do { try radio.start() } catch { throw .radio(error, room: "air.room", name: "air.name") }
    }

    private func routeChanged() {
        if uplink.route.isProven { timekeeper.routeOpened() }
        guard let stage = torRoute?.stage, stage != routeStage else { return }
        routeStage = stage
        log.info("tor: \(stage)")
    }

    /// Withdraws the gateway, says goodbye, lets both go out, and makes the loop return (chapter 03 B20).
    public func stop() {
        if let silent { return silent.stop() }
        guard !isStopping else {
            // Whoever wants it to end does not want it to begin again.
            afterStop = nil
            return
        }
        isStopping = true
        directory.stop()
        fetcher.stop()
        switchboard.perform { now in
            courier?.stop(at: now)
            gateway.stop(at: now)
        }
        switchboard.perform { mesh.stop(at: $0) }
        timekeeper.stop()
        clock.save()
        loop.schedule(after: MeshLimits.leaveLinger) { [self] in
            guard silent == nil else { return }
            switchboard.stopTimer()
            radio.stop()
            uplink.stop()
            control?.stop()
            vault.close()
            panel.stop()
            log.info("stopped")
            do throws(SystemError) {
                try afterStop?()
            } catch {
                log.error("no fresh process follows: \(errno: error.code)")
            }
            loop.stop()
        }
    }

    public var exitStatus: Int32 { silent?.exitStatus ?? ExitStatus.ok }

    /// Takes over what may change while running; the rest waits for a restart.
    public func reload(_ next: Configuration) {
        guard !isStopping, silent == nil else { return }
        refusedFile = nil
        let current = configuration
        let next = premises.aftermath.applied(to: next)
        configuration = current.takingReloadable(from: next)
        log.level = configuration.log.level
        if configuration.nickname != current.nickname {
            switchboard.perform { mesh.setNickname(configuration.nickname(for: mesh.me), at: $0) }
        }
        if configuration.gateway != current.gateway || configuration.bridge != current.bridge { replaceGateway() }
        if configuration.courier != current.courier { switchboard.perform { configureCourier(at: $0) } }
        if configuration.nostr != current.nostr {
            directory.load(configuration.nostr)
            useDirectory()
            clock.use(relays: Set(uplink.choice.defaults.map(\.text)))
        }
        // Whoever asks for it may have repaired what relays failed with.
        switchboard.perform { uplink.client.retry(at: $0) }
        keysAwaitingRestart = configuration.keysThatDiffer(from: next)
        log.info("configuration read again")
        for key in keysAwaitingRestart { log.warning("\(key: key) was changed, which needs a restart") }
    }

    public func refusedToReload(from file: String) { refusedFile = file }

    /// What is subscribed follows the relays of its place.
    private func useDirectory() {
        switchboard.perform { uplink.use(configuration.relayChoice(directory), at: $0) }
    }

    private func replaceGateway() {
        let next = Gateway(
            configuration: configuration.gatewayConfiguration, seed: identity.deviceSeed,
            random: SystemRandomNumberGenerator())
        switchboard.replaceGateway(next) { now in
            gateway.remember(published: NostrArchive(vault).carried)
            gateway.relayConnectivityChanged(uplink.isConnected, at: now)
            gateway.setClockTrusted(clock.standing.source.isTrusted, at: now)
            gateway.start(at: now)
        }
    }

    private func configureCourier(at now: Now) {
        let wanted = configuration.courier
        courier?.configure(trusted: Set(wanted.trusted), usesRelays: wanted.drops, at: now)
        if wanted.isEnabled { courier?.start(at: now) } else { courier?.stop(at: now) }
    }

    private func clockChanged(from before: ClockStanding) {
        let standing = clock.standing
        if standing.source != before.source { log.info("the time is taken from \(standing.source) now") }
        let jump = (standing.offset - before.offset) / 1_000
        if abs(jump) > ClockLimits.step / 1_000 { log.warning("the time has moved by \(Int(jump)) s") }
        timekeeper.ask()
    }

    // MARK: Wipe

    var wipeReport: WipeReport { silent?.report ?? premises.lastWipe }

    /// From here on it is a box that does not run. The whole transaction is one turn of the loop, and then a new
    /// process: no timer, socket or publication that was under way can come back in between, and no memory of this one
    /// is left after it.
    private func beginWipe() -> WipeReport {
        let silent = silent ?? SilentBox(premises, loop: loop, log: log, restart: restart)
        self.silent = silent
        defer { if isStopping, afterStop == nil { silent.stop() } }
        return silent.beginWipe { [self] in
            timekeeper.stop()
            directory.stop()
            fetcher.stop()
            switchboard.sever()
            radio.stop()
            uplink.sever()
            vault.abandon()
            control?.stop()
        }
    }

    private var commands: [ControlCommand] {
        ControlCommand.ofEveryBox(
            status: { [unowned self] in wipeReport }, wipe: { [unowned self] in beginWipe() }) + commandsWhileNotWiping
    }

    private var commandsWhileNotWiping: [ControlCommand] {
        func command(
            _ name: String, _ body: @escaping (ControlRequest) throws(ControlError) -> some JSONConvertible
        ) -> ControlCommand {
            ControlCommand(name) { [unowned self] (request: ControlRequest) throws(ControlError) in
                guard silent == nil else { throw ControlError(code: "wiping", message: "a wipe is under way") }
                return try body(request)
            }
        }
        func command(
            _ name: String, _ body: @escaping () throws(ControlError) -> some JSONConvertible
        ) -> ControlCommand {
            command(name) { (_: ControlRequest) throws(ControlError) in try body() }
        }
        return [
            command("status") { [unowned self] in statusReport },
            command("peers") { [unowned self] in peerReports },
            command("peer_forget") { [unowned self] (request: ControlRequest) throws(ControlError) in
                try forgetPeer(request.argument)
            },
            command("counters") { [unowned self] in counterReport },
            command("mail") { [unowned self] in mailReport },
            command("limits") { [unowned self] in limitReports },
            command("channels") { [unowned self] in channelReports },
            command("notes") { [unowned self] (request: ControlRequest) throws(ControlError) in
                try lookAtNotes(request.argument)
            },
            command("note_post") { [unowned self] (request: ControlRequest) throws(ControlError) in
                try postNote(request.argument)
            },
            command("note_delete") { [unowned self] (request: ControlRequest) throws(ControlError) in
                try deleteNote(request.argument)
            },
            command("board") { [unowned self] in boardReport },
            command("board_post") { [unowned self] (request: ControlRequest) throws(ControlError) in
                try postOnBoard(request.argument)
            },
            command("board_remove") { [unowned self] (request: ControlRequest) throws(ControlError) in
                try removeFromBoard(request.argument)
            },
            command("clock") { [unowned self] in ClockReport(clock) },
            command("clock_accept") { [unowned self] in
                clock.accept()
                vault.flush()
                return ClockReport(clock)
            },
            command("clock_set") { [unowned self] (request: ControlRequest) throws(ControlError) in
                guard let time = request.argument.flatMap(TimeText.parse) else {
                    throw ControlError(
                        code: ControlError.malformed, message: "no time with its zone, as 2026-05-01T13:45:07Z")
                }
                guard clock.set(time) else {
                    throw ControlError(code: "refused", message: "that is before this version was made")
                }
                vault.flush()
                return ClockReport(clock)
            },
            command("wipe_acknowledge") { [unowned self] () throws(ControlError) in
                try premises.acknowledgeWipe()
                return wipeReport
            },
            command("provision") { [unowned self] () throws(ControlError) in
                try premises.keep(Aftermath(notice: premises.aftermath.notice))
                loop.enqueue { [self] in restartInGoodOrder() }
                return wipeReport
            },
        ]
    }

    /// The configuration counts again, all of it: from the beginning.
    private func restartInGoodOrder() {
        afterStop = restart
        stop()
    }

    var controlTally: Tally<ControlEvent> { control?.tally ?? Tally() }
}

extension Station: SwitchboardObserver {
    func relayConnectivityChanged(_ isConnected: Bool) {
        if isConnected { directory.routeOpened() }
        log.info(isConnected ? "a relay is connected" : "no relay is connected any more")
    }
}
