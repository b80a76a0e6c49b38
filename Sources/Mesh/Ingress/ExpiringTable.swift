import Basics
import Wire

/// A first-in first-out table bound by age and by count. Looking a key up does not refresh it (chapter 03 B4: "a FIFO
/// with expiry, not an LRU").
///
/// Every new packet passes several of these, so it is a ring with an open-addressing index beside it rather than a
/// dictionary: inserting and forgetting touch one slot each. Storage doubles up to the capacity and is then reused; in
/// steady state no operation allocates.
struct ExpiringTable<Key: TableKey, Value> {
    let capacity: Int
    /// Size to which an overflow trims the table, oldest entries first.
    let trimTarget: Int
    let lifetime: Interval

    private struct Entry {
        var key: Key
        var value: Value
        var inserted: Instant
        /// Where probing for the key begins, before masking.
        var hash: UInt
    }

    /// The `count` entries from `head` on, wrapping around, are live; the rest is old stuff.
    private var ring: [Entry] = []
    private var head = 0
    private(set) var count = 0
    /// Position in the ring plus one, or 0 for free; at most half full. Its length is a power of two.
    private var index: [UInt32] = []

    /// Entries pushed out by count before their time: the sign that the capacity is too small for the traffic.
    private(set) var earlyEvictions: UInt64 = 0

    /// - Parameter trimTarget: `capacity − 1`, so one for one, unless given.
    init(capacity: Int, trimTarget: Int? = nil, lifetime: Interval) {
        precondition(capacity > 1 && capacity < 1 << 30, "a table holds more than one entry, and not everything")
        self.capacity = capacity
        self.trimTarget = min(trimTarget ?? capacity - 1, capacity - 1)
        self.lifetime = lifetime
    }

    /// The value of `key` if it was inserted at most `lifetime` ago.
    mutating func value(of key: Key, at now: Instant) -> Value? {
        expire(at: now)
        return slot(of: key, Self.hash(key)).map { ring[Int(index[$0]) - 1].value }
    }

    mutating func contains(_ key: Key, at now: Instant) -> Bool {
        expire(at: now)
        return slot(of: key, Self.hash(key)) != nil
    }

    /// Inserts unless the key is present; an existing entry keeps its value and its age.
    /// - Returns: true when the key was new.
    @discardableResult
    mutating func insert(_ key: Key, _ value: Value, at now: Instant) -> Bool {
        expire(at: now)
        let hash = Self.hash(key)
        guard slot(of: key, hash) == nil else { return false }
        if count >= capacity {
            while count > trimTarget {
                removeOldest()
                earlyEvictions &+= 1
            }
        }
        let entry = Entry(key: key, value: value, inserted: now, hash: hash)
        if count == ring.count { grow(filler: entry) }
        let position = wrapped(head + count)
        ring[position] = entry
        count += 1
        link(position)
        return true
    }

    mutating func expire(at now: Instant) {
        while count > 0, now - ring[head].inserted > lifetime { removeOldest() }
    }

    // MARK: Ring

    private func wrapped(_ position: Int) -> Int { position < ring.count ? position : position - ring.count }

    private mutating func grow(filler: Entry) {
        let size = min(capacity, max(16, ring.count * 2))
        var grown: [Entry] = []
        grown.reserveCapacity(size)
        grown.append(contentsOf: ring[head...])
        grown.append(contentsOf: ring[..<head])
        grown.append(contentsOf: repeatElement(filler, count: size - grown.count))
        ring = grown
        head = 0
        var slots = 32
        while slots < 2 * size { slots *= 2 }
        index = [UInt32](repeating: 0, count: slots)
        for position in 0..<count { link(position) }
    }

    private mutating func removeOldest() {
        unlink(head)
        head = wrapped(head + 1)
        count -= 1
    }

    // MARK: Index

    private static func hash(_ key: Key) -> UInt { key.tableHash }

    private func home(_ hash: UInt) -> Int { Int(hash & UInt(index.count - 1)) }
    private func following(_ slot: Int) -> Int { (slot + 1) & (index.count - 1) }

    private func slot(of key: Key, _ hash: UInt) -> Int? {
        guard count > 0 else { return nil }
        var slot = home(hash)
        while index[slot] != 0 {
            let entry = ring[Int(index[slot]) - 1]
            if entry.hash == hash, entry.key == key { return slot }
            slot = following(slot)
        }
        return nil
    }

    private mutating func link(_ position: Int) {
        var slot = home(ring[position].hash)
        while index[slot] != 0 { slot = following(slot) }
        index[slot] = UInt32(position + 1)
    }

    /// Frees the slot of a live position and moves later ones of the same run up, so that no gap breaks their probing.
    private mutating func unlink(_ position: Int) {
        var gap = home(ring[position].hash)
        while index[gap] != UInt32(position + 1) { gap = following(gap) }
        var slot = following(gap)
        while index[slot] != 0 {
            let wanted = home(ring[Int(index[slot]) - 1].hash)
            let distance = (slot - wanted) & (index.count - 1)
            if distance >= (slot - gap) & (index.count - 1) {
                index[gap] = index[slot]
                gap = slot
            }
            slot = following(slot)
        }
        index[gap] = 0
    }
}

/// A key of an `ExpiringTable`.
protocol TableKey: Hashable {
    /// Not to be foreseen by whoever chooses the key.
    var tableHash: UInt { get }
}

extension TableKey {
    var tableHash: UInt { UInt(bitPattern: hashValue) }
}

extension PeerID: TableKey {}

extension DuplicateKey: TableKey {
    /// Hashed under a secret key already.
    var tableHash: UInt { UInt(truncatingIfNeeded: value.first) }
}
