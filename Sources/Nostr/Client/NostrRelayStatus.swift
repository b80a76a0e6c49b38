import Basics

/// One relay as the operator sees it. Everything here is observed, nothing intended (chapter 05 §6.1).
public struct NostrRelayStatus: Sendable {
    public enum State: String, Sendable {
        case idle, dialling, connected
        /// A redial is scheduled.
        case waiting
        /// Left alone until its failure has decayed.
        case failed
    }

    /// A subscription at this relay.
    public struct Subscription: Sendable {
        public let id: String
        /// A REQ is in force on the present socket.
        public let isActive: Bool
        public let isLoading: Bool
        /// Why the relay closed it last.
        public let lastRefusal: RelayAnswer?
        /// When a refused REQ is tried again.
        public let retryAt: Instant?
    }

    public let url: NostrRelayURL
    public let state: State
    public var isConnected: Bool { state == .connected }
    /// Whether the default set, a subscription or a waiting event asks for it.
    public let isWanted: Bool
    /// Failed attempts in a row.
    public let attempts: Int
    public let lastFailure: RelayFailure?
    public let redialAt: Instant?
    /// When the relay last accepted an event.
    public let lastAccepted: WallTime?
    /// When a verified event last came from it.
    public let lastEvent: WallTime?
    public let answers: Tally<RelayAnswer>
    public let failures: Tally<RelayFailure>
    /// Events nobody asked for, or forged, on the present connection.
    public let violations: Int
    public let pendingEvents: Int
    /// What the relay says of itself, once it was asked.
    public let information: RelayInformation?
    /// The relay knows us on this connection, by a key made for it alone.
    public let isAuthenticated: Bool
    public let subscriptions: [Subscription]
}
