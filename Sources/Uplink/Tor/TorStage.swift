import Basics

/// Whether anything may be dialled (chapter 05 §15.2).
public enum RouteAccess: String, Sendable {
    /// Nothing may be dialled, and nothing is worth waiting.
    case closed
    /// What is to be sent waits.
    case waiting
    case open
}

/// Where the way through Tor stands, for status and lamp. The raw values are stable.
public enum TorStage: String, CaseIterable, Sendable {
    /// Tor, TLS and every event depend on the clock, so it comes first.
    case waitingForTime = "waiting-for-time"
    /// The control port is being asked for the first time.
    case starting
    /// The SOCKS port does not answer.
    case unreachable
    case bootstrapping
    /// Tor cannot come up because the clock is wrong.
    case clockSkew = "clock-skew"
    /// Nothing has moved for long. Nothing is restarted: on a slow line that would begin it all again.
    case stalled
    /// Tor says that it is up; no connection has gone through it yet.
    case proving
    case ready
    /// It worked before, and does not now.
    case degraded
}

/// A step of the bootstrap and when it was reached.
public struct TorBootstrapStep: Equatable, Sendable {
    public let progress: Int
    public let tag: String
    public let summary: String
    /// Since the bootstrap was first seen.
    public let after: Interval
}

/// Everything the operator is told of the way through Tor.
public struct TorReport: Equatable, Sendable {
    public enum Control: Equatable, Sendable {
        /// By configuration.
        case none
        case pending
        case connected
        case lost(TorControlFault)
    }

    public var stage: TorStage
    public var access: RouteAccess
    public var control: Control
    public var version: String?
    public var bootstrap: TorBootstrap?
    /// Of the bootstrap under way, or of the last one that was seen.
    public var steps: [TorBootstrapStep]
    /// Since a connection or bytes last came through.
    public var sinceProof: Interval?
    /// Why the way is not taken for good, in words.
    public var problem: String?
    /// Seconds the clock is off by the network's account, negative when slow.
    public var clockSkew: Int?
    /// Since the way was last asked in vain, and until it is asked again.
    public var nextProbe: Interval?
}

/// What an attempt to connect tells about the way, whatever it tells about its destination.
public enum RouteEvidence: Equatable, Sendable {
    /// Somebody behind Tor answered, if only with a refusal.
    case worked
    /// Tor answered, or not even that, and nobody behind it.
    case failed(String)
    /// A connection that had been made, and nothing came over it any more.
    case fellSilent(String)
    /// The SOCKS port itself.
    case proxyFailed(String)
}
