import Basics
import Wire

/// Own private messages until they are acknowledged (chapter 06 §7). In memory only: what a person typed is written
/// nowhere.
struct Outbox {
    struct Entry {
        let messageID: String
        let content: String
        /// What the person knows it by; `nil` for control messages, which are not shown.
        let number: Int?
        let created: Instant
        var state = DeliveryState.sending
        var attempts = 0
        /// Handed over in the present session, so that nothing is to be done but wait.
        var isInFlight = false

        var isSettled: Bool {
            switch state {
            case .delivered, .read, .failed: true
            default: false
            }
        }
    }

    /// In the order they were written.
    private var queues: [PeerID: [Entry]] = [:]

    var count: Int { queues.values.reduce(0) { $0 + $1.count } }
    var peers: [PeerID] { queues.keys.sorted() }
    func entries(for peer: PeerID) -> [Entry] { queues[peer] ?? [] }
    func hasUnsent(for peer: PeerID) -> Bool { queues[peer]?.contains { !$0.isSettled && !$0.isInFlight } ?? false }
    /// Not known to have arrived.
    var unsettled: Int { queues.values.reduce(0) { $0 + $1.count { !$0.isSettled && $0.number != nil } } }

    /// Keeps a message.
    /// - Returns: the one displaced by it.
    mutating func add(_ entry: Entry, for peer: PeerID) -> (peer: PeerID, entry: Entry)? {
        var displaced: (PeerID, Entry)?
        if entries(for: peer).count >= MessengerLimits.outboxPerPeer {
            displaced = removeOldest(of: peer).map { (peer, $0) }
        } else if count >= MessengerLimits.outboxTotal, let longest = queues.max(by: Outbox.isShorter)?.key {
            displaced = removeOldest(of: longest).map { (longest, $0) }
        }
        queues[peer, default: []].append(entry)
        return displaced
    }

    private static func isShorter(_ a: (PeerID, [Entry]), _ b: (PeerID, [Entry])) -> Bool {
        a.1.count != b.1.count ? a.1.count < b.1.count : a.0 < b.0
    }

    /// Of those that arrived the oldest, else of all.
    private mutating func removeOldest(of peer: PeerID) -> Entry? {
        guard var queue = queues[peer], !queue.isEmpty else { return nil }
        let entry = queue.remove(at: queue.firstIndex(where: \.isSettled) ?? 0)
        queues[peer] = queue.isEmpty ? nil : queue
        return entry
    }

    /// Changes the entries of one peer; those for which `change` says false are dropped.
    mutating func update(_ peer: PeerID, _ change: (inout Entry) -> Bool) {
        guard let queue = queues[peer] else { return }
        let kept = queue.compactMap { entry -> Entry? in
            var entry = entry
            return change(&entry) ? entry : nil
        }
        queues[peer] = kept.isEmpty ? nil : kept
    }

    @discardableResult
    mutating func removeAll(for peer: PeerID) -> [Entry] { queues.removeValue(forKey: peer) ?? [] }
}
