import Basics

/// Shares the air between outgoing attempts and advertising.
///
/// Some controllers fail for good when they advertise while a connection is being made, so advertising pauses for it.
/// A row of attempts that fail would keep advertising off for ever, and phones that dial in are what the box lives on:
/// after each pause advertising has its turn, as long as the pause was.
///
/// Scanning pauses too, for another reason: the kernel waits with a connection until it hears the peer advertise, and
/// within one discovery a controller reports each advertiser once.
struct AttemptPause {
    private var attempts = 0
    /// When scanning stops waiting for attempts.
    private var attemptsEnd: Instant?
    private var began: Instant?
    private var restEnds = Instant.zero
    /// Until when the attempt that began waits for a clear air; nil when it does not.
    private(set) var clearBy: Instant?

    var pausesAdvertising: Bool { began != nil }
    var pausesScanning: Bool { attemptsEnd != nil }
    func admitsAttempt(at now: Instant) -> Bool { began == nil && now >= restEnds }
    var deadline: Instant? { attemptsEnd }

    mutating func begin(at now: Instant) {
        attempts += 1
        attemptsEnd = attemptsEnd ?? now + ManagementLimits.longestAttempt
        clearBy = now + ManagementLimits.clearing
        if began == nil, now >= restEnds { began = now }
    }

    mutating func end(at now: Instant) {
        attempts = max(0, attempts - 1)
        if attempts == 0 { finish(at: now) }
    }

    mutating func cleared() { clearBy = nil }

    /// Ends what lasts too long. Whoever did not say that an attempt ended has no more say.
    mutating func expire(at now: Instant) {
        guard let attemptsEnd, now >= attemptsEnd else { return }
        finish(at: now)
    }

    private mutating func finish(at now: Instant) {
        attempts = 0
        attemptsEnd = nil
        clearBy = nil
        guard let began else { return }
        let pause = now - began
        restEnds = now + min(max(pause, ManagementLimits.rest.least), ManagementLimits.rest.most)
        self.began = nil
    }
}
