import Basics
import Wire

/// Relays waiting for their jitter to pass (chapter 03 B6).
///
/// Links are unicast, so a copy heard from one neighbour says nothing about the others. A duplicate that arrives before
/// the relay fires therefore only takes the neighbour it came from out of the targets; the relay is cancelled when no
/// target is left (chapter 03 B2).
final class RelaySchedule<Key: Hashable, Load> {
    /// One relay that waits. A class, so that it is moved about as one word.
    final class Pending {
        let key: Key
        let load: Load
        /// Where the packet, or a copy of it, came in.
        fileprivate(set) var heardOn: [LinkID]
        fileprivate var isCancelled = false

        fileprivate init(key: Key, load: Load, heardOn link: LinkID) {
            self.key = key
            self.load = load
            heardOn = []
            // A few neighbours send copies before the relay is due.
            heardOn.reserveCapacity(4)
            heardOn.append(link)
        }
    }

    let capacity: Int
    /// What one ingress link may have waiting.
    let share: Int
    private var waiting: [Key: Pending] = [:]
    private var deadlines = DeadlineQueue<Pending>()
    /// How many of each link wait. A radio has few, so they are found by looking.
    private var shares: [(link: LinkID, count: Int)] = []

    init(
        capacity: Int = MeshLimits.pendingRelayCapacity, share: Int = MeshLimits.pendingRelaysPerLink
    ) {
        self.capacity = capacity
        self.share = share
    }

    var count: Int { waiting.count }
    var nextDeadline: Instant? { deadlines.nextDeadline }

    /// - Returns: false when the schedule is full, or the link's share of it; the newest relay is the one refused.
    func add(_ key: Key, _ load: Load, heardOn link: LinkID, due: Instant) -> Bool {
        guard waiting.count < capacity, deadlines.count < 2 * capacity, waiting[key] == nil, takeShare(of: link)
        else { return false }
        let pending = Pending(key: key, load: load, heardOn: link)
        waiting[key] = pending
        deadlines.add(pending, due: due)
        return true
    }

    private func takeShare(of link: LinkID) -> Bool {
        guard let index = shares.firstIndex(where: { $0.link == link }) else {
            shares.append((link, 1))
            return share > 0
        }
        guard shares[index].count < share else { return false }
        shares[index].count += 1
        return true
    }

    /// The first link of a relay is the one it came in on.
    private func giveBackShare(of pending: Pending) {
        guard let index = shares.firstIndex(where: { $0.link == pending.heardOn.first }) else { return }
        shares[index].count -= 1
        if shares[index].count == 0 { shares.remove(at: index) }
    }

    /// Notes that a copy came in on `link`.
    /// - Returns: on how many links the packet was heard now, or nil when no relay of it is waiting.
    func noteCopy(of key: Key, on link: LinkID) -> Int? {
        guard let pending = waiting[key] else { return nil }
        if pending.heardOn.count < MeshLimits.linkCapacity, !pending.heardOn.contains(link) {
            pending.heardOn.append(link)
        }
        return pending.heardOn.count
    }

    /// The waiting relay of a packet.
    subscript(key: Key) -> Pending? { waiting[key] }

    func cancel(_ key: Key) {
        guard let pending = waiting.removeValue(forKey: key) else { return }
        pending.isCancelled = true
        giveBackShare(of: pending)
    }

    func takeDue(at now: Instant) -> Pending? {
        while let pending = deadlines.takeDue(at: now) {
            guard !pending.isCancelled else { continue }
            waiting[pending.key] = nil
            giveBackShare(of: pending)
            return pending
        }
        return nil
    }

    func removeAll() {
        waiting.removeAll()
        shares.removeAll()
        deadlines.removeAll()
    }
}
