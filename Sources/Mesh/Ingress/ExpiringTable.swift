import Basics

/// A first-in first-out table bound by age and by count. Looking a key up does not refresh it (chapter 03 B4: "a FIFO
/// with expiry, not an LRU").
///
/// Storage grows up to the capacity and is then reused: in steady state no operation allocates.
struct ExpiringTable<Key: Hashable, Value> {
    let capacity: Int
    /// What an overflow trims the table to, oldest first.
    let trimTarget: Int
    let lifetime: Interval

    private var values: [Key: Value] = [:]
    private var ring: [(key: Key, inserted: Instant)] = []
    private var head = 0
    /// Entries pushed out by count before their time: the sign that the capacity is too small for the traffic.
    private(set) var earlyEvictions: UInt64 = 0

    /// - Parameter trimTarget: `capacity − 1`, so one for one, unless given.
    init(capacity: Int, trimTarget: Int? = nil, lifetime: Interval) {
        precondition(capacity > 1, "a table holds more than one entry")
        self.capacity = capacity
        self.trimTarget = min(trimTarget ?? capacity - 1, capacity - 1)
        self.lifetime = lifetime
    }

    var count: Int { values.count }

    /// The value of `key` if it was inserted at most `lifetime` ago.
    mutating func value(of key: Key, at now: Instant) -> Value? {
        expire(at: now)
        return values[key]
    }

    mutating func contains(_ key: Key, at now: Instant) -> Bool { value(of: key, at: now) != nil }

    /// Inserts unless the key is present; an existing entry keeps its value and its age.
    /// - Returns: true when the key was new.
    @discardableResult
    mutating func insert(_ key: Key, _ value: Value, at now: Instant) -> Bool {
        expire(at: now)
        guard values[key] == nil else { return false }
        if values.count >= capacity {
            while values.count > trimTarget {
                removeOldest()
                earlyEvictions &+= 1
            }
        }
        push(key, at: now)
        values[key] = value
        return true
    }

    mutating func removeAll() {
        values.removeAll(keepingCapacity: true)
        ring.removeAll(keepingCapacity: true)
        head = 0
    }

    mutating func expire(at now: Instant) {
        while !values.isEmpty, now - ring[head].inserted > lifetime { removeOldest() }
    }

    /// Live entries are the `values.count` ring slots from `head` on, wrapping around.
    private mutating func push(_ key: Key, at now: Instant) {
        let live = values.count
        if live == ring.count {
            if head != 0 {
                ring = Array(ring[head...] + ring[..<head])
                head = 0
            }
            ring.append((key, now))
        } else {
            ring[(head + live) % ring.count] = (key, now)
        }
    }

    private mutating func removeOldest() {
        values.removeValue(forKey: ring[head].key)
        head = (head + 1) % ring.count
    }
}
