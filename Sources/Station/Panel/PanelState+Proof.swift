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
    /// A radio did what it was told to on the air.
    var hasRadio = false
    /// When the last frame came from a neighbour.
    var lastFrame: Instant?
    var isMailWaiting = false
    /// Codes of what needs the operator.
    var attention: [String] = []
}

extension PanelState {
    enum Limits {
        /// Neighbours announce themselves every 15 to 30 s (chapter 03 B3); two may be lost.
        static let meshSilence = Interval.seconds(90)
        /// A controller comes late at boot, and its absence is no fault until then. Ours.
        static let radioPatience = Interval.seconds(30)
    }

    /// Whether this is something a person has to mend at the box. What the internet's lamp tells, what passes by itself
    /// and what was chosen is not.
    static func isFault(_ code: String) -> Bool { code.hasPrefix("adapter_") || code.hasPrefix("storage_") }

    /// The one place where what was observed becomes what is shown.
    init(_ proof: PanelProof, at now: Instant) {
        self.init()
        isStarting = !proof.hasRadio && now - proof.started < Limits.radioPatience
        isClockTrusted = proof.isClockTrusted
        tor = proof.tor.map { PanelState.tor($0.stage, percent: $0.percent) } ?? .off
        isMeshAlive = proof.lastFrame.map { now - $0 < Limits.meshSilence } ?? false
        isInternetAlive = proof.isRelayConnected
        isMailWaiting = proof.isMailWaiting
        hasFault = proof.attention.contains(where: PanelState.isFault)
        wipe = PanelState.wipe(proof.wipe)
    }

    static func wipe(_ state: WipeReport.State) -> Wipe {
        switch state {
        case .none: .none
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
        proof.hasRadio = radio.liveness.contains { $0.isExpected && $0.lastProof != nil }
        proof.lastFrame = mesh.links.compactMap(\.lastIn).max()
        proof.isMailWaiting = mailStatus.carried > 0
        proof.attention = attention.map(\.code)
        return PanelState(proof, at: now)
    }
}
