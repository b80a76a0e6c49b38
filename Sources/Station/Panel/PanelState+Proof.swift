import Basics
import Panel
import Radio
import Uplink

/// What was observed of a box, as far as its lamps tell of it.
struct PanelProof {
    /// When the process began.
    var started: Instant
    var wipe = WipeReport.State.none
    var isClockTrusted = false
    /// Nil where the way out is direct, by configuration.
    var tor: (stage: TorStage, percent: Int)?
    /// A relay has answered, and has not fallen silent since: connections are given up when they do.
    var isRelayConnected = false
    /// Whether any radio can be expected to work.
    var isRadioExpected = true
    /// When a radio last did what it was told to on the air.
    var lastRadio: Instant?
    /// Nobody would be heard who presses it.
    var isButtonDeaf = false
    /// When the last frame came from a neighbour.
    var lastFrame: Instant?
    var isMailWaiting = false
    /// Radio or storage need a person's hand. What the internet's lamp tells, what passes by itself and what was chosen
    /// does not.
    var needsRepair = false
}

extension PanelState {
    enum Limits {
        /// Neighbours announce themselves every 15 to 30 s (chapter 03 B3); two may be lost.
        static let meshSilence = Interval.seconds(90)
        /// A controller comes late at boot, and its absence is no fault until then. Ours.
        static let radioPatience = Interval.seconds(30)
        /// A radio does something every few minutes at the least. Shorter than the patience of the watchdog
        /// (`SupervisionLimits.radioSilence`), so that it is seen before that acts. Ours.
        static let radioSilence = Interval.minutes(10)
    }

    /// The one place where what was observed becomes what is shown.
    init(_ proof: PanelProof, at now: Instant) {
        self.init()
        isStarting = proof.lastRadio == nil && now - proof.started < Limits.radioPatience
        isClockTrusted = proof.isClockTrusted
        tor = proof.tor.map { PanelState.tor($0.stage, percent: $0.percent) } ?? .off
        isMeshAlive = proof.lastFrame.map { now - $0 < Limits.meshSilence } ?? false
        isInternetAlive = proof.isRelayConnected
        isMailWaiting = proof.isMailWaiting
        // What nobody complains of may still not work.
        let isRadioSilent =
            proof.isRadioExpected && (proof.lastRadio.map { now - $0 >= Limits.radioSilence } ?? !isStarting)
        hasFault = isRadioSilent || proof.isButtonDeaf || proof.needsRepair
        wipe = PanelState.wipe(proof.wipe)
    }

    static func wipe(_ state: WipeReport.State) -> Wipe {
        switch state {
        case .none, .unknown: .none
        case .wiping: .wiping
        case .wiped: .wiped
        case .incomplete: .failed
        }
    }

    private static func tor(_ stage: TorStage, percent: Int) -> Tor {
        switch stage {
        case .waitingForTime, .starting: .connecting(percent: 0)
        case .unreachable, .clockSkew, .stalled: .unreachable
        case .bootstrapping: .connecting(percent: min(99, max(0, percent)))
        case .proving, .degraded: .connecting(percent: 99)
        case .ready: .ready
        }
    }
}

extension Station {
    var panelState: PanelState {
        let now = now.monotonic
        var proof = PanelProof(started: started)
        proof.wipe = wipeReport.state
        proof.isClockTrusted = clock.standing.source.isTrusted
        if let report = torRoute?.report { proof.tor = (report.stage, report.bootstrap?.progress ?? 0) }
        proof.isRelayConnected = uplink.isConnected
        let radios = radio.liveness.filter(\.isExpected)
        proof.isRadioExpected = !radios.isEmpty
        proof.lastRadio = radios.compactMap(\.lastProof).max()
        proof.isButtonDeaf = panel.report?.button.isDeaf ?? false
        proof.lastFrame = mesh.links.compactMap(\.lastIn).max()
        proof.isMailWaiting = mailStatus.carried > 0
        proof.needsRepair = !RadioAdvice.attention(of: radio, at: now).isEmpty || !storageAttention.isEmpty
        return PanelState(proof, at: now)
    }
}
