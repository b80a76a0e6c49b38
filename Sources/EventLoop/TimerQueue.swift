import Basics

/// The pending timers of a loop in time order, ties in the order they were scheduled. An indexed binary heap, so that
/// cancelling really removes: engines re-arm their one deadline on every packet.
final class TimerQueue {
    final class Timer: Cancellable {
        fileprivate let due: Instant
        fileprivate let order: UInt64
        fileprivate var action: (() -> Void)?
        /// Place in the heap while pending.
        fileprivate var place: Int?
        fileprivate weak var queue: TimerQueue?

        fileprivate init(due: Instant, order: UInt64, queue: TimerQueue, action: @escaping () -> Void) {
            self.due = due
            self.order = order
            self.queue = queue
            self.action = action
        }

        func cancel() {
            action = nil
            queue?.remove(self)
        }

        fileprivate func precedes(_ other: Timer) -> Bool { due != other.due ? due < other.due : order < other.order }
    }

    private var heap: [Timer] = []
    private var nextOrder: UInt64 = 0

    deinit { removeAll() }

    var count: Int { heap.count }
    var nextDeadline: Instant? { heap.first?.due }

    /// A delay below zero counts as zero; one past the end of time never fires.
    func add(after delay: Interval, from now: Instant, _ action: @escaping () -> Void) -> Timer {
        let (sum, overflow) = now.nanoseconds.addingReportingOverflow(max(0, delay.nanoseconds))
        let due = overflow ? Instant.distantFuture : Instant(nanoseconds: sum)
        let timer = Timer(due: due, order: nextOrder, queue: self, action: action)
        nextOrder += 1
        timer.place = heap.count
        heap.append(timer)
        rise(from: heap.count - 1)
        return timer
    }

    /// Marks the end of what is scheduled so far, for `takeDue(at:scheduledBefore:)`.
    var horizon: UInt64 { nextOrder }

    /// The action of the earliest timer due at `now`, removed. A timer scheduled at or after `horizon` waits, so that a
    /// callback which keeps scheduling work for "now" cannot hold up the loop.
    func takeDue(at now: Instant, scheduledBefore horizon: UInt64 = .max) -> (() -> Void)? {
        guard let first = heap.first, first.due <= now, first.order < horizon else { return nil }
        remove(first)
        defer { first.action = nil }
        return first.action
    }

    func removeAll() {
        for timer in heap {
            timer.place = nil
            timer.action = nil
        }
        heap.removeAll()
    }

    private func remove(_ timer: Timer) {
        guard let place = timer.place else { return }
        timer.place = nil
        let last = heap.removeLast()
        guard last !== timer else { return }
        heap[place] = last
        last.place = place
        sink(from: place)
        rise(from: place)
    }

    private func rise(from start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].precedes(heap[parent]) else { return }
            exchange(parent, child)
            child = parent
        }
    }

    private func sink(from start: Int) {
        var parent = start
        while true {
            let left = 2 * parent + 1
            guard left < heap.count else { return }
            let right = left + 1
            let least = right < heap.count && heap[right].precedes(heap[left]) ? right : left
            guard heap[least].precedes(heap[parent]) else { return }
            exchange(parent, least)
            parent = least
        }
    }

    private func exchange(_ a: Int, _ b: Int) {
        heap.swapAt(a, b)
        heap[a].place = a
        heap[b].place = b
    }
}
