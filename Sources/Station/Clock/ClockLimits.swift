import Basics

enum ClockLimits {
    /// A clock that stands before this release was made is wrong, whoever vouches for it: 2026-01-01.
    static let floor = WallTime(milliseconds: 1_767_225_600_000)
    /// How often the system clock is looked at.
    static let recheck = Interval.seconds(10)
    /// Peers and relays agree when their clocks are within this, milliseconds (chapter 03 A13.7).
    static let agreement: Int64 = 10_000
    /// Peers that must agree.
    static let peerQuorum = 3
    /// Relays that must agree, where so many are configured.
    static let relayQuorum = 2
    /// A reading is used while its error cannot exceed this, milliseconds. Peers allow two clocks twice as much.
    static let tolerance: Int64 = 60_000
    /// A crystal drifts by no more than one part in so many, twice what is usual: nine seconds a day.
    static let drift: Int64 = 10_000
    /// Errors of fresh readings, milliseconds.
    static let systemError: Int64 = 1_000
    static let relayError: Int64 = 2_000
    static let meshError: Int64 = 10_000
    static let setError: Int64 = 10_000
    /// A new estimate of the same source must differ by so much to be adopted, milliseconds.
    static let jitter: Int64 = 2_000
    /// Smaller differences are adopted as they come; a larger one is a step, before which everything that dates is laid
    /// down.
    static let step: Int64 = 10_000
    /// A change of the system clock against the running time beyond this is no correction of its pace.
    static let systemStep: Int64 = 2_000
    /// Latest times of peers kept, in all and by link; each link has a quorum's votes at most, so that one hostile
    /// neighbour with many names does not outvote three honest ones.
    static let peers = 512
    static let peersPerLink = 8
    static let votesPerLink = 3
    /// How long what a peer's clock said is a vote; phones in the background announce every five minutes.
    static let peerSampleLife = Interval.minutes(11)
    /// Relays whose times are kept.
    static let relays = 32
    static let relaySampleLife = Interval.hours(6)
    /// An answer that took longer says too little of its time.
    static let slowestAnswer = Interval.seconds(10)
    /// Authors of live events that stand for a relay which does not tell the time itself.
    static let eventAuthors = 3
    static let eventsPerRelay = 8
    /// How long a time is believed before it is written as the last known one, how often it is written after that; and
    /// at the stop.
    static let firstSave = Interval.minutes(10)
    static let save = Interval.hours(1)
    /// How soon relays are asked again what time it is, while nothing better is known, and when it is.
    static let firstQuestion = Interval.seconds(30)
    static let slowestQuestion = Interval.minutes(10)
    static let refreshingQuestion = Interval.hours(3)
    /// How long a relay that tells no date is listened to for new events.
    static let listening = Interval.seconds(20)
}
