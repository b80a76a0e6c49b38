import Basics
import Wire

/// Frames waiting for one link, by priority and in order within a priority (chapter 03 A10).
struct OutboundQueue {
    private struct Level {
        let priority: WritePriority
        var frames = Queue<[UInt8]>()
    }

    private let capacity: Int
    /// Sorted by priority; never holds an empty level.
    private var levels: [Level] = []

    private(set) var bytes = 0
    private(set) var count = 0

    init(capacity: Int = RadioLimits.queueBytes) { self.capacity = capacity }

    /// The next frame to send.
    var head: [UInt8]? { levels.first?.frames.first }

    /// Inserts after everything of equal priority, then trims from the tail, possibly the frame just offered. A frame
    /// larger than the whole queue is refused.
    /// - Returns: how many frames were dropped.
    mutating func insert(_ frame: [UInt8], priority: WritePriority) -> Int {
        guard frame.count <= capacity else { return 1 }
        levels[index(of: priority)].frames.append(frame)
        bytes += frame.count
        count += 1
        var dropped = 0
        while bytes > capacity, let last = levels[levels.count - 1].frames.popLast() {
            removed(last, fromLevel: levels.count - 1)
            dropped += 1
        }
        return dropped
    }

    mutating func removeHead() {
        guard !levels.isEmpty, let frame = levels[0].frames.popFirst() else { return }
        removed(frame, fromLevel: 0)
    }

    mutating func removeAll() {
        levels.removeAll()
        bytes = 0
        count = 0
    }

    private mutating func removed(_ frame: [UInt8], fromLevel level: Int) {
        bytes -= frame.count
        count -= 1
        if levels[level].frames.isEmpty { levels.remove(at: level) }
    }

    /// The level of a priority, made if there is none.
    private mutating func index(of priority: WritePriority) -> Int {
        var low = 0
        var high = levels.count
        while low < high {
            let middle = (low + high) / 2
            if levels[middle].priority < priority { low = middle + 1 } else { high = middle }
        }
        if low == levels.count || levels[low].priority != priority {
            levels.insert(Level(priority: priority), at: low)
        }
        return low
    }
}
