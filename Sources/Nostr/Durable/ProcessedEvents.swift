import Basics

/// Events that were acted upon, so that what relays bring again after a restart is not acted upon again (chapter 05
/// §6.7). Apart from channel traffic, which would push mail out.
public struct ProcessedEvents {
    private var ids = BoundedSet<EventID>(capacity: NostrLimits.processedEvents)

    /// - Parameter ids: what an earlier process kept, oldest first.
    public init(_ ids: [EventID] = []) {
        for id in ids { self.ids.insert(id) }
    }

    public var count: Int { ids.count }

    public func contains(_ id: EventID) -> Bool { ids.contains(id) }

    /// - Returns: true for an event not processed before: keep its id, then act.
    public mutating func insert(_ id: EventID) -> Bool { ids.insert(id) }
}
