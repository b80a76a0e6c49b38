import Basics

/// What happens when, ties in insertion order. Like `DeadlineQueue`, with the payloads beside the heap, so that the
/// millions of frames of a long run move 24 bytes when they are sorted.
struct EventHeap<Payload> {
    private struct Key {
        let due: Int64
        let order: UInt64
        let slot: Int

        func precedes(_ other: Key) -> Bool { due != other.due ? due < other.due : order < other.order }
    }

    private var keys: [Key] = []
    private var payloads: [Payload?] = []
    private var free: [Int] = []
    private var nextOrder: UInt64 = 0

    var count: Int { keys.count }
    var nextDue: Instant? { keys.first.map { Instant(nanoseconds: $0.due) } }

    mutating func add(_ payload: Payload, due: Instant) {
        let slot: Int
        if let reused = free.popLast() {
            slot = reused
            payloads[slot] = payload
        } else {
            slot = payloads.count
            payloads.append(payload)
        }
        keys.append(Key(due: due.nanoseconds, order: nextOrder, slot: slot))
        nextOrder += 1
        keys.withUnsafeMutableBufferPointer { EventHeap.rise($0) }
    }

    mutating func takeFirst() -> Payload? {
        guard let first = keys.first else { return nil }
        let last = keys.removeLast()
        if !keys.isEmpty {
            keys[0] = last
            keys.withUnsafeMutableBufferPointer { EventHeap.sink($0) }
        }
        free.append(first.slot)
        return payloads[first.slot].take()
    }

    private static func rise(_ keys: UnsafeMutableBufferPointer<Key>) {
        var child = keys.count - 1
        let key = keys[child]
        while child > 0 {
            let parent = (child - 1) / 4
            guard key.precedes(keys[parent]) else { break }
            keys[child] = keys[parent]
            child = parent
        }
        keys[child] = key
    }

    private static func sink(_ keys: UnsafeMutableBufferPointer<Key>) {
        let key = keys[0]
        var parent = 0
        while true {
            let first = 4 * parent + 1
            guard first < keys.count else { break }
            var least = first
            for child in first + 1..<max(first + 1, min(first + 4, keys.count)) where keys[child].precedes(keys[least])
            {
                least = child
            }
            guard keys[least].precedes(key) else { break }
            keys[parent] = keys[least]
            parent = least
        }
        keys[parent] = key
    }
}

extension Optional {
    fileprivate mutating func take() -> Wrapped? {
        let value = self
        self = nil
        return value
    }
}
