import Basics
import Mesh
import Wire

/// Where a node's archive effects are carried out: what its storage would hold across a restart.
public struct SimulatedArchive {
    private var history: [PacketID: HistoryRecord] = [:]
    private var board: [PacketID: BoardRecord] = [:]
    public private(set) var writes = 0
    public private(set) var lastWrite: Instant?

    public init() {}

    public var records: [HistoryRecord] { history.values.sorted { $0.id < $1.id } }
    public var boardRecords: [BoardRecord] { board.values.sorted { $0.id < $1.id } }
    public func contains(_ id: PacketID) -> Bool { history[id] != nil }
    /// Records that still have their frame.
    public var frames: Int { history.values.filter { $0.frame != nil }.count }

    mutating func apply(_ batch: HistoryBatch, at now: Instant) {
        writes += 1
        lastWrite = now
        if batch.replacesEverything { history.removeAll() }
        for id in batch.deletes { history[id] = nil }
        for record in batch.puts { history[record.id] = record }
    }

    mutating func apply(_ batch: BoardBatch) {
        for id in batch.deletes { board[id] = nil }
        for record in batch.puts { board[record.id] = record }
    }
}
