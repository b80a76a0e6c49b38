import Basics
import EventLoop
import Panel
import Radio
import Vault

enum SilentBoxLimits {
    /// How long a fault that keeps the box from starting is shown before the next attempt. Local policy.
    static let shown = Interval.seconds(20)
    /// How often to check whether the button is still in use. Local policy.
    static let look = Interval.seconds(1)
}

/// A box that does not run, because something keeps it from starting, or because a wipe of it is under way or
/// incomplete: no radio, no network, no identity. It shows the reason on the lamps, answers requests with it, and can
/// be wiped.
///
/// An incomplete wipe is tried again at every start that finds a record of it. A record that could be written to memory
/// only is lost with the power, and the report says so.
final class SilentBox: Box {
    private let premises: Premises
    /// What keeps it from starting; nil where nothing but a wipe does.
    private let fault: StationFault?
    private let loop: any EventLoop
    private let log: Log
    private let restart: BoxStart.Restart
    private(set) var report: WipeReport
    private var control: ControlServer?
    private var isStopping = false

    /// - Parameter report: how it stands with wiping; by default as far as something tells that was there before.
    init(
        _ premises: Premises, fault: StationFault? = nil, report: WipeReport? = nil, loop: any EventLoop, log: Log,
        restart: @escaping BoxStart.Restart
    ) {
        self.premises = premises
        self.fault = fault
        self.loop = loop
        self.log = log
        self.restart = restart
        self.report = report ?? premises.earlierWipe(fault)
    }

    var panel: PanelDesk { premises.panel }
    var liveness: [RadioLiveness] { [] }
    var summary: String {
        fault.map { "cannot start: " + String("\($0)".prefix { $0 != "\n" }) }
            ?? "a wipe is incomplete: radio and network are off"
    }
    var exitStatus: Int32 { report.state == .incomplete ? ExitStatus.wipeIncomplete : ExitStatus.ok }

    func reload(_ next: Configuration) {}
    func refusedToReload(from file: String) {}

    func start() {
        // What a process that died has left on the air; another one's, and others' controllers, are not touched.
        if fault != nil, premises.isRadioKnown, !StateDirectory.isTaken(premises.directory) {
            _ = try? premises.quiet(premises.configuration.radio)
        }
        panel.observe = { [unowned self] in shown }
        panel.onWipe = { [unowned self] in _ = beginWipe() }
        panel.onAcknowledge = { [unowned self] in
            premises.acknowledgeWipe(log)
            report = premises.lastWipe
        }
        panel.start()
        // Without it, lamps and journal still tell.
        control = try? ControlServer(
            path: premises.configuration.controlSocket, loop: loop, commands: commands, otherwise: refusal)
        if control == nil { log.error("control_socket cannot be created: requests cannot be answered") }
        control?.start()
        tellOfFailures()
    }

    private var shown: PanelState {
        var state = PanelState()
        state.isStarting = false
        // Only what is known is shown: nothing of the way to the internet is.
        state.isClockTrusted = true
        state.tor = .off
        state.hasFault = fault != nil
        state.wipe = PanelState.wipe(report.state)
        return state
    }

    private func tellOfFailures() {
        guard report.state == .incomplete else { return }
        for failure in report.failures { log.error("the wipe is incomplete: \(key: failure.step)") }
        log.error("radio and network stay off; bitgate wipe tries again, and so does every start that knows of it")
    }

    func stop() {
        isStopping = true
        // A wipe that was begun is carried out.
        guard report.state != .wiping else { return }
        close()
        loop.stop()
    }

    private func close() {
        panel.stop()
        control?.stop()
        control = nil
    }

    /// Calls `end` when it is time for the next attempt to start, but not while a button gesture is in progress, nor
    /// while a failed wipe is recorded only in this process.
    func stay(for span: Interval = SilentBoxLimits.shown, until end: @escaping () -> Void) {
        loop.schedule(after: span) { [weak self] in
            guard let self else { return }
            if panel.isInUse || report.state == .wiping { return stay(for: SilentBoxLimits.look, until: end) }
            guard report.state == .incomplete, !premises.isWipeKnownToOthers else { return end() }
            // Extend systemd's start timeout.
            Supervision.feed()
            _ = beginWipe()
            stay(until: end)
        }
    }

    // MARK: Wipe

    /// From here on nothing else is begun. The wipe itself runs when the answer is on its way, and one turn of the loop
    /// after stops are held, so that one which came just before is known of, too.
    /// - Parameter silence: closes what a box that ran has open. As its memory holds what it remembered, a fresh
    ///   process follows however the wipe ends.
    func beginWipe(closing silence: (() -> Void)? = nil) -> WipeReport {
        if report.state != .wiping {
            report = WipeReport(state: .wiping)
            StopSignals.hold()
            loop.enqueue { [self] in loop.enqueue { [self] in wipe(closing: silence) } }
        }
        return report
    }

    private func wipe(closing silence: (() -> Void)?) {
        defer { StopSignals.release() }
        report = carryOut(silence ?? {}) ?? WipeReport(state: .wiped, cause: .panic)
        if report.state == .wiped {
            log.info("the wipe is complete")
            renew()
        } else if silence != nil {
            log.error("the wipe is incomplete: it is tried again")
            // Or the new process would go on the air with what is left.
            if premises.pendingWipe == nil { Premises.noteInProcess() }
            renew()
        } else {
            tellOfFailures()
            panel.refresh()
            if isStopping { stop() }
        }
    }

    private func carryOut(_ silence: @escaping () -> Void) -> WipeReport? {
        var premises = premises
        let path = premises.directory
        var obstacle: [WipeReport.Failure] = []
        if premises.state == nil {
            do throws(StationFault) {
                guard StateDirectory.exists(path) else { throw .state("\(path) is not there") }
                premises.state = try StateDirectory(path)
            } catch {
                obstacle = [WipeReport.Failure(step: "state_directory", reason: "\(error)")]
                // Where nothing is, nothing is destroyed, and what another process has is that one's to wipe.
                guard StateDirectory.exists(path), !StateDirectory.isTaken(path) else {
                    let unknown = premises.unknownPlaces.map { WipeReport.Failure(step: $0, reason: "unknown") }
                    return WipeReport(state: .incomplete, failures: unknown + obstacle)
                }
            }
        }
        // Somebody asks for it, whatever began the wipe before.
        var report = premises.wipe(.panic, silence: silence)
        report?.failures.insert(contentsOf: obstacle, at: 0)
        return report
    }

    /// A fresh process takes the place of this one, unless it is to stop anyway. Where the system makes none, whoever
    /// starts the next one does; but what nobody else would know of is not left to it.
    private func renew() {
        close()
        do throws(SystemError) {
            if !isStopping, !StopSignals.isAsked { try restart() }
        } catch {
            log.error("no fresh process follows the wipe: \(errno: error.code)")
            if report.state == .incomplete, !premises.isWipeKnownToOthers {
                report.failures.append(WipeReport.Failure(step: WipeStep.clearMemory.rawValue, reason: "\(error)"))
                return start()
            }
        }
        loop.stop()
    }

    // MARK: Commands

    private var refusal: ControlError {
        if let fault { return ControlError(code: "not_started", message: "bitgated cannot start: \(fault)") }
        return ControlError(
            code: "wipe_incomplete",
            message: "a wipe is incomplete: radio and network are off; bitgate wipe --status tells what failed")
    }

    private var commands: [ControlCommand] {
        ControlCommand.ofEveryBox(status: { [unowned self] in report }, wipe: { [unowned self] in beginWipe() }) + [
            ControlCommand("wipe_acknowledge") { [unowned self] (_: ControlRequest) throws(ControlError) in
                guard [.none, .wiped].contains(report.state) else { throw refusal }
                try premises.acknowledgeWipe()
                report = premises.lastWipe
                return report
            }
        ]
    }
}
