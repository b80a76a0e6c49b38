/// Elements remembered for a time, and at most so many: past the capacity the oldest goes first. Dates are wall time,
/// so that it outlives a restart.
public struct RecentSet<Element: Hashable & Sendable>: Sendable {
    public let capacity: Int
    /// In milliseconds.
    public let life: UInt64
    private var times: [Element: WallTime] = [:]
    private var order = Queue<(element: Element, at: WallTime)>()

    public init(capacity: Int, life: UInt64) {
        self.capacity = capacity
        self.life = life
    }

    public var count: Int { times.count }

    public func contains(_ element: Element, at now: WallTime) -> Bool {
        times[element].map { now.distance(to: $0) < life } ?? false
    }

    /// - Returns: true when it was not remembered.
    @discardableResult
    public mutating func insert(_ element: Element, at now: WallTime) -> Bool {
        guard !contains(element, at: now) else { return false }
        times[element] = now
        order.append((element, now))
        shrink()
        return true
    }

    /// Takes back what an earlier run remembered.
    public mutating func restore(_ elements: [(Element, at: WallTime)]) {
        for (element, at) in elements.sorted(by: { $0.at < $1.at }) where times.updateValue(at, forKey: element) != at {
            order.append((element, at))
        }
        shrink()
    }

    /// By count alone: a clock that goes wrong for a while makes nothing forgotten. In the order, an element that was
    /// remembered anew stands twice, and only its last place counts.
    private mutating func shrink() {
        while order.count > capacity, let oldest = order.popFirst() {
            if times[oldest.element] == oldest.at { times[oldest.element] = nil }
        }
    }
}
