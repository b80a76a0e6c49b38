import Basics
import Crypto
import Wire

/// Takes message history over a restart (chapter 04 §10): what changed in the store goes out in batches, and what comes
/// back is checked as if a stranger had written it.
struct HistoryArchive {
    /// Records that wait for the clock: their age cannot be told before it is right (T14).
    private var waiting: [HistoryRecord] = []

    // MARK: Out

    /// What the archive does not know yet; nil when it knows everything.
    func batch(from store: inout GossipStore) -> HistoryBatch? {
        guard let changes = store.takeMessageChanges(), !changes.isEmpty else { return nil }
        let messages = store.messages
        if changes.isEverything {
            let held = messages.inOrder.compactMap { record(of: $0.id, in: messages) }
            let remembered = messages.horizon.all.compactMap { record(of: $0.id, in: messages) }
            return HistoryBatch(replacesEverything: true, puts: held + remembered, deletes: [])
        }
        var puts: [HistoryRecord] = []
        var deletes: [PacketID] = []
        for id in changes.ids {
            if let record = record(of: id, in: messages) { puts.append(record) } else { deletes.append(id) }
        }
        return HistoryBatch(replacesEverything: false, puts: puts, deletes: deletes)
    }

    private func record(of id: PacketID, in messages: GossipFamily) -> HistoryRecord? {
        if let entry = messages[id], let arrival = messages.arrival(of: id) {
            return HistoryRecord(id: id, timestamp: entry.timestamp, arrival: arrival, frame: entry.frame.bytes)
        }
        return messages.horizon[id].map { HistoryRecord(id: id, timestamp: $0, arrival: 0, frame: nil) }
    }

    // MARK: In

    mutating func hold(_ records: [HistoryRecord]) { waiting.append(contentsOf: records) }

    /// Puts what was held into the store.
    /// - Parameter key: the bound signing key of an author; a message whose author is not known is kept, since those
    ///   who are served it verify it themselves.
    /// - Returns: how many records were refused.
    mutating func restore(
        into store: inout GossipStore, at now: Now, key: (PeerID) -> SigningPublicKey?
    ) -> Int {
        let records = waiting.sorted { $0.arrival < $1.arrival }
        waiting.removeAll()
        var refused = 0
        for record in records where !restore(record, into: &store, at: now, key: key) { refused += 1 }
        return refused
    }

    private func restore(
        _ record: HistoryRecord, into store: inout GossipStore, at now: Now, key: (PeerID) -> SigningPublicKey?
    ) -> Bool {
        let isAhead = record.timestamp.isBeyond(now.wall, byMilliseconds: MeshLimits.timestampSkewMilliseconds)
        guard !isAhead, record.timestamp >= now.wall.cutoff(age: store.policy.messages.rememberedFor) else {
            store.noteLost(message: record.id)
            return !isAhead
        }
        guard let bytes = record.frame, record.timestamp >= now.wall.cutoff(age: store.policy.messages.maxAge) else {
            store.remember(message: record.id, record.timestamp)
            if record.frame != nil { store.noteLost(message: record.id) }
            return true
        }
        guard let frame = try? Frame(bytes), frame.type == .message, frame.isBroadcast,
            let entry = GossipEntry(frame, at: now.monotonic), entry.id == record.id,
            key(entry.sender).map({ VerifiedFrame(verifying: frame, under: $0) != nil }) ?? true
        else {
            store.noteLost(message: record.id)
            return false
        }
        store.restore(message: entry, arrival: record.arrival)
        return true
    }
}
