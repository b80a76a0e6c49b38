import Basics
import Crypto
import Wire

/// Own private messages until they are acknowledged (chapter 06 §7).
struct Outbox {
    struct Entry {
        let messageID: String
        let content: String
        /// What the person knows it by; `nil` for control messages, which are not shown.
        let number: Int?
        var created: Instant
        /// `nil` until it is known what time it is.
        var writtenAt: WallTime?
        /// Whether `created` is when it was written. After a restart that shows when it is known what time it is.
        var isAgeKnown = true
        /// Whom mail is sealed to; `nil` while only a session of the addressee is known.
        let recipient: NoisePublicKey?
        var state = DeliveryState.sending
        var attempts = 0
        /// Handed over in the present session, so that nothing is to be done but wait.
        var isInFlight = false
        /// Who carries it.
        var couriers: [NoisePublicKey] = []
        /// As it was sealed first: every courier and relay gets the same, so that whoever meets two copies sees that
        /// they are one.
        var sealed: CourierEnvelope?

        var isSettled: Bool {
            switch state {
            case .delivered, .read, .failed: true
            default: false
            }
        }
    }

    /// What is to be done on a disk.
    enum Change {
        case put(OutboxRecord)
        case removed(messageID: String, recipient: NoisePublicKey)
    }

    /// In the order they were written.
    private var queues: [PeerID: [Entry]] = [:]
    /// Messages whose record on a disk is outdated, in the order they became so.
    private var outdated: [(peer: PeerID, messageID: String, recipient: NoisePublicKey)] = []

    var count: Int { queues.values.reduce(0) { $0 + $1.count } }
    var peers: [PeerID] { queues.keys.sorted() }
    func entries(for peer: PeerID) -> [Entry] { queues[peer] ?? [] }
    func hasUnsent(for peer: PeerID) -> Bool { queues[peer]?.contains { !$0.isSettled && !$0.isInFlight } ?? false }
    func hasUnsettled(for peer: PeerID) -> Bool { queues[peer]?.contains { !$0.isSettled } ?? false }
    /// Not known to have arrived.
    var unsettled: Int { queues.values.reduce(0) { $0 + $1.count { !$0.isSettled && $0.number != nil } } }
    var highestNumber: Int { queues.values.joined().compactMap(\.number).max() ?? 0 }

    /// Keeps a message.
    /// - Returns: the one displaced by it.
    mutating func add(_ entry: Entry, for peer: PeerID) -> (peer: PeerID, entry: Entry)? {
        var displaced: (peer: PeerID, entry: Entry)?
        if entries(for: peer).count >= MessengerLimits.outboxPerPeer {
            displaced = removeOldest(of: peer).map { (peer, $0) }
        } else if count >= MessengerLimits.outboxTotal, let longest = queues.max(by: Outbox.isShorter)?.key {
            displaced = removeOldest(of: longest).map { (longest, $0) }
        }
        if let displaced { note(displaced.entry, of: displaced.peer) }
        queues[peer, default: []].append(entry)
        note(entry, of: peer)
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
        let kept = queue.compactMap { before -> Entry? in
            var entry = before
            let isKept = change(&entry)
            if !isKept || entry.record != before.record { note(before, of: peer) }
            return isKept ? entry : nil
        }
        queues[peer] = kept.isEmpty ? nil : kept
    }

    @discardableResult
    mutating func removeAll(for peer: PeerID) -> [Entry] {
        let entries = queues.removeValue(forKey: peer) ?? []
        for entry in entries { note(entry, of: peer) }
        return entries
    }

    // MARK: At rest

    private mutating func note(_ entry: Entry, of peer: PeerID) {
        guard let recipient = entry.recipient, !outdated.contains(where: { $0.messageID == entry.messageID }) else {
            return
        }
        outdated.append((peer, entry.messageID, recipient))
    }

    mutating func nextChange() -> Change? {
        guard !outdated.isEmpty else { return nil }
        let (peer, messageID, recipient) = outdated.removeFirst()
        let entry = queues[peer]?.first { $0.messageID == messageID }
        return entry?.record.map { .put($0) } ?? .removed(messageID: messageID, recipient: recipient)
    }

    /// Takes back what an earlier run kept; how old it is, `date` says.
    /// - Returns: what is displaced by the rest.
    mutating func restore(_ records: [OutboxRecord], at now: Now) -> [(peer: PeerID, entry: Entry)] {
        let latest = WallTime(milliseconds: .max)
        return records.sorted { ($0.writtenAt ?? latest, $0.number ?? 0) < ($1.writtenAt ?? latest, $1.number ?? 0) }
            .compactMap { record in
                let peer = record.recipient.peerID
                guard !entries(for: peer).contains(where: { $0.messageID == record.messageID }) else { return nil }
                return add(Entry(record, created: now.monotonic), for: peer)
            }
    }

    /// It is known what time it is: dates what was written before, and finds out how old the rest is.
    /// - Returns: what is given up, older than a day.
    mutating func date(at now: Now) -> [(peer: PeerID, entry: Entry)] {
        var expired: [(peer: PeerID, entry: Entry)] = []
        for peer in peers {
            update(peer) { entry in
                guard let writtenAt = entry.writtenAt else {
                    entry.writtenAt = now.wall.before(now.monotonic - entry.created)
                    return true
                }
                guard !entry.isAgeKnown else { return true }
                let age = now.wall.age(of: writtenAt)
                guard age <= UInt64(MessengerLimits.outboxLife.milliseconds) else {
                    expired.append((peer, entry))
                    return false
                }
                entry.created = now.monotonic - .milliseconds(Int(age))
                entry.isAgeKnown = true
                return true
            }
        }
        return expired
    }
}

extension Outbox.Entry {
    /// `nil` when nothing is to be kept: it arrived or was given up, or could not be sealed after a restart.
    var record: OutboxRecord? {
        guard !isSettled, let recipient else { return nil }
        return OutboxRecord(
            messageID: messageID, recipient: recipient, content: content, number: number, writtenAt: writtenAt,
            state: state, attempts: attempts, couriers: couriers, sealed: sealed)
    }

    init(_ record: OutboxRecord, created: Instant) {
        self.init(
            messageID: record.messageID, content: record.content, number: record.number, created: created,
            writtenAt: record.writtenAt, isAgeKnown: record.writtenAt == nil, recipient: record.recipient,
            state: record.state, attempts: record.attempts, couriers: record.couriers, sealed: record.sealed)
    }
}
