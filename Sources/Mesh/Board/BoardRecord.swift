import Basics
import Wire

/// One packet of the board as a restart should find it (chapter 04 §11.4).
public struct BoardRecord: Hashable, Sendable {
    /// How long a tombstone is kept.
    public struct Retention: Hashable, Sendable {
        public let until: WallTime
        /// The post was not held when the tombstone came, so that nothing but quotas bounds how many there are.
        public let isOrphan: Bool

        public init(until: WallTime, isOrphan: Bool) {
            self.until = until
            self.isOrphan = isOrphan
        }
    }

    public let id: PacketID
    /// Order of arrival among records.
    public let arrival: UInt64
    /// As received.
    public let frame: [UInt8]
    /// Nil for a post.
    public let retention: Retention?

    public init(id: PacketID, arrival: UInt64, frame: [UInt8], retention: Retention?) {
        self.id = id
        self.arrival = arrival
        self.frame = frame
        self.retention = retention
    }
}

/// Changes to the board that belong together. Written at most every 10 s, at once when this node pins a post or takes
/// one down, and once more when the node stops.
public struct BoardBatch: Hashable, Sendable {
    /// New records, and records that take the place of an earlier one with the same ID.
    public let puts: [BoardRecord]
    public let deletes: [PacketID]
    /// Some of it is this node's own, which nobody else may have yet.
    public let isOwn: Bool

    public init(puts: [BoardRecord], deletes: [PacketID], isOwn: Bool = false) {
        self.puts = puts
        self.deletes = deletes
        self.isOwn = isOwn
    }
}
