import Basics

/// Every bound of the Nostr engine.
public enum NostrLimits {
    // MARK: Events (chapter 05 §1.1)

    public static let tagsPerEvent = 64
    public static let valuesPerTag = 16
    public static let bytesPerTagValue = 1_024
    /// A whole WebSocket text message, hence also any event. A longer one is dropped and the socket kept.
    public static let messageBytes = 262_144

    // MARK: Connections (chapter 05 §6.1–6.3)

    /// Relays known at once: the default set of 12 and ten geo relays for each of a handful of places.
    public static let relays = 64
    static let firstRedial = Interval.seconds(1)
    static let slowestRedial = Interval.seconds(300)
    /// Each delay is spread by this part of itself, either way.
    static let redialJitter = 0.2
    /// Failed attempts after which a relay counts as failed.
    static let attempts = 10
    /// How long a failed relay is left alone.
    static let failureDecay = Interval.seconds(600)
    /// A way to the relays that is away for as long was out; one that is back sooner had failing relays (ours).
    static let outage = Interval.seconds(30)
    static let reconcileInterval = Interval.seconds(60)
    /// SOCKS, TLS and upgrade together may take this long; the sum of their own limits (chapter 05 §15.2).
    static let dialTimeout = Interval.seconds(180)
    /// A connection that ends sooner without a single useful answer counts as one more failed attempt.
    static let provingTime = Interval.seconds(30)
    /// Silence after which a ping is sent, and how long its answer may take.
    static let keepAlive = Interval.seconds(45)
    static let pongTimeout = Interval.seconds(30)
    /// Redials while the proxy itself is down, doubling (chapter 05 §15.2).
    static let firstRouteRetry = Interval.seconds(5)
    static let slowestRouteRetry = Interval.seconds(300)
    /// A connection nobody wants any more is kept this long for the next use.
    static let linger = Interval.seconds(60)
    /// How long a relay is kept for a confirmed publication: a dial through Tor and another attempt.
    static let hold = Interval.minutes(5)
    /// Events nobody asked for, or forged, that a relay may send on one connection.
    static let violations = 20
    /// Frames that mean nothing: a burst, and how many a second are borne on end. Chapter 05 §5.2 keeps the socket for
    /// such a frame, which a relay that sends nothing else would live on.
    static let nuisanceBurst = 200.0
    static let nuisancesPerSecond = 1.0
    /// Events a relay may repeat; a reconnect repeats far fewer over all subscriptions of a channel.
    static let repetitionBurst = 8_192.0
    static let repetitionsPerSecond = 64.0
    /// Longest challenge that is answered.
    static let challengeBytes = 256
    /// How old a relay's information document may get, and the pause after it could not be had.
    static let informationAge = Interval.hours(24)
    static let informationRetry = Interval.hours(1)
    /// Information documents that can be asked for at once: one of every relay.
    public static let informationRequests = relays
    /// Smallest message limit that a relay is believed to have.
    static let leastMessageBytes = 1_024
    /// A clock that goes back by more than this is a step and no correction; in milliseconds.
    static let clockStep: Int64 = 60_000

    // MARK: Publication (chapter 05 §6.4, §6.8)

    public static let pendingEvents = 200
    static let pendingBytes = 4_194_304
    /// Seconds. Relays refuse ephemeral events older than this, so publishing one is silent loss.
    public static let ephemeralAge: Int64 = 60
    static let confirmations = 32
    static let confirmationTimeout = Interval.seconds(10)
    /// Sockets of isolated publications at once, how many one publication may have, and how many messages one may bring
    /// that are no answer.
    static let isolatedSockets = 16
    static let isolatedRelays = 4
    static let isolatedMessages = 16
    /// Events written on one socket whose OK is still believed; as many as may be waiting to be written.
    static let answerableEvents = 200
    /// Events begun by the whole process, and written to one relay, within a second: what relays that say
    /// "noting too much" bear (chapter 05 §6.11).
    public static let publishesPerSecond = 3
    /// Most work done for relays that ask for some: a second or two of one core.
    public static let offeredWork = 20
    /// Pause after `rate-limited:`, doubling.
    static let firstPublishHold = Interval.seconds(30)
    static let longestPublishHold = Interval.seconds(600)

    // MARK: Durable publication

    /// Publications waiting for a relay's confirmation, and their bytes, together and each.
    public static let durablePublications = 256
    public static let durableBytes = 4_194_304
    public static let durableBytesEach = 131_072
    /// Attempts under way at once: few, so that a backlog leaves room for what is said just now.
    static let durableAtOnce = 4
    /// Pause after a failed attempt, doubling.
    static let durableRetry = Interval.seconds(30)
    static let longestDurableRetry = Interval.hours(1)
    /// How long what a relay confirmed is not published again, in milliseconds, and how many of those are remembered:
    /// three a second for a day would be more, and no owner has as many.
    static let publishedAge: UInt64 = 86_400_000
    public static let publishedKeys = 4_096
    static let durablePruning = Interval.minutes(10)
    /// Events remembered as processed (chapter 05 §6.7).
    public static let processedEvents = 2_000

    // MARK: Subscriptions (chapter 05 §5.2, §6.5, §6.6)

    /// Durable subscriptions; as many as REQs may wait for one relay.
    public static let subscriptions = 64
    public static let subscriptionIDBytes = 64
    /// Ids remembered per socket as used for another filter before, and how long events under one that is not used
    /// any more are excused.
    static let endedIDs = 256
    static let endedGrace = Interval.seconds(30)
    static let repeatGuard = Interval.seconds(1)
    static let initialLoadTimeout = Interval.seconds(10)
    static let firstClosedRetry = Interval.seconds(60)
    static let longestClosedRetry = Interval.hours(1)
    /// Overlap when `since` is moved up on replay, in seconds (chapter 05 §18.8).
    static let sinceOverlap: Int64 = 900

    // MARK: Inbound (chapter 05 §6.7)

    static let recentEvents = 4_096
    static let recentEventsAfterTrim = 3_072
    /// Undecoded frames of one relay above which its socket is not read.
    static let inboundFrames = 64
    static let inboundBytes = 1_048_576
    /// Frames that may still arrive after reading was stopped; beyond them the oldest is shed.
    static let inboundFramesHard = 256
    static let inboundBytesHard = 4_194_304
    /// Signature checks of one relay: the bridge's budget.
    static let verificationBurst = 720.0
    static let verificationsPerSecond = 12.0
    /// Signature checks and frames in one turn of the loop, over all relays.
    static let verificationsPerTurn = 16
    static let framesPerTurn = 128
    /// Bytes of frames in one turn; the last frame may exceed it.
    static let bytesPerTurn = 1_048_576
}
