import Basics

/// Outcome of a carrier or a relay's event. Thrown if it means "refused"; always counted.
public enum CarriageOutcome: String, CaseIterable, Error, Sendable {
    // Accepted.
    /// A deposit, or a queued one at its flush, was handed to the relays.
    case published
    /// A deposit waits for a relay.
    case queued
    /// A broadcast carrier was verified and remembered.
    case heard
    /// A relay's event waits for its turn on the air.
    case held
    /// A relay's event was broadcast.
    case sent
    /// A deposit was told to the island.
    case echoed
    /// A presence was counted.
    case counted

    // Refused: switches and addressing.
    case switchedOff
    case clockUntrusted
    /// A `to*` carrier not addressed to us, a `from*` one that is, or a deposit without a proven depositor.
    case misaddressed
    case unknownSubscription

    // Refused: structure.
    case oversize
    case invalidGeohash
    case unparsable
    case wrongKind
    case wrongTag
    case outsideRing
    case stale
    case blank
    case tooLong

    // Refused: loops.
    case repeated
    case ownEvent

    // Refused: limits and signature.
    case depositorLimit
    case depositorQueueFull
    case verificationLimit
    case keyOrTotalLimit
    case forged

    // Given up later.
    /// The oldest one made room for another.
    case displaced
    /// Too old for relays, or no longer fresh, when its turn came.
    case expired
    /// Another gateway was faster.
    case heardMeanwhile
    /// The island has the radio message itself.
    case radioCopy
    /// Switching off cleared it.
    case cleared
}

/// Everything the gateway counted since it started, per service and way.
public struct GatewayCounters: Sendable {
    public typealias Outcomes = Tally<CarriageOutcome>

    /// `toGateway` carriers.
    public var channelDeposits = Outcomes()
    /// `fromGateway` carriers of others.
    public var channelBroadcasts = Outcomes()
    /// Relay events of followed channels, and echoes.
    public var channelDownlinks = Outcomes()
    /// `toBridge` carriers.
    public var bridgeDeposits = Outcomes()
    /// `fromBridge` carriers of others.
    public var bridgeBroadcasts = Outcomes()
    /// Relay events of the rendezvous cells.
    public var bridgeDownlinks = Outcomes()
    /// Radio messages forgotten before their time because the memory was full.
    public var radioForgottenEarly: UInt64 = 0

    public init() {}
}
