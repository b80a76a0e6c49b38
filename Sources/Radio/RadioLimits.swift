import Basics

/// Every bound of the radio ports.
enum RadioLimits {
    /// Outbound queue of one link, in bytes (chapter 03 A10).
    static let queueBytes = 1_000_000
    /// Largest attribute value, whatever the MTU (chapter 03 A7).
    static let longestValue = 512
    /// The largest frame a link of this MTU carries: a write or a notification has a header of three bytes (chapter 03
    /// A7).
    static func frameLimit(mtu: Int) -> Int { min(mtu - 3, longestValue) }
    /// Room for a few messages in the kernel, so that priorities are decided late (chapter 03 A10).
    static let sendBuffer: Int32 = 4_096

    /// Gap between two connection attempts to anyone (chapter 03 A5).
    static let attemptGap = Interval.milliseconds(500)
    /// Slack after that gap before the queue runs again (chapter 03 A5).
    static let attemptSlack = Interval.milliseconds(50)
    /// Gap between two attempts to the same neighbour (chapter 03 A5).
    static let sameNeighbourGap = Interval.seconds(2)
    /// A neighbour whose attempt timed out is left alone this long (chapter 03 A5).
    static let afterTimeout = Interval.seconds(15)
    /// A neighbour that disconnected is left alone this long (chapter 03 A5).
    static let afterDisconnect = Interval.seconds(3)
    /// A neighbour whose link we closed ourselves is left alone this long: the period of one retirement round (chapter
    /// 03 A11.5), so that retiring a redundant link does not lead straight back to it.
    static let afterOwnClose = Interval.seconds(60)
    /// Failures are forgotten this long after the neighbour became eligible again (chapter 03 A5).
    static let failureMemory = Interval.seconds(120)
    /// How long a timeout counts against a neighbour when one is chosen (chapter 03 A5).
    static let recentTimeout = Interval.seconds(60)
    /// Neighbours whose attempts are remembered; the pace of attempts keeps them far below.
    static let attemptRecords = 2_048
    /// Neighbours considered at a time (chapter 03 A5).
    static let candidates = 100

    /// Time between two listings of the room (virtual air, version 1).
    static let scanInterval = Interval.seconds(1)
    /// A link without a greeting is closed after this long (virtual air, version 1).
    static let helloTimeout = Interval.seconds(5)
    /// Directory entries read in one listing; more are not seen.
    static let roomEntries = 1_000
    /// Largest range file read.
    static let rangeFileBytes = 262_144
    /// Messages taken from one link in one turn of the loop.
    static let readBatch = 32
    /// Values held back by a delay, per link; reading pauses at this number.
    static let delayedValues = 1_024
    /// Longest delay an impairment may ask for.
    static let longestDelay = Interval.seconds(60)
}
