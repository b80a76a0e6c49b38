import Basics
import Crypto
import Wire

/// Takes the board over a restart: what changed goes out in batches, and what comes back is checked as if a stranger
/// had written it.
struct BoardArchive {
    /// Records that wait for the clock: whether they expired cannot be told before it is right (T14).
    private var waiting: [BoardRecord] = []
    /// What storage holds, with its order of arrival; no more than was on the board at once, or was handed over at the
    /// start.
    private var written: [PacketID: UInt64] = [:]
    private var writtenRevision: UInt64 = 0

    func isBehind(_ store: BoardStore) -> Bool { store.revision != writtenRevision }

    /// What storage does not know yet; nil when it knows everything.
    /// - Parameter isOwn: some of it is this node's own.
    mutating func batch(from store: BoardStore, isOwn: Bool) -> BoardBatch? {
        guard isBehind(store) else { return nil }
        writtenRevision = store.revision
        let posts = store.posts.map {
            BoardRecord(id: $0.packet.id, arrival: $0.arrival, frame: $0.packet.frame.bytes, retention: nil)
        }
        let tombstones = store.tombstones.map {
            BoardRecord(id: $0.packet.id, arrival: $0.arrival, frame: $0.packet.frame.bytes, retention: $0.retention)
        }
        var gone = written
        written.removeAll()
        var puts: [BoardRecord] = []
        for record in posts + tombstones {
            if gone.removeValue(forKey: record.id) != record.arrival { puts.append(record) }
            written[record.id] = record.arrival
        }
        let batch = BoardBatch(puts: puts, deletes: gone.keys.sorted(), isOwn: isOwn)
        return batch.puts.isEmpty && batch.deletes.isEmpty ? nil : batch
    }

    mutating func hold(_ records: [BoardRecord]) {
        waiting.append(contentsOf: records)
        for record in records { written[record.id] = record.arrival }
    }

    /// Puts what was held into the store: posts first, each kind in order of arrival.
    /// - Returns: how many records were refused. They leave storage with the next batch.
    mutating func restore(into store: inout BoardStore, at now: Now) -> Int {
        let records = waiting.sorted {
            ($0.retention == nil ? 0 : 1, $0.arrival) < ($1.retention == nil ? 0 : 1, $1.arrival)
        }
        waiting.removeAll()
        let refused = records.filter { !Self.restore($0, into: &store, at: now) }.count
        // An archive of nothing but refused records is behind an empty board.
        if refused > 0 { writtenRevision = store.revision &- 1 }
        return refused
    }

    private static func restore(_ record: BoardRecord, into store: inout BoardStore, at now: Now) -> Bool {
        guard let frame = try? Frame(record.frame), frame.type == .boardPost, frame.isBroadcast,
            !frame.timestamp.isBeyond(now.wall, byMilliseconds: MeshLimits.timestampSkewMilliseconds),
            let packet = GossipEntry(frame, at: now.monotonic), packet.id == record.id,
            let payload = frame.payload().flatMap({ BoardPayload(payload: $0) }).flatMap({ Verified($0) }),
            payload.payload.isTombstone == (record.retention != nil)
        else { return false }
        return store.restore(payload, in: packet, record, at: now.wall) == .accepted
    }
}

extension BoardPayload {
    fileprivate var isTombstone: Bool { if case .tombstone = self { true } else { false } }
}
