import Basics
import Wire

/// One public message as a restart should find it (chapter 04 §10).
public struct HistoryRecord: Hashable, Sendable {
    public let id: PacketID
    public let timestamp: WallTime
    /// Order of arrival among records with a frame.
    public let arrival: UInt64
    /// The frame as received. Nil for a message that is not held any more and must only not come back: together the
    /// records are the duplicate horizon, which outlives the messages.
    public let frame: [UInt8]?

    public init(id: PacketID, timestamp: WallTime, arrival: UInt64, frame: [UInt8]?) {
        self.id = id
        self.timestamp = timestamp
        self.arrival = arrival
        self.frame = frame
    }
}

/// Changes to the archive that belong together. Written at most every 30 s, and once more when the node stops.
public struct HistoryBatch: Hashable, Sendable {
    /// Everything archived before is void; `puts` are all there is.
    public let replacesEverything: Bool
    /// New records, and records that take the place of an earlier one with the same ID.
    public let puts: [HistoryRecord]
    public let deletes: [PacketID]

    public init(replacesEverything: Bool, puts: [HistoryRecord], deletes: [PacketID]) {
        self.replacesEverything = replacesEverything
        self.puts = puts
        self.deletes = deletes
    }
}
