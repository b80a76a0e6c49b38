import Basics

/// Every bound of the conversation with tor.
enum TorLimits {
    // MARK: Control port

    /// One line of a reply. What is asked for here takes some hundred bytes.
    static let lineBytes = 4_096
    /// One reply with all its lines and data.
    static let replyBytes = 65_536
    static let replyLines = 256
    /// `KEY=VALUE` pairs read from one line.
    static let keywords = 32
    /// A summary or warning as it is shown.
    static let textBytes = 200
    /// Replies handled in one turn of the loop; the rest waits.
    static let repliesPerTurn = 64
    /// The cookie and both nonces of SAFECOOKIE (control-spec §3.24).
    static let cookieBytes = 32
    /// Connecting, and each answer: tor answers within milliseconds unless it is stopped.
    static let answerTimeout = Interval.seconds(10)
    /// How often a silent tor is asked, so that a stopped one is noticed.
    static let heartbeat = Interval.seconds(15)
    /// Reconnects, doubling.
    static let firstReconnect = Interval.seconds(1)
    static let slowestReconnect = Interval.seconds(30)

    // MARK: Readiness (chapter 05 §15.2)

    /// Probes while none succeeds, doubling.
    static let firstProbeRetry = Interval.seconds(5)
    static let slowestProbeRetry = Interval.seconds(300)
    /// While the SOCKS port itself does not answer: asking it costs no traffic.
    static let slowestProxyRetry = Interval.seconds(30)
    /// A probe that never ends by itself is given up after the longest CONNECT, an onion's, and what comes before it.
    static let probeTimeout = Interval.seconds(140)
    /// Without a control port: no CONNECT has succeeded for so long after the first attempt.
    static let stalledAttempt = Interval.seconds(75)
    /// With one: the bootstrap has said nothing for so long.
    static let stalledBootstrap = Interval.minutes(10)
    /// Failures in a row, with nothing heard in between, after which the way is in doubt.
    static let failuresForDoubt = 2
    /// Failed dials closer together count as one: ours. Relays that are gone and were dialled together fail together.
    static let failureSpacing = Interval.seconds(5)
    /// A connection closed after so long without a byte was given up for dead; one in use is heard every 45 s.
    static let silence = Interval.seconds(70)
    /// Steps of one bootstrap kept for the operator; a whole one has about twenty.
    static let bootstrapSteps = 32
}
