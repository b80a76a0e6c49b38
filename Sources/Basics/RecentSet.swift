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
        shrink(at: now)
        guard times[element] == nil else { return false }
        times[element] = now
        order.append((element, now))
        shrink(at: now)
        return true
    }

    /// Takes back what an earlier run remembered.
    public mutating func restore(_ elements: [(Element, at: WallTime)], at now: WallTime) {
        for (element, at) in elements.sorted(by: { $0.at < $1.at }) where now.distance(to: at) < life {
            if times.updateValue(at, forKey: element) == nil { order.append((element, at)) }
        }
        shrink(at: now)
    }

    public mutating func removeAll() {
        times.removeAll()
        order.removeAll()
    }

    private mutating func shrink(at now: WallTime) {
        while let oldest = order.first, times.count > capacity || now.distance(to: oldest.at) >= life {
            _ = order.popFirst()
            times[oldest.element] = nil
        }
    }
}
