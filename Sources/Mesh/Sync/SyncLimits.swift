import Basics
import Crypto
import Wire

/// Every bound of gossip sync, from chapter 04 unless said otherwise.
public enum SyncLimits {
    // MARK: Store (§2, §9.2)

    /// §2, gateway policy: announces, one a sender; the reference has no cap.
    public static let announces = 512
    /// §2: an announce older than this at arrival is not stored, and a stored one is no longer served (§9.4).
    static let announceStaleMilliseconds: UInt64 = 60_000
    /// Chapter 03 B3.
    static let announceMaxAgeMilliseconds = ClaimedAnnounce.maximumAge
    public static let messages = 1_000
    static let messageBytes = 4 << 20
    static let messageMaxAgeMilliseconds = MeshLimits.publicMessageMaxAgeMilliseconds
    public static let fragments = 600
    static let fragmentBytes = 1 << 20
    static let fragmentMaxAgeMilliseconds: UInt64 = 900_000
    /// What the reference keeps of whole files. We keep none: decision of §2's gateway policy.
    static let referenceFiles = 200
    static let fileMaxAgeMilliseconds: UInt64 = 900_000
    public static let groupMessages = 200
    static let groupMessageBytes = 1 << 20
    static let groupMessageMaxAgeMilliseconds: UInt64 = 6 * 3_600_000
    public static let prekeyOwners = 200
    static let prekeyMaxAgeMilliseconds: UInt64 = 86_400_000
    /// §12.2: bundles of owners whose key is unknown, the latest an owner.
    static let parkedPrekeyOwners = 64
    /// Ours: how long a bundle waits for its owner's announce.
    static let parkedPrekeyLife = Interval.minutes(10)
    /// Bytes of an announce or a bundle that is kept: ours. Unknown fields are skipped, so that either may be stuffed
    /// with a megabyte of them; the largest bundle has 404 bytes (chapter 01 §9.5).
    static let stateFrameBytes = 4_096
    /// §9.2, gateway policy: of the capacity of an unsigned family, what one sender ID may fill.
    static let unsignedShare = 4

    // MARK: Remembered after the frame is gone

    /// Messages remembered by ID once their frames were dropped: by time first, by this count second. Six hours at
    /// more than one message a second.
    public static let rememberedMessages = 32_768
    /// How much longer than a message may live its ID is remembered: twice the tolerated clock skew, and the time a
    /// restart takes.
    static let rememberedSlackMilliseconds: UInt64 = 600_000
    static let rememberedFragments = 2_048
    static let rememberedGroupMessages = 2_048

    // MARK: Requests (§4.2, §6)

    static let tickInterval = Interval.seconds(30)
    static let historyInterval = Interval.seconds(15)
    static let fragmentInterval = Interval.seconds(30)
    static let slowInterval = Interval.seconds(60)
    /// §6.1, gateway policy: how much too early a round may run, so that jitter does not make it skip a tick.
    static let roundTolerance = Interval.seconds(1)
    /// §6.1, gateway policy: the rounds of one tick are spread instead of sent in a burst.
    static let roundSpacing = Interval.seconds(3)
    static let initialDelay = Interval.seconds(1)
    /// The references' filter, and P for a false-positive rate of 0.01.
    static let filterBytes = 400
    static let filterParameter: UInt8 = 7
    /// §5.2: the largest filter that every peer accepts; 910 packets at P = 7, 2,730 at P = 1.
    static let largestFilterBytes = GCSFilter.largestData
    static let smallestFilterParameter: UInt8 = 1
    /// §6.1, gateway policy: below the 8 that a responder answers.
    static let requestsPerPeer = 6
    static let requestWindow = Interval.seconds(30)
    /// Fragments are asked for and served this long only: a phone refuses what they become after two minutes (T6).
    static let fragmentServingMilliseconds: UInt64 = 120_000

    // MARK: Answers (§7)

    static let answersPerPeer = 8
    static let answerWindow = Interval.seconds(30)
    /// §7.3: pause between two frames of an answer on one link, and the longer one after live traffic on it.
    static let answerPace = Interval.milliseconds(20)
    static let answerPaceBesideTraffic = Interval.milliseconds(30)
    /// Packets waiting for one link, and for all together; what does not fit is offered at the next request.
    static let pendingAnswersPerLink = 4_096
    static let pendingAnswers = 32_768
    /// §7.3: pauses before the same packet is served to the same peer again; the last one repeats. Measured between
    /// requests, with the tolerance of a round, so that a frame lost on the air is made good by the very next one.
    static let repetitionPauses = [Interval.seconds(30), .minutes(2), .minutes(10)]
    static let servedPerPeer = 4_096
    /// Peers with a memory of what they were served; the one idle longest makes room.
    static let servedPeers = 64
    /// Chapter 03 B2: a packet is not echoed to the neighbour it was heard from within this span.
    static let echoSpan = Interval.seconds(3)
    /// T5: up to this age a large answer goes out without the flag inside, so that phones judge it by its time.
    static let unflaggedInnerMilliseconds: UInt64 = 110_000

    /// Chapter 03 B12: fragments of one train that Android takes.
    static let androidFragments = 256

    // MARK: Acceptance (§8)

    /// §8.2: unflagged announces, as Android serves them.
    static let legacyAnnounceMaxAgeMilliseconds: UInt64 = 600_000

    // MARK: Archive (§10)

    static let archiveInterval = Interval.seconds(30)
    /// Changes kept between two writes; beyond it the next write replaces everything.
    static let archiveChanges = 65_536
    /// A wall clock that moved this much against the monotonic one was set, and did not drift (T14).
    static let clockStepMilliseconds: Int64 = 2_000
}
