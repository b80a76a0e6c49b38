import Basics
import Crypto
import EventLoop
import Panel
import Radio
import Vault

/// What the daemon runs: a station, or what is left of one while a wipe is incomplete.
public protocol Box: AnyObject {
    /// Answers the control socket and begins to work.
    func start() throws(StationFault)
    /// Makes the loop return, when all is said.
    func stop()
    /// Lets go of lamps and state, where it could not be started, so that something else may have them.
    func abandon()
    /// Takes over what may change while running.
    func reload(_ next: Configuration)
    /// The configuration file has mistakes, and the one in force stays.
    func refusedToReload(from file: String)
    /// What proves that its radios work.
    var liveness: [RadioLiveness] { get }
    /// What it does, in a few words that name nobody.
    var summary: String { get }
}

public enum BoxStart {
    /// Takes the state directory and makes the box ready: completes a wipe that was cut short, destroys keys that
    /// belong to another machine, and only then loads the identity. Nothing is on the air or the network yet.
    /// - Parameters:
    ///   - configurationPath: the file the configuration came from.
    ///   - restart: replaces the process with a fresh one, in whose memory nothing of this one is left. The wipe ends
    ///     with it; if it returns, the loop is stopped.
    public static func prepare(
        _ configuration: Configuration, from configurationPath: String?, loop: any EventLoop, log: Log,
        restart: @escaping () -> Void
    ) throws(StationFault) -> any Box {
        try prepare(
            configuration, from: configurationPath, host: .current, loop: loop, log: log, restart: restart)
    }

    static func prepare(
        _ configuration: Configuration, from configurationPath: String?, host: HostMarks,
        forgetKeys: @escaping () -> Void = SecretMemory.scrub, lines: @escaping PanelDesk.Opening = PanelDesk.ownLine,
        loop: any EventLoop, clock: MachineClock = .system, log: Log, restart: @escaping () -> Void
    ) throws(StationFault) -> any Box {
        do throws(StationFault) {
            let state = try StateDirectory(configuration.stateDirectory)
            let store = IdentityStore(in: state)
            // From here on somebody may look at the lamps: before a wipe that is completed at the start, too.
            let panel = PanelDesk(configuration.panel.configuration, loop: loop, open: lines)
            panel.start()
            let premises = Premises(
                state: state, configuration: configuration, configurationPath: configurationPath, host: host,
                forgetKeys: forgetKeys, panel: panel)
            func blocked(_ failures: [WipeFailure]) -> any Box {
                BlockedStation(premises, failures: failures, loop: loop, log: log, restart: restart)
            }
            if let cause = premises.pendingWipe {
                log.warning("a wipe was not completed: it is done again")
                if let failures = failures(of: premises.wipe(cause)) { return blocked(failures) }
            }
            var random = SystemRandomNumberGenerator()
            guard configuration.storage == .persistent else {
                let identity = StationIdentity.generate(using: &random)
                let key = MasterKey.generate(using: &random)
                return try Station(
                    premises, identity, masterKey: key, loop: loop, clock: clock, log: log, restart: restart)
            }
            var loaded = try store.loadOrCreate(for: host, using: &random)
            if case .movedHere = loaded {
                log.warning("the keys belong to another machine: they are destroyed, and this box is a new one")
                if let failures = failures(of: premises.wipe(.moved)) { return blocked(failures) }
                loaded = try store.loadOrCreate(for: host, using: &random)
            }
            guard case .identity(let identity, let key) = loaded else {
                throw .state("the keys still belong to another machine")
            }
            return try Station(premises, identity, masterKey: key, loop: loop, clock: clock, log: log, restart: restart)
        } catch {
            if case .state = error { throw error.about("state_directory") }
            if case .alreadyRunning = error { throw error.about("state_directory") }
            throw error
        }
    }

    /// Completes a wipe that was cut short on a box whose configuration has mistakes: whoever wanted it wiped does not
    /// wait for them to be mended.
    /// - Parameter remains: what could be read of the configuration.
    /// - Returns: what answers while the wipe is incomplete; nil where none was begun, or after `restart`.
    public static func completeWipe(
        _ remains: SalvagedConfiguration, from configurationPath: String?, loop: any EventLoop, log: Log,
        restart: @escaping () -> Void
    ) -> (any Box)? {
        completeWipe(remains, from: configurationPath, host: .current, loop: loop, log: log, restart: restart)
    }

    static func completeWipe(
        _ remains: SalvagedConfiguration, from configurationPath: String?, host: HostMarks,
        forgetKeys: @escaping () -> Void = SecretMemory.scrub, lines: @escaping PanelDesk.Opening = PanelDesk.ownLine,
        loop: any EventLoop, log: Log, restart: @escaping () -> Void
    ) -> (any Box)? {
        // Nothing is made where nothing is: it may be the default's place.
        let configuration = remains.configuration
        guard StateDirectory.exists(configuration.stateDirectory),
            let state = try? StateDirectory(configuration.stateDirectory)
        else { return nil }
        let panel = PanelDesk(configuration.panel.configuration, loop: loop, open: lines)
        let premises = Premises(
            state: state, configuration: configuration, configurationPath: configurationPath,
            unknownPlaces: remains.unknownPlaces, host: host, forgetKeys: forgetKeys, panel: panel)
        guard let cause = premises.pendingWipe else { return nil }
        panel.start()
        log.warning("a wipe was not completed: it is done again, with what can be read of the configuration")
        if let failures = failures(of: premises.wipe(cause)) {
            return BlockedStation(premises, failures: failures, loop: loop, log: log, restart: restart)
        }
        panel.stop()
        restart()
        return nil
    }

    private static func failures(of wipe: StateWipe) -> [WipeFailure]? {
        guard case .incomplete(let failures) = PanicWipe.run(with: wipe) else { return nil }
        return failures
    }
}
