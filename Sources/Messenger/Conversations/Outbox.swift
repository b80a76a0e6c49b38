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
        let created: Instant
        let writtenAt: WallTime
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
        case removed(messageID: String)
    }

    /// In the order they were written.
    private var queues: [PeerID: [Entry]] = [:]
    /// Messages whose record on a disk is outdated, in the order they became so.
    private var outdated: [(peer: PeerID, messageID: String)] = []

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
        guard entry.recipient != nil, !outdated.contains(where: { $0.messageID == entry.messageID }) else { return }
        outdated.append((peer, entry.messageID))
    }

    mutating func nextChange() -> Change? {
        guard !outdated.isEmpty else { return nil }
        let (peer, messageID) = outdated.removeFirst()
        let entry = queues[peer]?.first { $0.messageID == messageID }
        return entry?.record.map { .put($0) } ?? .removed(messageID: messageID)
    }

    /// Takes back what an earlier run kept.
    /// - Returns: what is given up instead: older than a day, or displaced by the rest.
    mutating func restore(
        _ records: [OutboxRecord], at now: Now
    ) -> [(peer: PeerID, entry: Entry, failure: DeliveryFailure)] {
        var lost: [(peer: PeerID, entry: Entry, failure: DeliveryFailure)] = []
        for record in records.sorted(by: { ($0.writtenAt, $0.number ?? 0) < ($1.writtenAt, $1.number ?? 0) }) {
            let peer = record.recipient.peerID
            let age = now.wall.age(of: record.writtenAt)
            let isKnown = entries(for: peer).contains { $0.messageID == record.messageID }
            guard !isKnown else { continue }
            guard age <= UInt64(MessengerLimits.outboxLife.milliseconds) else {
                outdated.append((peer, record.messageID))
                lost.append((peer, Entry(record, created: now.monotonic), .expired))
                continue
            }
            let entry = Entry(record, created: now.monotonic - .milliseconds(Int(age)))
            if let displaced = add(entry, for: peer) { lost.append((displaced.peer, displaced.entry, .displaced)) }
        }
        return lost
    }
}

extension Outbox.Entry {
    /// `nil` when nothing is to be kept: it arrived or was given up, or could not be sealed after a restart.
    var record: OutboxRecord? {
        guard !isSettled, let recipient else { return nil }
        return OutboxRecord(
            messageID: messageID, recipient: recipient, content: content, number: number, writtenAt: writtenAt,
            state: state, attempts: attempts, couriers: couriers)
    }

    init(_ record: OutboxRecord, created: Instant) {
        self.init(
            messageID: record.messageID, content: record.content, number: record.number, created: created,
            writtenAt: record.writtenAt, recipient: record.recipient, state: record.state,
            attempts: record.attempts, couriers: record.couriers)
    }
}
