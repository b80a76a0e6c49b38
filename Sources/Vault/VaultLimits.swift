import Basics

/// Every bound of the vault; those of the stores are theirs.
public enum VaultLimits {
    /// Local policy: how much of the latest changes a power cut may cost.
    public static let horizon = Interval.seconds(2)
    /// For what others say again when it is lost, such as messages, of which chapter 04 §10 gives up half a minute as
    /// well. Each write costs two blocks of flash, however little is in it.
    public static let gathered = Interval.seconds(60)
    /// For what is forgotten anyway: its loss only means that it is forgotten later. It waits for its own time instead
    /// of going with others, since what was written together is then changed together.
    public static let relaxed = Interval.minutes(30)
    /// So many that wait for their own time are written at once, so that what writing takes stays small.
    static let relaxedRecords = 512
    /// How soon a disk that took nothing is tried again.
    public static let retry = Interval.seconds(60)
    /// Largest content of one record, its key included.
    public static let recordSize = 1 << 20
    static let keySize = 255
    /// Sealed bytes waiting for the disk. More come only when the disk takes nothing; then a put is refused.
    static let waitingBytes = 16 << 20
    /// Bytes waiting at which they are written at once.
    static let promptBytes = 1 << 20
    /// Log pages after which they are moved to where they belong.
    static let logPages: Int32 = 512
    /// Records set aside because they did not open.
    static let quarantined: Int64 = 64
    /// Small pages: what is appended in a moment is less than one, and a whole page is written for it.
    static let pageSize: Int64 = 1_024
    /// Page cache in KiB: what is read once at the start need not stay.
    static let cacheKibibytes = 512
}
