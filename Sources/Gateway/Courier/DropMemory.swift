import Basics
import Nostr

/// A drop, or an envelope whoever dropped it, that need not be looked at again.
public struct DealtDrop: Hashable, Sendable {
    /// An event ID (32 bytes) or a mail ID (16 bytes).
    public let name: [UInt8]
    public let at: WallTime

    public var isLetter: Bool { name.count == MailID.size }

    public init(name: [UInt8], at: WallTime) {
        self.name = name
        self.at = at
    }
}

/// What was dealt with in the last 24 hours. Relays tell a whole day again whenever they are asked, and every gateway
/// drops an envelope under event IDs of its own (chapter 06 §5.6, §5.8). Events and envelopes each have their own room.
struct DropMemory {
    private typealias Names = RecentSet<[UInt8]>
    private var events = Names(capacity: CourierLimits.rememberedDrops, life: CourierLimits.rememberedFor)
    private var letters = Names(capacity: CourierLimits.rememberedDrops, life: CourierLimits.rememberedFor)

    func contains(_ event: EventID, at now: WallTime) -> Bool { events.contains(event.bytes, at: now) }
    func contains(_ letter: MailID, at now: WallTime) -> Bool { letters.contains(letter.bytes, at: now) }

    /// - Returns: the record to persist; nil if the event is already known.
    mutating func insert(_ event: EventID, at now: WallTime) -> DealtDrop? {
        events.insert(event.bytes, at: now) ? DealtDrop(name: event.bytes, at: now) : nil
    }

    mutating func insert(_ letter: MailID, at now: WallTime) -> DealtDrop? {
        letters.insert(letter.bytes, at: now) ? DealtDrop(name: letter.bytes, at: now) : nil
    }

    mutating func restore(_ dealt: [DealtDrop]) {
        events.restore(dealt.filter { !$0.isLetter }.map { ($0.name, at: $0.at) })
        letters.restore(dealt.filter(\.isLetter).map { ($0.name, at: $0.at) })
    }
}
