import Basics
import Wire

/// Which packet crossed which link within a span of time: remembered for that long at least, twice as long at most.
///
/// Kept packet by packet, because what crosses now belongs to the few packets that are on their way.
struct RecentCrossings {
    let span: Interval
    private var recent: [UInt64: Int] = [:]
    private var older: [UInt64: Int] = [:]
    private var records: [LinkSet] = []
    private var olderRecords: [LinkSet] = []
    private var turned = Instant.zero
    /// The packet asked about last, and its record.
    private var latest: (packet: UInt64, record: Int)?

    init(span: Interval) { self.span = span }

    /// - Returns: true when the packet had not crossed the link.
    mutating func insert(_ packet: UInt64, on link: LinkID, at now: Instant) -> Bool {
        if now - turned >= span { turn(at: now) }
        if let latest, latest.packet == packet { return records[latest.record].insert(link) }
        let record: Int
        if let known = recent[packet] {
            record = known
        } else {
            record = records.count
            records.append(older[packet].map { olderRecords[$0] } ?? LinkSet())
            recent[packet] = record
        }
        latest = (packet, record)
        return records[record].insert(link)
    }

    private mutating func turn(at now: Instant) {
        let isLongAgo = now - turned >= span + span
        older = isLongAgo ? [:] : recent
        olderRecords = isLongAgo ? [] : records
        recent.removeAll()
        records.removeAll()
        latest = nil
        turned = now
    }
}

/// A set of links, by open addressing.
private struct LinkSet {
    /// Links plus one; 0 is a free slot.
    private var slots: [UInt64] = []
    private var count = 0

    /// - Returns: true when the link was not there.
    mutating func insert(_ link: LinkID) -> Bool {
        if 2 * count >= slots.count { grow() }
        let stored = link.value &+ 1
        var slot = home(stored)
        while slots[slot] != 0 {
            if slots[slot] == stored { return false }
            slot = (slot + 1) & (slots.count - 1)
        }
        slots[slot] = stored
        count += 1
        return true
    }

    private func home(_ stored: UInt64) -> Int { Int(truncatingIfNeeded: stored) & (slots.count - 1) }

    private mutating func grow() {
        let old = slots
        slots = [UInt64](repeating: 0, count: max(16, 2 * old.count))
        for stored in old where stored != 0 {
            var slot = home(stored)
            while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = stored
        }
    }
}
