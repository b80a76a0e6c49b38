import Basics
import Wire

/// Every bound of the bulletin board, from chapter 04 §11.4 unless said otherwise.
public enum BoardLimits {
    public static let posts = 200
    public static let postsPerAuthor = 5
    public static let orphanTombstones = 100
    public static let orphanTombstonesPerAuthor = 5
    /// Gateway policy: all tombstones, those of posts that were held here included (T16).
    public static let tombstones = 400
    /// How far ahead of ours an author's clock may be.
    static let clockSkewMilliseconds: UInt64 = 3_600_000
    /// How long after its deletion a post could still be about.
    static let lifetimeMilliseconds = BoardPost.maximumLifetime
    /// Bytes of a packet that is kept. Unknown fields are skipped and signed by nobody, so without this bound a copy of
    /// anybody's post could be stuffed with them; the largest post has 748 bytes of payload.
    public static let packetBytes = 4_096
    /// Gateway policy: between two writes.
    static let writeInterval = Interval.seconds(10)
}
