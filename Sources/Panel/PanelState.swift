/// What the lamps are to show, from what was observed and not from what was intended (field lesson: a lamp that shows
/// intentions looks fine while nothing works).
public struct PanelState: Equatable, Sendable {
    public enum Tor: Equatable, Sendable {
        /// Not wanted, by configuration.
        case off
        case unreachable
        /// 0 to 99.
        case connecting(percent: Int)
        case ready
    }

    public enum Wipe: Equatable, Sendable {
        case none, wiping
        /// Done, and not acknowledged yet.
        case wiped
        case failed
    }

    public var isStarting = true
    public var isClockTrusted = false
    public var tor = Tor.unreachable
    /// A frame came from a neighbour lately.
    public var isMeshAlive = false
    /// A relay answered lately.
    public var isInternetAlive = false
    public var isMailWaiting = false
    public var hasFault = false
    public var wipe = Wipe.none

    public init() {}
}

/// The lamps a box may have. One is enough.
public enum Lamp: String, CaseIterable, Sendable {
    case status, mesh, internet, mail
}

/// Which sign each lamp shows: the one place that decides it.
public enum PanelFace {
    /// - Parameters:
    ///   - gesture: what the button is in the middle of, which goes before everything but a wipe.
    ///   - isAlone: there is no lamp but the one for status, which then shows the way to the internet too.
    public static func sign(
        of lamp: Lamp, in state: PanelState, gesture: PanelSign?, isAlone: Bool
    ) -> PanelSign {
        if let wipe = wipeSign(state, gesture) { return lamp == .status ? wipe : .dark }
        switch lamp {
        case .status:
            if state.isStarting { return .starting }
            if state.hasFault { return .fault }
            if !state.isClockTrusted { return .waitingForTime }
            // Dark means no power, or that nobody is at home: a box that runs never is.
            return isAlone ? internetSign(state, whenAlive: .well, whenSilent: .noRelay) : .well
        case .mesh: return state.isMeshAlive ? .alive : .silent
        case .internet:
            return state.isClockTrusted ? internetSign(state, whenAlive: .alive, whenSilent: .silent) : .waitingForTime
        case .mail: return state.isMailWaiting ? .mailWaiting : .dark
        }
    }

    private static func wipeSign(_ state: PanelState, _ gesture: PanelSign?) -> PanelSign? {
        switch state.wipe {
        case .wiping: .wiping
        case .failed: gesture ?? .wipeFailed
        case .wiped: gesture ?? .wiped
        case .none: gesture
        }
    }

    private static func internetSign(
        _ state: PanelState, whenAlive alive: PanelSign, whenSilent silent: PanelSign
    ) -> PanelSign {
        switch state.tor {
        case .unreachable: .torUnreachable
        case .connecting(let percent): percent < 50 ? .torBeginning : .torAlmost
        case .ready: state.isInternetAlive ? alive : silent
        case .off: state.isInternetAlive ? .withoutTor : silent
        }
    }
}
