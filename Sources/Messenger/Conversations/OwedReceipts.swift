import Basics
import Wire

/// Receipts of messages whose writers have not been told yet. They go through a session of the writer's only (chapter
/// 06 §7, "Acks"), and what a session took may be lost with it: so each is kept for a while after it was sent.
struct OwedReceipts {
    private struct Entry {
        let message: ReceivedMessage
        var paidAt: Instant?
    }

    /// The oldest first.
    private var entries: [Entry] = []

    var count: Int { entries.count }
    /// Whoever is to be told something, in the order of their IDs.
    var creditors: [PeerID] { Set(entries.lazy.filter { $0.paidAt == nil }.map(\.message.sender)).sorted() }
    func isOwed(to peer: PeerID) -> Bool { entries.contains { $0.message.sender == peer && $0.paidAt == nil } }

    mutating func owe(_ message: ReceivedMessage) {
        entries.removeAll { $0.message.name == message.name }
        if entries.count >= MessengerLimits.owedReceipts { entries.removeFirst() }
        entries.append(Entry(message: message))
    }

    /// What to send to the peer now.
    mutating func pay(_ peer: PeerID, at now: Instant) -> [ReceivedMessage] {
        var paid: [ReceivedMessage] = []
        for index in entries.indices where entries[index].message.sender == peer && entries[index].paidAt == nil {
            entries[index].paidAt = now
            paid.append(entries[index].message)
        }
        return paid
    }

    /// The session that took them is gone.
    mutating func reopen(_ peer: PeerID, at now: Instant) {
        for index in entries.indices where entries[index].message.sender == peer {
            if let paidAt = entries[index].paidAt, paidAt < now { entries[index].paidAt = nil }
        }
    }

    mutating func forget(_ peer: PeerID) { entries.removeAll { $0.message.sender == peer } }

    /// - Returns: those that were sent long enough ago.
    mutating func settle(at now: Instant) -> [ReceivedMessage] {
        func isSettled(_ entry: Entry) -> Bool {
            entry.paidAt.map { now - $0 >= MessengerLimits.receiptPatience } ?? false
        }
        defer { entries.removeAll(where: isSettled) }
        return entries.filter(isSettled).map(\.message)
    }

    var nextDeadline: Instant? { entries.compactMap(\.paidAt).min().map { $0 + MessengerLimits.receiptPatience } }
}
