import Basics

/// Events on their way to relays, oldest first: one memory-only queue for all of them (chapter 05 §6.4).
struct PendingEvents {
    struct Entry {
        let number: UInt64
        let event: EventID
        let frame: [UInt8]
        let isEphemeral: Bool
        /// Bits of work its id shows.
        let work: Int
        let createdAt: Int64
        let confirmation: PublicationID?
        /// Relays still owed it, and whether each was connected when it was published. To one that was not, an
        /// ephemeral event is not sent once it is old.
        var owed: [NostrRelayURL: Bool]
        /// The pace of the whole process has let it go: it may be written to the next relay.
        var isBegun = false
    }

    private(set) var entries: [Entry] = []
    private var bytes = 0

    /// Adds an entry; returns how many of the oldest fell out for it. Confirmed publications have their own bound.
    mutating func append(_ entry: Entry) -> Int {
        entries.append(entry)
        bytes += entry.frame.count
        var dropped = 0
        while unconfirmedCount > NostrLimits.pendingEvents || bytes > NostrLimits.pendingBytes {
            guard let oldest = entries.firstIndex(where: { $0.confirmation == nil }) else { break }
            remove(at: oldest)
            dropped += 1
        }
        return dropped
    }

    var unconfirmedCount: Int { entries.count(where: { $0.confirmation == nil }) }

    func owes(_ relay: NostrRelayURL) -> Bool { entries.contains { $0.owed[relay] != nil } }
    func count(owedTo relay: NostrRelayURL) -> Int { entries.count(where: { $0.owed[relay] != nil }) }

    /// The oldest entry owed to `relay`.
    func first(owedTo relay: NostrRelayURL) -> Entry? { entries.first { $0.owed[relay] != nil } }

    mutating func begin(_ entry: Entry) {
        if let index = entries.firstIndex(where: { $0.number == entry.number }) { entries[index].isBegun = true }
    }

    /// `relay` is not connected any more: to what it is still owed, it is as one that never was.
    mutating func lost(_ relay: NostrRelayURL) {
        for index in entries.indices where entries[index].owed[relay] != nil { entries[index].owed[relay] = false }
    }

    /// The entry is sent to `relay`, or never will be.
    mutating func settle(_ entry: Entry, with relay: NostrRelayURL) {
        guard let index = entries.firstIndex(where: { $0.number == entry.number }) else { return }
        entries[index].owed[relay] = nil
        if entries[index].owed.isEmpty { remove(at: index) }
    }

    /// Forgets what `relay` is owed; returns how many entries that was.
    mutating func removeAll(owedTo relay: NostrRelayURL, where isOver: (Entry) -> Bool = { _ in true }) -> Int {
        var removed = 0
        for index in entries.indices.reversed() where entries[index].owed[relay] != nil && isOver(entries[index]) {
            removed += 1
            entries[index].owed[relay] = nil
            if entries[index].owed.isEmpty { remove(at: index) }
        }
        return removed
    }

    /// Confirmed publications do not wait for a relay that went away.
    mutating func removeConfirmed(owedTo relay: NostrRelayURL) {
        for index in entries.indices.reversed() where entries[index].confirmation != nil {
            entries[index].owed[relay] = nil
            if entries[index].owed.isEmpty { remove(at: index) }
        }
    }

    mutating func removeAll(of confirmation: PublicationID) {
        for index in entries.indices.reversed() where entries[index].confirmation == confirmation { remove(at: index) }
    }

    private mutating func remove(at index: Int) { bytes -= entries.remove(at: index).frame.count }
}
