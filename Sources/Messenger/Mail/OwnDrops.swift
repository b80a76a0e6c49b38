import Basics
import Crypto
import Wire

/// Names one attempt to leave a message at relays, for the answer of what became of it.
public struct DropTicket: Hashable, Sendable {
    /// Never used twice, so that a late answer finds nothing.
    let operation: UInt64
    let key: String
    let peer: PeerID
    let messageID: String
}

/// Whether relays take drops.
public enum DropRelays: Hashable, Sendable {
    /// The person does not want it.
    case off
    case disconnected
    /// One of the default set is connected: others do not carry mail (chapter 06 §5.2).
    case connected
}

/// Own messages left at relays, each once in 24 hours whatever is restarted in between (chapter 06 §5.3).
struct OwnDrops {
    private(set) var relays = DropRelays.off
    private var published = RecentSet<String>(
        capacity: MessengerLimits.rememberedDrops, life: MessengerLimits.rememberedDropLife)
    /// Too large for a relay.
    private var rejected = RecentSet<String>(
        capacity: MessengerLimits.rememberedDrops, life: MessengerLimits.rememberedDropLife)
    private var active: [String: UInt64] = [:]
    private var waiting: [(ticket: DropTicket, envelope: CourierEnvelope)] = []
    private var lastOperation: UInt64 = 0

    var underWay: Int { active.count }
    var waitingCount: Int { waiting.count }
    var publishedCount: Int { published.count }
    var rejectedCount: Int { rejected.count }

    /// One name for a message and its recipient, since message IDs alone are not unique.
    static func key(messageID: String, recipient: NoisePublicKey) -> String {
        var bytes = Array("bitchat-bridge-drop-dedup-v2".utf8)
        for part in [Array(messageID.utf8), recipient.bytes] {
            bytes.append(bigEndian: UInt32(clamping: part.count))
            bytes += part
        }
        return "v2:" + Hex.encode(SHA256.hash(bytes))
    }

    /// - Returns: what to answer with; `nil` when the message is at relays, on its way there, or never will be.
    mutating func begin(messageID: String, to recipient: NoisePublicKey, at now: WallTime) -> DropTicket? {
        guard relays != .off else { return nil }
        let key = OwnDrops.key(messageID: messageID, recipient: recipient)
        guard active[key] == nil, !published.contains(key, at: now),
            !published.contains(messageID, at: now), !rejected.contains(key, at: now)
        else { return nil }
        lastOperation += 1
        active[key] = lastOperation
        return DropTicket(operation: lastOperation, key: key, peer: recipient.peerID, messageID: messageID)
    }

    /// No relay would take it: it is not tried again for a day.
    mutating func reject(_ ticket: DropTicket, at now: WallTime) {
        guard end(ticket) else { return }
        rejected.insert(ticket.key, at: now)
    }

    /// - Returns: whether it is to be left at relays now; else it waits for one, in the place of the longest waiting.
    mutating func submit(_ ticket: DropTicket, _ envelope: CourierEnvelope) -> Bool {
        guard relays != .connected else { return true }
        if waiting.count >= MessengerLimits.waitingDrops { active[waiting.removeFirst().ticket.key] = nil }
        waiting.append((ticket, envelope))
        return false
    }

    /// What came of it.
    /// - Returns: what to remember; `nil` for a failure, and for an answer that nobody waits for any more.
    mutating func ended(_ ticket: DropTicket, isConfirmed: Bool, at now: WallTime) -> PublishedDrop? {
        guard end(ticket), isConfirmed else { return nil }
        published.insert(ticket.key, at: now)
        return PublishedDrop(key: ticket.key, at: now)
    }

    /// The message has arrived or is given up: what still waits for a relay waits no more.
    mutating func withdraw(messageID: String, to recipient: NoisePublicKey) {
        let key = OwnDrops.key(messageID: messageID, recipient: recipient)
        guard active.removeValue(forKey: key) != nil else { return }
        waiting.removeAll { $0.ticket.key == key }
    }

    /// Whether anybody waits for what comes of it.
    func isActive(_ ticket: DropTicket) -> Bool { active[ticket.key] == ticket.operation }

    private mutating func end(_ ticket: DropTicket) -> Bool {
        guard isActive(ticket) else { return false }
        active[ticket.key] = nil
        return true
    }

    /// - Returns: what waited for a relay.
    mutating func set(_ relays: DropRelays) -> [(ticket: DropTicket, envelope: CourierEnvelope)] {
        self.relays = relays
        switch relays {
        case .off:
            active.removeAll()
            waiting.removeAll()
            return []
        case .disconnected: return []
        case .connected:
            defer { waiting.removeAll() }
            return waiting
        }
    }

    mutating func restore(_ drops: [PublishedDrop]) { published.restore(drops.map { ($0.key, at: $0.at) }) }
}
