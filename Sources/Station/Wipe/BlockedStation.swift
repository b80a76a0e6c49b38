import EventLoop
import Panel
import Radio
import Vault

/// A box whose wipe is not complete: no radio, no network, no identity. It answers the control socket so that somebody
/// can see what failed, and tries again when told to, and at every start, as long as there is a note of the wipe. Where
/// nothing could be written but memory, that is until the power is cut; this is told, too.
public final class BlockedStation: Box {
    private let premises: Premises
    private let loop: any EventLoop
    private let log: Log
    private let restart: () -> Void
    private var failures: [WipeFailure]
    private var control: ControlServer?

    init(
        _ premises: Premises, failures: [WipeFailure], loop: any EventLoop, log: Log, restart: @escaping () -> Void
    ) {
        self.premises = premises
        self.failures = failures
        self.loop = loop
        self.log = log
        self.restart = restart
    }

    public func start() {
        panel.observe = {
            var state = PanelState()
            state.isStarting = false
            state.wipe = .failed
            return state
        }
        panel.onWipe = { [unowned self] in loop.enqueue { [weak self] in self?.tryAgain() } }
        panel.refresh()
        // Where it cannot be had, lamps and journal still tell.
        do throws(StationFault) {
            control = try ControlServer(
                path: premises.configuration.controlSocket, loop: loop, commands: commands, otherwise: refusal)
            control?.start()
        } catch {
            log.error("control_socket cannot be made: nobody can be answered")
        }
        for failure in failures { log.error("the wipe is incomplete: \(failure.step) failed") }
        log.error("radio and network stay off; bitgate wipe tries again, and so does every start")
        if warning != nil {
            log.error("nothing that outlasts the power takes a note of it: a start after a cut knows nothing")
        }
    }

    public func stop() {
        panel.stop()
        control?.stop()
        loop.stop()
    }

    public func abandon() {
        panel.stop()
        control?.stop()
        premises.state?.release()
    }

    public func reload(_ next: Configuration) {}
    public func refusedToReload(from file: String) {}

    var panel: PanelDesk { premises.panel }
    public var liveness: [RadioLiveness] { [] }
    public var summary: String { "a wipe is incomplete: radio and network are off" }

    private var report: WipeReport {
        var report = WipeReport(failures)
        if let warning { report.failures.append(warning) }
        return report
    }

    private var warning: WipeReport.Failure? {
        guard !premises.isWipeNotedForGood else { return nil }
        return WipeReport.Failure(
            step: "note",
            reason:
                "nothing that outlasts the power takes a note of this wipe: once it is cut, the box starts with what "
                + "is left; destroy the card first")
    }

    private func tryAgain() {
        // Somebody asks for it, whatever began the wipe before.
        switch PanicWipe.run(with: premises.wipe(.panic)) {
        case .complete:
            log.info("the wipe is complete")
            control?.stop()
            restart()
            loop.stop()
        case .incomplete(let failures):
            self.failures = failures
            panel.refresh()
        }
    }

    private let refusal = ControlError(
        code: "wipe_incomplete",
        message: "a wipe is incomplete: radio and network are off; bitgate wipe --status tells what failed")

    private var commands: [ControlCommand] {
        [
            ControlCommand("ping") { ["version": Version.text] },
            ControlCommand("wipe_status") { [unowned self] in report },
            .wipe { [unowned self] in
                loop.enqueue { [weak self] in self?.tryAgain() }
                return WipeReport(state: .wiping)
            },
        ]
    }
}
