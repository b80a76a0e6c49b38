/// Which events a subscription has been given already, over all relays (chapter 05 §6.7). Looking up is free to anyone;
/// recording waits for the signature check, so that a forged copy cannot shadow the genuine event.
struct RecentEvents {
    struct Key: Hashable {
        let subscription: SubscriptionNumber
        let event: EventID
    }

    private var members: Set<Key> = []
    private var order: [Key] = []

    var count: Int { members.count }

    func contains(_ key: Key) -> Bool { members.contains(key) }

    mutating func record(_ key: Key) {
        guard members.insert(key).inserted else { return }
        order.append(key)
        guard order.count > NostrLimits.recentEvents else { return }
        let excess = order.count - NostrLimits.recentEventsAfterTrim
        for old in order.prefix(excess) { members.remove(old) }
        order.removeFirst(excess)
    }
}
