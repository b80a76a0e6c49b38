import Basics

/// One deadline a key at most, and the earliest of all. For tables of a few dozen entries that change rarely and are
/// asked often.
struct KeyedDeadlines<Key: Hashable & Comparable> {
    private var due: [Key: Instant] = [:]
    private(set) var next: Instant?

    subscript(key: Key) -> Instant? {
        get { due[key] }
        set {
            let former = due[key]
            guard former != newValue else { return }
            due[key] = newValue
            if let newValue, newValue <= next ?? .distantFuture {
                next = newValue
            } else if former == next {
                next = due.values.min()
            }
        }
    }

    /// Keys that are due, in their order, so that runs repeat.
    mutating func takeDue(at now: Instant) -> [Key] {
        guard let next, next <= now else { return [] }
        let keys = due.filter { $0.value <= now }.keys.sorted()
        for key in keys { due[key] = nil }
        self.next = due.values.min()
        return keys
    }

    mutating func removeAll() { self = KeyedDeadlines() }
}
