import Basics
import Wire

/// IDs of packets that were here once and are held no more. What is remembered is not taken in again, not delivered
/// again, and named in filters so that nobody offers it again (T15).
///
/// Bound by time first and by count second; what the count pushes out early is counted.
struct PacketHorizon {
    let capacity: Int
    private var stamps: [PacketID: WallTime] = [:]
    private var order = TimeOrder<SyncCandidate>()
    private(set) var earlyEvictions: UInt64 = 0

    init(capacity: Int) { self.capacity = capacity }

    var count: Int { stamps.count }
    subscript(id: PacketID) -> WallTime? { stamps[id] }
    func contains(_ id: PacketID) -> Bool { stamps[id] != nil }

    /// - Returns: what had to be forgotten for it, the packet with the oldest timestamp; the packet itself when that
    ///   is the oldest, or nothing is remembered here.
    mutating func remember(_ id: PacketID, _ timestamp: WallTime) -> PacketID? {
        guard stamps[id] == nil else { return nil }
        guard capacity > 0 else { return id }
        stamps[id] = timestamp
        order.insert(SyncCandidate(timestamp: timestamp, id: id, hash: GCSHash(id)))
        guard stamps.count > capacity, let oldest = order.first else { return nil }
        earlyEvictions &+= 1
        forget(oldest)
        return oldest.id
    }

    /// Forgets one packet with a timestamp before `cutoff`; nil when there is none.
    mutating func forgetOne(before cutoff: WallTime) -> PacketID? {
        guard let oldest = order.first, oldest.timestamp < cutoff else { return nil }
        forget(oldest)
        return oldest.id
    }

    /// The newest by timestamp, at most `most`, none before `cutoff`.
    func newest(_ most: Int, since cutoff: WallTime) -> [SyncCandidate] {
        order.largest(most) { $0.timestamp >= cutoff }
    }

    var all: [SyncCandidate] { order.largest(.max) { _ in true } }

    private mutating func forget(_ candidate: SyncCandidate) {
        order.remove(candidate)
        stamps[candidate.id] = nil
    }
}
