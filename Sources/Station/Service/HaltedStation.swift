import Basics
import Crypto
import EventLoop
import Glibc
import Panel
import Vault

enum HaltLimits {
    /// How long a fault that keeps the box from starting is shown before the next attempt. Ours.
    static let shown = Interval.seconds(20)
    /// How often it is seen whether somebody is still at the button. Ours.
    static let look = Interval.seconds(1)
}

extension SalvagedConfiguration {
    /// Whether it is known which controllers are ours.
    fileprivate var isRadioCertain: Bool { unknownPlaces.isEmpty && !unread.contains { $0.contains("radio") } }
}

/// A box that cannot start: its configuration or its state cannot be used as it is. It shows that on the lamps, tells
/// the reason to whoever asks, and can be wiped, until the next attempt.
final class HaltedStation {
    private let fault: StationFault
    private let remains: SalvagedConfiguration
    private let configurationPath: String?
    private let host: HostMarks
    private let forgetKeys: () -> Void
    private let loop: any EventLoop
    private let log: Log
    private let restart: () -> Void
    let panel: PanelDesk
    private var control: ControlServer?
    /// Of a wipe that was asked for meanwhile, or before.
    private var wipeReport = WipeReport(state: .none)
    private let quiet: Premises.Quiet

    /// - Parameter remains: what could be read of the configuration.
    init(
        _ fault: StationFault, _ remains: SalvagedConfiguration, from configurationPath: String?, host: HostMarks,
        forgetKeys: @escaping () -> Void = SecretMemory.scrub, lines: @escaping PanelDesk.Opening = PanelDesk.ownLine,
        quiet: @escaping Premises.Quiet = Premises.takeOffAir,
        loop: any EventLoop, log: Log, restart: @escaping () -> Void
    ) {
        self.quiet = quiet
        self.fault = fault
        self.remains = remains
        self.configurationPath = configurationPath
        self.host = host
        self.forgetKeys = forgetKeys
        self.loop = loop
        self.log = log
        self.restart = restart
        panel = PanelDesk(remains.configuration.panel.configuration, loop: loop, open: lines)
    }

    /// Shows the fault, and calls `end` when it is time for the next attempt.
    func start(end: @escaping () -> Void) {
        learnOfWipes()
        // What a process that died has left on the air; another one's, and others' controllers, are not touched.
        if remains.isRadioCertain, !StateDirectory.isTaken(remains.configuration.stateDirectory) {
            _ = try? quiet(remains.configuration.radio)
        }
        panel.observe = { [unowned self] in
            var state = PanelState()
            state.isStarting = false
            // Only what is known is shown: nothing of the way to the internet is.
            state.isClockTrusted = true
            state.tor = .off
            state.hasFault = true
            state.wipe = PanelState.wipe(wipeReport.state)
            return state
        }
        panel.onAcknowledge = { [unowned self] in acknowledge() }
        panel.onWipe = { [unowned self] in loop.enqueue { [weak self] in self?.wipe() } }
        panel.start()
        // Where it cannot be had, lamps and journal still tell.
        control = try? ControlServer(
            path: remains.configuration.controlSocket, loop: loop, commands: commands,
            otherwise: ControlError(code: "not_started", message: "bitgated cannot start: \(fault)"))
        control?.start()
        loop.schedule(after: HaltLimits.shown) { [weak self] in self?.finish(end) }
    }

    /// Nobody is to find the box gone between the two halves of a gesture; nor is a wipe that failed and is noted
    /// nowhere to be forgotten with this process.
    private func finish(_ end: @escaping () -> Void) {
        var pause = HaltLimits.look
        if !panel.isInUse {
            guard wipeReport.state == .incomplete, premises(with: nil).notedWipe == nil else { return end() }
            pause = HaltLimits.shown
            // It is not to be ended because it does not come to work.
            Supervision.feed()
            wipe()
        }
        loop.schedule(after: pause) { [weak self] in self?.finish(end) }
    }

    func stop() {
        panel.stop()
        control?.stop()
        control = nil
    }

    // MARK: Wipe

    private func premises(with state: StateDirectory?) -> Premises {
        Premises(
            state: state, configuration: remains.configuration, configurationPath: configurationPath,
            unknownPlaces: remains.unknownPlaces, host: host, forgetKeys: forgetKeys, panel: panel, quiet: quiet)
    }

    /// One that was begun before and could not be completed, or was completed and is not acknowledged.
    private func learnOfWipes() {
        let premises = premises(with: nil)
        guard !remains.unknownPlaces.contains("state_directory") else { return }
        if premises.pendingWipe != nil {
            wipeReport = WipeReport(
                state: .incomplete, failures: [WipeReport.Failure(step: "state_directory", reason: "\(fault)")])
        } else if access(premises.directory, R_OK | X_OK) == 0, let notice = premises.aftermath.notice {
            wipeReport = WipeReport(state: .wiped, cause: notice)
        }
    }

    private func acknowledge() {
        let aftermath = premises(with: nil).aftermath
        do throws(SystemError) {
            try Aftermath(unprovisionedName: aftermath.unprovisionedName).write(
                in: remains.configuration.stateDirectory)
            wipeReport = WipeReport(state: .none)
        } catch {
            log.error("that the wipe was seen cannot be kept: \(errno: error.code)")
        }
    }

    private func wipe() {
        let path = remains.configuration.stateDirectory
        var state: StateDirectory?
        var obstacle: [WipeReport.Failure] = []
        do throws(StationFault) {
            guard StateDirectory.exists(path) else { throw .state("\(path) is not there") }
            state = try StateDirectory(path)
        } catch {
            obstacle = [WipeReport.Failure(step: "state_directory", reason: "\(error)")]
            // Where nothing is, nothing is destroyed, and what another process has is that one's to wipe.
            guard StateDirectory.exists(path), !StateDirectory.isTaken(path) else {
                log.error("the wipe is incomplete: the state directory cannot be used")
                let unknown = remains.unknownPlaces.map { WipeReport.Failure(step: $0, reason: "unknown") }
                return ended(unknown + obstacle)
            }
        }
        switch PanicWipe.run(with: premises(with: state).wipe(.panic)) {
        case .complete:
            log.info("the wipe is complete")
            stop()
            restart()
            loop.stop()
        case .incomplete(let failures):
            for failure in failures { log.error("the wipe is incomplete: \(failure.step) failed") }
            ended(obstacle + WipeReport(failures).failures)
        }
    }

    private func ended(_ failures: [WipeReport.Failure]) {
        wipeReport = WipeReport(state: .incomplete, failures: failures)
        panel.refresh()
    }

    // MARK: Commands

    private var commands: [ControlCommand] {
        [
            ControlCommand("ping") { ["version": Version.text] },
            ControlCommand("wipe_status") { [unowned self] in wipeReport },
            .wipe { [unowned self] in
                loop.enqueue { [weak self] in self?.wipe() }
                return WipeReport(state: .wiping)
            },
            ControlCommand("wipe_acknowledge") { [unowned self] in
                if wipeReport.state == .wiped { acknowledge() }
                return wipeReport
            },
        ]
    }
}

extension BoxStart {
    /// Holds a box that cannot start for a while, so that whoever stands beside it sees and learns why; where neither
    /// lamps nor a service manager are there, nothing is gained by it.
    /// - Parameter remains: what could be read of the configuration.
    public static func hold(
        _ fault: StationFault, _ remains: SalvagedConfiguration, from configurationPath: String?, loop: any EventLoop,
        log: Log, restart: @escaping () -> Void
    ) {
        // Where another process has the state, it has the lamps as well.
        if case .alreadyRunning = fault { return }
        guard !remains.configuration.panel.configuration.isEmpty || Supervision.isManaged else { return }
        let halted = HaltedStation(
            fault, remains, from: configurationPath, host: .current, loop: loop, log: log, restart: restart)
        Supervision.tell("cannot start: " + String("\(fault)".prefix { $0 != "\n" }))
        for number in [SIGTERM, SIGINT] { loop.onSignal(number) { loop.stop() } }
        halted.start { loop.stop() }
        loop.run()
        halted.stop()
    }
}
