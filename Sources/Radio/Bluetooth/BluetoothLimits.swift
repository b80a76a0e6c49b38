import Basics

/// Every bound of the Bluetooth radio.
enum BluetoothLimits {
    /// One tick drives all supervision (chapter 03 A4, B17).
    static let tick = Interval.seconds(5)

    // Whom to call (chapter 03 A5).

    /// A connection attempt is given up after this long.
    static let connectTimeout = Interval.seconds(8)
    /// Neighbours that wait to be called; the weakest goes.
    static let candidates = 100
    /// What was heard longer ago says nothing about who is there; the kernel reports a neighbour once in each discovery
    /// of about ten seconds.
    static let candidateLife = Interval.seconds(60)
    /// Signal of a neighbour whose adapter does not measure it, dBm: neither weak nor near.
    static let unknownSignal = -80
    /// A neighbour at or below this, dBm, that timed out within `weakTimeout` is not called again before.
    static let weakSignal = -90
    static let weakTimeout = Interval.seconds(30)
    static let weakRetry = Interval.seconds(2)...Interval.seconds(15)
    /// Weaker neighbours wait for the next tick, dBm: with links, with links and no slot left, alone, long alone.
    static let threshold = -90
    static let saturatedThreshold = -85
    static let aloneThreshold = -95
    static let longAloneThreshold = -100
    static let longAlone = Interval.seconds(30)
    /// Attempts under way at once on an adapter: the kernel carries out one at a time.
    static let attemptsAtOnce = 1
    /// How often an adapter is asked that admits no attempt for the moment.
    static let admissionRetry = Interval.milliseconds(500)
    /// Attempts in a row that fail before the neighbour gets the longer pause.
    static let quickAttempts = 3
    /// Spread of the pause after a failure, so that two boxes that call each other do not fail in step.
    static let retryJitter = Interval.seconds(1)
    /// The same after a timeout. Boxes that call each other at once never meet, since a controller that calls may not
    /// advertise meanwhile: they have to get out of step by the length of a call.
    static let timeoutJitter = connectTimeout
    /// Nobody is called sooner than by chance within this time of being heard first, for the same reason.
    static let hesitation = Interval.milliseconds(1_500)
    /// A neighbour without the mesh service, and one whose second link was given up for want of slots, is not called
    /// for so long (chapter 03 A6, A13.5).
    static let ignoring = Interval.minutes(15)

    // Links an adapter holds (chapter 03 A5).

    /// A limit learned from a refusing controller is tried one higher after each of these.
    static let limitMemory = Interval.minutes(15)
    /// After an own end of a link, the controller is taken to hold it for so long unless it says otherwise: the kernel
    /// keeps an accepted one for four seconds after its socket closed.
    static let lingering = Interval.seconds(5)
    /// A neighbour on the air of which no socket has come within this long is held by somebody else's ATT channel.
    static let socketWait = Interval.seconds(3)

    /// Between two searches for the process that answers in our place.
    static let rivalSearch = Interval.minutes(10)

    // Supervision (chapter 03 A13.6).

    /// A link bound to nobody is dropped.
    static let unbound = Interval.seconds(60)
    /// A link that takes nothing of what waits for it is ended: as long as ATT waits for an answer (chapter 03 A12.4).
    static let stalled = Interval.seconds(30)
    /// Incoming links bound to nobody, at once, on an adapter.
    static let unboundIncoming = 4
    /// When those are taken, a newcomer replaces one that had this long to say who it is.
    static let unboundGrace = Interval.seconds(10)

    // Sending.

    /// Trains of more fragments stop the scan (chapter 03 A4).
    static let longTrain = 4
    /// For how long they do (chapter 03 A4).
    static func trainPause(_ fragments: Int) -> Interval { min(.seconds(5), .milliseconds(20) * Int64(fragments)) }

    // Sockets.

    /// Longest PDU the kernel's channel takes or delivers (chapter 03 A13.2).
    static let longestPDU = 672
    /// PDUs taken from one link in one turn of the loop.
    static let readBatch = 32
    /// PDUs taken from a link that has ended, more than its socket holds.
    static let drainBatch = 1_024
    /// Send buffer of a link in bytes as the option takes it; the kernel doubles it, and counts nearly a kilobyte for
    /// each piece of 27 bytes that a small controller takes, twenty of them to a full PDU.
    static let sendBuffer: Int32 = 12_288
    /// Tried for a controller with still smaller pieces or a kernel that counts more.
    static let largestSendBuffer: Int32 = 98_304
    /// Times in a row that a socket may call itself writable and take nothing before its buffer is enlarged.
    static let fruitlessWakeUps = 4
}
