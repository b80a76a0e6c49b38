import Basics

/// Stable IDs of the public messages heard by radio: the box's only answer to "does the island already have this?"
/// (chapter 06 §4.8). Bounded by age first; forgetting one early costs a superfluous carrier, never a wrong message.
struct RadioMemory {
    private var members: Set<String> = []
    private var order: [(id: String, at: Instant)] = []
    private var oldest = 0
    /// Entries forgotten before their time because the memory was full.
    private(set) var forgottenEarly: UInt64 = 0

    var count: Int { members.count }
    func contains(_ id: String) -> Bool { members.contains(id) }

    mutating func insert(_ id: String, at now: Instant) {
        while oldest < order.count, now - order[oldest].at > GatewayLimits.radioMemoryAge { forgetOldest() }
        guard members.insert(id).inserted else { return }
        if members.count > GatewayLimits.radioMemory {
            forgetOldest()
            forgottenEarly &+= 1
        }
        order.append((id, now))
    }

    private mutating func forgetOldest() {
        guard oldest < order.count else { return }
        members.remove(order[oldest].id)
        oldest += 1
        if oldest > GatewayLimits.radioMemory {
            order.removeFirst(oldest)
            oldest = 0
        }
    }
}
