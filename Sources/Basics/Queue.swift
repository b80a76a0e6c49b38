/// First in, first out, with amortised O(1) at both ends. Its user bounds it.
public struct Queue<Element> {
    @usableFromInline var storage: [Element?] = []
    @usableFromInline var head = 0

    @inlinable public init() {}

    @inlinable public var isEmpty: Bool { count == 0 }
    @inlinable public var count: Int { storage.count - head }
    @inlinable public var first: Element? { head < storage.count ? storage[head] : nil }

    @inlinable public mutating func append(_ element: Element) { storage.append(element) }

    @discardableResult @inlinable
    public mutating func popFirst() -> Element? {
        guard head < storage.count else { return nil }
        // Moved out, not copied.
        var element: Element?
        swap(&element, &storage[head])
        head += 1
        if head == storage.count {
            storage.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 64, head * 2 >= storage.count {
            storage.removeFirst(head)
            head = 0
        }
        return element
    }

    @inlinable public mutating func popLast() -> Element? {
        guard head < storage.count else { return nil }
        let element = storage.removeLast()
        if head == storage.count {
            storage.removeAll(keepingCapacity: true)
            head = 0
        }
        return element
    }

    @inlinable public mutating func removeAll() {
        storage.removeAll()
        head = 0
    }
}

extension Queue: Sendable where Element: Sendable {}
