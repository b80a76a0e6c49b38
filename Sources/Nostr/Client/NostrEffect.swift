/// One connection to one relay. A new one has a new generation, so that whatever an old one still reports is recognised
/// and ignored.
public struct NostrSocketID: Hashable, Sendable {
    public let relay: NostrRelayURL
    public let generation: UInt64
    /// Set for the socket of one isolated publication: it must not share a Tor circuit with anything else.
    public let isolation: PublicationID?

    init(relay: NostrRelayURL, generation: UInt64, isolation: PublicationID? = nil) {
        self.relay = relay
        self.generation = generation
        self.isolation = isolation
    }
}

/// What the relay client wants done, in order.
public enum NostrEffect: Hashable, Sendable {
    /// Connect; answer with `relayOpened` or `relayClosed`. Whether and over which route is decided by the network gate
    /// at that very moment.
    case dial(NostrSocketID)
    /// Close, with this WebSocket status; no answer is expected.
    case close(NostrSocketID, code: UInt16)
    /// Write one text message.
    case send([UInt8], on: NostrSocketID)
    /// Write a WebSocket ping; report whatever arrives with `heard`.
    case ping(NostrSocketID)
    /// Stop or resume reading the socket, so that TCP slows the relay down.
    case setReading(Bool, on: NostrSocketID)
    /// A verified event that matches the subscription; once per event and subscription.
    case event(VerifiedEvent, subscription: String)
    /// The initial load of a subscription is over: data may have arrived or not (chapter 05 §6.6). Again for relays
    /// that come to the end of what they have later than that, if they have anything.
    case endOfStored(subscription: String, StoredExtent)
    case published(PublicationID, PublicationOutcome)
    case relayStateChanged(NostrRelayURL, isConnected: Bool)
    /// Get the relay's information document over the route of its socket, within `RelayInformation.maximumBytes`, and
    /// pass it to `informationReceived`; a failure need not be told.
    case fetchInformation(NostrRelayURL)
}

/// WebSocket close statuses sent (RFC 6455 §7.4.1).
public enum CloseCode {
    public static let goingAway: UInt16 = 1_001
    static let policyViolation: UInt16 = 1_008
}

/// What may touch the network (chapter 05 §15).
public enum NetworkGate: Hashable, Sendable {
    /// Not wanted by the operator, no link, or no proven time: nothing is dialled and nothing queued.
    case closed
    /// Wanted, but the route is not ready: publications wait.
    case waitingForRoute
    case open
}

/// How a connection, or the attempt at one, ended.
public enum RelayFailure: String, CaseIterable, Sendable {
    /// The name does not resolve: SOCKS replies 0x04, F1 and F6.
    case nameUnusable = "name-unusable"
    /// An HTTP status other than 101.
    case upgradeRefused = "upgrade-refused"
    /// The proxy itself failed; says nothing about the relay.
    case routeUnavailable = "route-unavailable"
    case unreachable
    case tlsFailed = "tls-failed"
    case timedOut = "timed-out"
    case closedByRelay = "closed-by-relay"
    /// Not WebSocket, or a message beyond the hard ceiling.
    case protocolError = "protocol-error"
    /// No sign of life after a ping.
    case unresponsive
    /// Sent too much that was not asked for, forged or meant nothing.
    case misbehaving

    /// Not worth another attempt before the failure has decayed (chapter 05 §6.3).
    public var isPermanent: Bool {
        switch self {
        case .nameUnusable, .upgradeRefused, .misbehaving: true
        default: false
        }
    }
}

/// Names one confirmed publication.
public struct PublicationID: Hashable, Sendable {
    public let number: UInt64
}

public enum PublicationOutcome: Hashable, Sendable {
    /// The first relay to accept it, or to have it already.
    case accepted(by: NostrRelayURL)
    case failed(PublicationFailure)
}

public enum PublicationFailure: String, CaseIterable, Sendable {
    /// The gate was not open, or no target relay was connected or fit to be dialled; nothing was sent.
    case notConnected = "not-connected"
    /// Every relay refused it or went away.
    case rejected
    /// No relay answered in time.
    case timedOut = "timed-out"
    /// The same event was published again.
    case superseded
    /// Too many publications were waiting.
    case busy
}
