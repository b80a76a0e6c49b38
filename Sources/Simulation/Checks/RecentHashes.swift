import Basics
import Wire

/// Hashes seen within a span of time: for that long at least, twice as long at most.
struct RecentHashes {
    let span: Interval
    private var recent = HashTable()
    private var older = HashTable()
    private var turned = Instant.zero

    init(span: Interval) { self.span = span }

    /// - Returns: true when the hash was not there.
    mutating func insert(_ hash: UInt64, at now: Instant) -> Bool {
        if now - turned >= span {
            older = now - turned >= span + span ? HashTable() : recent
            recent = HashTable(room: older.count)
            turned = now
        }
        return !older.contains(hash) && recent.insert(hash)
    }
}

/// A set of numbers that are hashes already, so they are not hashed again.
struct HashTable {
    private var slots: [UInt64]
    private(set) var count = 0

    init(room: Int = 32) {
        var size = 64
        while size < 2 * room { size *= 2 }
        slots = [UInt64](repeating: 0, count: size)
    }

    func contains(_ hash: UInt64) -> Bool { slots[slot(of: hash)] != 0 }

    /// - Returns: true when the hash was not there.
    mutating func insert(_ hash: UInt64) -> Bool {
        let slot = slot(of: hash)
        guard slots[slot] == 0 else { return false }
        slots[slot] = HashTable.stored(hash)
        count += 1
        if 2 * count > slots.count { grow() }
        return true
    }

    /// Where the hash is, or would be.
    private func slot(of hash: UInt64) -> Int {
        let wanted = HashTable.stored(hash)
        var slot = Int(truncatingIfNeeded: wanted) & (slots.count - 1)
        while slots[slot] != 0, slots[slot] != wanted { slot = (slot + 1) & (slots.count - 1) }
        return slot
    }

    /// Zero means a free slot.
    private static func stored(_ hash: UInt64) -> UInt64 { hash == 0 ? 1 : hash }

    private mutating func grow() {
        let old = slots
        slots = [UInt64](repeating: 0, count: 2 * old.count)
        for hash in old where hash != 0 { slots[slot(of: hash)] = hash }
    }
}

/// The hash of the frame that was sent last: a broadcast puts one buffer on every link.
struct LatestFrame {
    private var bytes: [UInt8] = []
    private var hash: UInt64 = 0

    mutating func hash(of frame: [UInt8]) -> UInt64 {
        let isSame = frame.withUnsafeBufferPointer { frame in
            bytes.withUnsafeBufferPointer { $0.baseAddress == frame.baseAddress && $0.count == frame.count }
        }
        if !isSame {
            // Held on to, so that nobody else gets the buffer or writes to it.
            bytes = frame
            hash = FrameHash.of(frame)
        }
        return hash
    }
}
