import Basics
import Crypto
import EventLoop
import Panel
import Radio
import Vault

/// What the daemon runs: a station, or what is left of one that cannot run.
public protocol Box: AnyObject {
    /// Answers the control socket and begins to work. Where that cannot be, it has let go of lamps and state.
    func start() throws(StationFault)
    /// Makes the loop return, when all is said, or a wipe that was begun is carried out.
    func stop()
    /// Takes over what may change while running.
    func reload(_ next: Configuration)
    /// The configuration file has mistakes, and the one in force stays.
    func refusedToReload(from file: String)
    /// What proves that its radios work.
    var liveness: [RadioLiveness] { get }
    /// What it does, in a few words that name nobody.
    var summary: String { get }
    /// What the process is to end with after `stop`.
    var exitStatus: Int32 { get }
}

/// How a process becomes a box. Nothing is on the air or the network before the box is started.
public struct BoxStart {
    /// Puts a fresh process in the place of this one, in whose memory nothing of this one is left. If it returns, the
    /// loop is stopped.
    public typealias Restart = () throws(SystemError) -> Void

    private let found: SalvagedConfiguration
    private let loop: any EventLoop
    private let clock: MachineClock
    private let log: Log
    private let restart: Restart
    private let premises: Premises
    private var configuration: Configuration { found.configuration }
    private var panel: PanelDesk { premises.panel }

    /// - Parameters:
    ///   - found: the configuration, or what could be read of one with mistakes.
    ///   - configurationPath: the file it came from.
    public init(
        _ found: SalvagedConfiguration, from configurationPath: String?, loop: any EventLoop, log: Log,
        restart: @escaping Restart
    ) {
        self.init(found, from: configurationPath, host: .current, loop: loop, log: log, restart: restart)
    }

    init(
        _ found: SalvagedConfiguration, from configurationPath: String?, host: HostMarks,
        forgetKeys: @escaping () -> Void = SecretMemory.scrub, lines: @escaping PanelDesk.Opening = PanelDesk.ownLine,
        quiet: @escaping Premises.Quiet = Premises.takeOffAir, loop: any EventLoop, clock: MachineClock = .system,
        log: Log, restart: @escaping Restart
    ) {
        self.found = found
        self.loop = loop
        self.clock = clock
        self.log = log
        self.restart = restart
        premises = Premises(
            state: nil, configuration: found.configuration, configurationPath: configurationPath,
            unknownPlaces: found.unknownPlaces, isRadioKnown: found.isRadioKnown, host: host, forgetKeys: forgetKeys,
            panel: PanelDesk(found.configuration.panel.configuration, loop: loop, open: lines), quiet: quiet)
    }

    /// Takes the state directory and makes the box ready: completes a wipe that was cut short, destroys keys that
    /// belong to another machine, and only then loads the identity.
    public func prepare() throws(StationFault) -> any Box {
        do throws(StationFault) {
            let state = try StateDirectory(configuration.stateDirectory)
            // From here on somebody may look at the lamps: before a wipe that is completed at the start, too.
            panel.start()
            let premises = premises(state)
            if let cause = premises.pendingWipe {
                log.warning("a wipe was not completed: it is done again")
                if let report = premises.wipe(cause) { return silent(premises, report) }
            }
            // Whoever cannot tell must not go on the air.
            guard !premises.isWipeUnknown else {
                throw .system(
                    "the boot partition cannot be read, where an incomplete wipe may be noted: see why it is not "
                        + "mounted, or wipe the box")
            }
            var random = SystemRandomNumberGenerator()
            guard configuration.storage == .persistent else {
                let identity = StationIdentity.generate(using: &random)
                return try station(premises, identity, MasterKey.generate(using: &random))
            }
            let store = IdentityStore(in: state)
            var loaded = try store.loadOrCreate(for: premises.host, using: &random)
            if case .movedHere = loaded {
                log.warning("the keys belong to another machine: they are destroyed, and this box is a new one")
                if let report = premises.wipe(.moved) { return silent(premises, report) }
                loaded = try store.loadOrCreate(for: premises.host, using: &random)
            }
            guard case .identity(let identity, let key) = loaded else {
                throw .state("the keys still belong to another machine")
            }
            return try station(premises, identity, key)
        } catch {
            if case .state = error { throw error.about("state_directory") }
            if case .alreadyRunning = error { throw error.about("state_directory") }
            throw error
        }
    }

    /// Completes a wipe that was cut short on a box whose configuration has mistakes: whoever wanted it wiped does not
    /// wait for them to be mended.
    /// - Returns: what answers while the wipe is incomplete; nil where none was begun, or after `restart`.
    public func completeWipe() -> (any Box)? {
        // Nothing is made where nothing is: it may be the default's place.
        guard StateDirectory.exists(configuration.stateDirectory),
            let state = try? StateDirectory(configuration.stateDirectory),
            case let premises = premises(state), let cause = premises.pendingWipe
        else { return nil }
        panel.start()
        log.warning("a wipe was not completed: it is done again, with what can be read of the configuration")
        if let report = premises.wipe(cause) { return silent(premises, report) }
        panel.stop()
        if !StopSignals.isAsked { try? restart() }
        return nil
    }

    /// Holds a box that cannot start for a while, so that whoever stands beside it sees and learns why; where neither
    /// lamps nor a service manager are there, nothing is gained by it.
    public func hold(_ fault: StationFault) {
        // Where another process has the state, it has the lamps as well.
        if case .alreadyRunning = fault { return }
        guard !configuration.panel.configuration.isEmpty || Supervision.isManaged else { return }
        let box = silent(fault)
        Supervision.tell(box.summary)
        for number in StopSignals.all { loop.onSignal(number) { box.stop() } }
        box.start()
        box.stay { loop.stop() }
        StopSignals.release()
        loop.run()
        box.stop()
    }

    func silent(_ fault: StationFault) -> SilentBox {
        SilentBox(premises, fault: fault, loop: loop, log: log, restart: restart)
    }

    private func premises(_ state: StateDirectory) -> Premises {
        var premises = premises
        premises.state = state
        return premises
    }

    private func silent(_ premises: Premises, _ report: WipeReport) -> SilentBox {
        SilentBox(premises, report: report, loop: loop, log: log, restart: restart)
    }

    private func station(
        _ premises: Premises, _ identity: StationIdentity, _ key: SecretBytes
    ) throws(StationFault) -> Station {
        try Station(premises, identity, masterKey: key, loop: loop, clock: clock, log: log, restart: restart)
    }
}
