/// Keys in ascending order, kept in chunks: inserting and removing move one chunk's worth of keys, however many there
/// are. What arrives late in time order, as history from a neighbour does, costs no more than what is newest.
struct TimeOrder<Key: Comparable> {
    /// Keys a chunk holds before it is split in two.
    private static var chunkCapacity: Int { 256 }

    /// Ascending, none empty.
    private var chunks: [[Key]] = []
    private(set) var count = 0

    var first: Key? { chunks.first?.first }

    mutating func insert(_ key: Key) {
        count += 1
        guard !chunks.isEmpty else {
            chunks.append([key])
            return
        }
        let chunk = max(0, firstChunk(beyond: key) - 1)
        let position = Self.position(of: key, in: chunks[chunk])
        chunks[chunk].insert(key, at: position)
        guard chunks[chunk].count > Self.chunkCapacity else { return }
        // Live traffic appends: a full last chunk is left full.
        let isAppending = chunk == chunks.count - 1 && position == Self.chunkCapacity
        let kept = isAppending ? Self.chunkCapacity : Self.chunkCapacity / 2
        let moved = Array(chunks[chunk][kept...])
        chunks[chunk].removeSubrange(kept...)
        chunks.insert(moved, at: chunk + 1)
    }

    /// - Returns: whether the key was there.
    @discardableResult
    mutating func remove(_ key: Key) -> Bool {
        let chunk = firstChunk(beyond: key) - 1
        guard chunk >= 0 else { return false }
        let position = Self.position(of: key, in: chunks[chunk])
        guard position < chunks[chunk].count, chunks[chunk][position] == key else { return false }
        chunks[chunk].remove(at: position)
        if chunks[chunk].isEmpty { chunks.remove(at: chunk) }
        count -= 1
        return true
    }

    /// The largest keys, largest first: at most `most`, and as long as `isWanted` says so.
    func largest(_ most: Int, while isWanted: (Key) -> Bool) -> [Key] {
        var largest: [Key] = []
        for chunk in chunks.reversed() {
            for key in chunk.reversed() {
                guard largest.count < most, isWanted(key) else { return largest }
                largest.append(key)
            }
        }
        return largest
    }

    /// Index of the first chunk whose smallest key is larger than `key`.
    private func firstChunk(beyond key: Key) -> Int {
        var low = 0
        var high = chunks.count
        while low < high {
            let middle = (low + high) / 2
            if key < chunks[middle][0] { high = middle } else { low = middle + 1 }
        }
        return low
    }

    /// Where `key` is in a chunk, or would be.
    private static func position(of key: Key, in chunk: [Key]) -> Int {
        var low = 0
        var high = chunk.count
        while low < high {
            let middle = (low + high) / 2
            if chunk[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
