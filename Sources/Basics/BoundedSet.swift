/// An insertion-ordered set of at most `capacity` elements. A re-insert changes nothing; past the capacity the oldest
/// insertion is evicted (chapter 06 §0, "bounded ID set").
public struct BoundedSet<Element: Hashable> {
    public let capacity: Int
    private var members: Set<Element>
    private var ring: [Element]
    private var oldest = 0

    public init(capacity: Int) {
        precondition(capacity > 0, "a bounded set holds at least one element")
        self.capacity = capacity
        members = []
        ring = []
    }

    public var count: Int { members.count }
    /// Oldest first.
    public var elements: [Element] { Array(ring[oldest...] + ring[..<oldest]) }
    public func contains(_ element: Element) -> Bool { members.contains(element) }

    /// - Returns: true when `element` was not yet a member.
    @discardableResult
    public mutating func insert(_ element: Element) -> Bool {
        guard members.insert(element).inserted else { return false }
        if ring.count < capacity {
            ring.append(element)
        } else {
            members.remove(ring[oldest])
            ring[oldest] = element
            oldest = (oldest + 1) % capacity
        }
        return true
    }

    public mutating func removeAll() {
        members.removeAll()
        ring.removeAll()
        oldest = 0
    }
}
