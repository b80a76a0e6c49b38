/// Pending deadlines in time order, ties in insertion order: a binary heap with O(log n) add and take.
public struct DeadlineQueue<Item> {
    private struct Entry {
        let due: Instant
        let order: UInt64
        let item: Item

        func precedes(_ other: Entry) -> Bool { due != other.due ? due < other.due : order < other.order }
    }

    private var heap: [Entry] = []
    private var nextOrder: UInt64 = 0

    public init() {}

    public var count: Int { heap.count }
    public var isEmpty: Bool { heap.isEmpty }
    public var nextDeadline: Instant? { heap.first?.due }

    public mutating func add(_ item: Item, due: Instant) {
        heap.append(Entry(due: due, order: nextOrder, item: item))
        nextOrder += 1
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].precedes(heap[parent]) else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// The earliest item whose deadline is at or before `now`.
    public mutating func takeDue(at now: Instant) -> Item? {
        guard let first = heap.first, first.due <= now else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            sink()
        }
        return first.item
    }

    public mutating func removeAll() { heap.removeAll() }

    private mutating func sink() {
        var parent = 0
        while true {
            let left = 2 * parent + 1
            guard left < heap.count else { return }
            let right = left + 1
            let least = right < heap.count && heap[right].precedes(heap[left]) ? right : left
            guard heap[least].precedes(heap[parent]) else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
