import Basics
import Wire

/// Relays waiting for their jitter to pass (chapter 03 B6).
///
/// Links are unicast, so a copy heard from one neighbour says nothing about the others. A duplicate that arrives before
/// the relay fires therefore only takes the neighbour it came from out of the targets; the relay is cancelled when no
/// target is left (chapter 03 B2).
struct RelaySchedule<Key: Hashable, Load> {
    struct Pending {
        let key: Key
        let load: Load
        /// Where the packet, or a copy of it, came in.
        var heardOn: [LinkID]
    }

    private struct Ticket {
        let key: Key
        let generation: UInt64
    }

    let capacity: Int
    private var waiting: [Key: (pending: Pending, generation: UInt64)] = [:]
    private var deadlines = DeadlineQueue<Ticket>()
    private var generation: UInt64 = 0

    init(capacity: Int = MeshLimits.pendingRelayCapacity) { self.capacity = capacity }

    var count: Int { waiting.count }
    var nextDeadline: Instant? { deadlines.nextDeadline }

    /// - Returns: false when the schedule is full; the newest relay is the one refused.
    mutating func add(_ key: Key, _ load: Load, heardOn link: LinkID, due: Instant) -> Bool {
        guard waiting.count < capacity, deadlines.count < 2 * capacity, waiting[key] == nil else { return false }
        generation &+= 1
        waiting[key] = (Pending(key: key, load: load, heardOn: [link]), generation)
        deadlines.add(Ticket(key: key, generation: generation), due: due)
        return true
    }

    /// Notes that a copy came in on `link`.
    /// - Returns: on how many links the packet was heard now, or nil when no relay of it is waiting.
    mutating func noteCopy(of key: Key, on link: LinkID) -> Int? {
        guard let position = waiting.index(forKey: key) else { return nil }
        let heard = waiting.values[position].pending.heardOn.count
        if heard < MeshLimits.linkCapacity, !waiting.values[position].pending.heardOn.contains(link) {
            waiting.values[position].pending.heardOn.append(link)
            return heard + 1
        }
        return heard
    }

    /// The waiting relay of a packet.
    subscript(key: Key) -> Pending? { waiting[key]?.pending }

    mutating func cancel(_ key: Key) { waiting[key] = nil }

    mutating func takeDue(at now: Instant) -> Pending? {
        while let ticket = deadlines.takeDue(at: now) {
            guard let entry = waiting[ticket.key], entry.generation == ticket.generation else { continue }
            waiting[ticket.key] = nil
            return entry.pending
        }
        return nil
    }

    mutating func removeAll() {
        waiting.removeAll()
        deadlines.removeAll()
    }
}
