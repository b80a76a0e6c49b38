import Basics

/// Bounds and spans of Noise sessions (chapter 02 §3.7, §4).
public enum NoiseSessionLimits {
    // MARK: Handshakes (§4.2)

    public static let initiatorTimeout = Interval.seconds(10)
    /// Never extended by another first message.
    public static let responderTimeout = Interval.seconds(20)
    /// A first message that crossed ours and comes after we completed.
    public static let crossingGrace = Interval.seconds(1)
    /// First messages ignored after a session was put back.
    public static let rollbackCooldown = Interval.seconds(60)
    public static let recoveryDelay = Interval.milliseconds(200)
    public static let refusedRecoveryDelay = Interval.seconds(60)
    /// §4.4: how long an initiator still reads under the keys it replaced.
    public static let replacedKeysLinger = Interval.seconds(5)
    /// §9.3: no new attempt towards a peer that just did not answer two.
    public static let failedPeerPause = Interval.seconds(60)

    // MARK: Sizes of the table (§4.2)

    public static let sessions = 512
    public static let unfinishedResponders = 64

    // MARK: Handshake rates (§4.9)

    public static let rateWindow = Interval.seconds(60)
    /// Sent to one peer, and received in its name.
    public static let handshakesPerPeer = 10
    /// Of these, received in its name on other links than its own, which anybody can do.
    public static let handshakesElsewhere = 3
    public static let handshakesPerLink = 30
    public static let handshakes = 300
    /// Peers with a count. More cannot be counted within a window than there are handshakes and own starts.
    public static let ratedPeers = 1_024

    // MARK: Session life (§3.7)

    /// iOS neither encrypts nor decrypts in an older session.
    public static let sessionLife = Interval.hours(24)
    public static let rekeyAge = Interval.hours(23)
    public static let messages: UInt64 = 1_000_000_000
    public static let rekeyMessages: UInt64 = 900_000_000
    /// §4.11: messages in a row that do not open, after which the keys are doubted.
    public static let failuresBeforeResync = 3
    public static let resyncInterval = Interval.seconds(60)
    /// §4.10: at most one revalidation a link.
    public static let revalidationInterval = Interval.seconds(60)

    // MARK: Ciphertexts that overtook the third message (§4.2)

    public static let earlyPerPeer = 4
    public static let earlyTotal = 32
    /// What came in on one link: ours, so that invented names on one leave room for the real ones of three others.
    public static let earlyPerLink = earlyTotal / 4
    public static let earlyBytes = 1_441_872
    public static let earlyLife = Interval.seconds(20)

    // MARK: Payloads waiting for a session (§4.12)

    public static let queuedPerPeer = 32
    public static let queuedTotal = 1_024
    /// One private file and everything else that may wait.
    public static let queuedBytes = 4 << 20
    public static let queuedLife = Interval.minutes(10)

    // MARK: Pace (§3.5)

    /// To peers that are not neighbours. Each relay delays a frame by 20 to 60 ms, so over six of them 240 ms lie
    /// between the fastest and the slowest: at this pace no message is overtaken by more than six others.
    public static let relayedSpacing = Interval.milliseconds(40)
    /// Behind a third message, which relays delay by 10 to 35 ms: six of them may let others catch up 90 ms.
    public static let relayedSettling = Interval.milliseconds(100)
    /// While a fragmented message is on its way nothing follows it; how often that is looked at.
    public static let trainPoll = Interval.milliseconds(50)
    /// iOS admits 100 a second, what it sends included.
    public static let messagesPerSecond = 40.0
    public static let messageBurst = 40.0
    /// Peers established with in a crowd, each of which draws an announce.
    public static let announcesPerSecond = 1.0
    public static let announceBurst = 16.0
}
