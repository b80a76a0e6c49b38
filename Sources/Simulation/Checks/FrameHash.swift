import Basics
import Wire

/// A 64-bit name for what a frame carries: equal for copies that differ in the TTL and the sync flag only. Not
/// cryptographic: it tells apart what one run of a simulation puts on the air.
enum FrameHash {
    static func of(_ bytes: [UInt8]) -> UInt64 {
        bytes.withUnsafeBytes { bytes in
            var hash = UInt64(bytes.count)
            var offset = 0
            while offset + 8 <= bytes.count {
                var word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                if offset == 0 { word &= ~ttl }
                if offset == 8 { word &= ~flag }
                hash = mix(hash, word)
                offset += 8
            }
            var rest: UInt64 = 0
            while offset < bytes.count {
                rest = rest << 8 | UInt64(bytes[offset])
                offset += 1
            }
            return mix(hash, rest)
        }
    }

    static func mix(_ hash: UInt64, _ word: UInt64) -> UInt64 {
        let mixed = (hash ^ word) &* 0x9e37_79b9_7f4a_7c15
        return mixed ^ (mixed >> 29)
    }

    /// Byte 2 of the first word and the sync flag in byte 11, which is byte 3 of the second.
    private static let ttl = UInt64(littleEndian: 0xff_0000)
    private static let flag = UInt64(littleEndian: UInt64(PacketFlags.isSyncResponse.rawValue) << 24)
}

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
