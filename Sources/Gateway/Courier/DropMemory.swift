import Basics
import Nostr

/// A drop, or an envelope whoever dropped it, that need not be looked at again.
public struct DealtDrop: Hashable, Sendable {
    /// An event ID (32 bytes) or a mail ID (16 bytes).
    public let name: [UInt8]
    public let at: WallTime

    public init(name: [UInt8], at: WallTime) {
        self.name = name
        self.at = at
    }
}

/// What was dealt with in the last 24 hours. Relays tell a whole day again whenever they are asked, and every gateway
/// drops an envelope under event IDs of its own (chapter 06 §5.6, §5.8).
struct DropMemory {
    private var names = RecentSet<[UInt8]>(capacity: CourierLimits.rememberedDrops, life: CourierLimits.rememberedFor)

    func contains(_ event: EventID, at now: WallTime) -> Bool { names.contains(event.bytes, at: now) }
    func contains(_ letter: MailID, at now: WallTime) -> Bool { names.contains(letter.bytes, at: now) }

    /// What to keep on a disk; nothing for what is known.
    mutating func insert(_ event: EventID, at now: WallTime) -> DealtDrop? { insert(event.bytes, at: now) }
    mutating func insert(_ letter: MailID, at now: WallTime) -> DealtDrop? { insert(letter.bytes, at: now) }

    mutating func restore(_ dealt: [DealtDrop]) { names.restore(dealt.map { ($0.name, at: $0.at) }) }

    private mutating func insert(_ name: [UInt8], at now: WallTime) -> DealtDrop? {
        names.insert(name, at: now) ? DealtDrop(name: name, at: now) : nil
    }
}
