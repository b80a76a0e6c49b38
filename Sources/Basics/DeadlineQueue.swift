/// Pending deadlines in time order, ties in insertion order: a binary heap with O(log n) add and take.
public struct DeadlineQueue<Item> {
    @usableFromInline struct Entry {
        @usableFromInline let due: Instant
        @usableFromInline let order: UInt64
        @usableFromInline let item: Item

        @usableFromInline init(due: Instant, order: UInt64, item: Item) {
            self.due = due
            self.order = order
            self.item = item
        }

        @inlinable func precedes(_ other: Entry) -> Bool { due != other.due ? due < other.due : order < other.order }
    }

    @usableFromInline var heap: [Entry] = []
    @usableFromInline var nextOrder: UInt64 = 0

    @inlinable public init() {}

    @inlinable public var count: Int { heap.count }
    @inlinable public var isEmpty: Bool { heap.isEmpty }
    @inlinable public var nextDeadline: Instant? { heap.isEmpty ? nil : heap[0].due }

    @inlinable public mutating func add(_ item: Item, due: Instant) {
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
    @inlinable public mutating func takeDue(at now: Instant) -> Item? {
        guard !heap.isEmpty, heap[0].due <= now else { return nil }
        let first = heap[0]
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            sink()
        }
        return first.item
    }

    @inlinable public mutating func removeAll() { heap.removeAll() }

    @inlinable mutating func sink() {
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
