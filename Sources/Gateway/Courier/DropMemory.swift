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
    private var times: [[UInt8]: WallTime] = [:]
    private var order = Queue<DealtDrop>()

    var count: Int { times.count }

    func contains(_ event: EventID) -> Bool { times[event.bytes] != nil }
    func contains(_ mail: MailID) -> Bool { times[mail.bytes] != nil }

    /// What to keep on a disk; nothing for what is known.
    mutating func insert(_ event: EventID, at now: WallTime) -> DealtDrop? { insert(event.bytes, at: now) }
    mutating func insert(_ mail: MailID, at now: WallTime) -> DealtDrop? { insert(mail.bytes, at: now) }

    mutating func restore(_ dealt: [DealtDrop], at now: WallTime) {
        for drop in dealt.sorted(by: { $0.at < $1.at }) where now.distance(to: drop.at) < CourierLimits.rememberedFor {
            if times.updateValue(drop.at, forKey: drop.name) == nil { order.append(drop) }
        }
        shrink(at: now)
    }

    private mutating func insert(_ name: [UInt8], at now: WallTime) -> DealtDrop? {
        guard times.updateValue(now, forKey: name) == nil else { return nil }
        let drop = DealtDrop(name: name, at: now)
        order.append(drop)
        shrink(at: now)
        return drop
    }

    private mutating func shrink(at now: WallTime) {
        while let oldest = order.first,
            times.count > CourierLimits.rememberedDrops || now.distance(to: oldest.at) >= CourierLimits.rememberedFor
        {
            _ = order.popFirst()
            times[oldest.name] = nil
        }
    }
}
