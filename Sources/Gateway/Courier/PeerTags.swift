import Basics
import Crypto
import Wire

/// The tags under which mail waits for a peer today: of the day before, this day and the next (chapter 06 §5.1).
public struct PeerTags: Sendable {
    public let key: NoisePublicKey
    /// In the order of the days.
    public let tags: [[UInt8]]

    public init(of key: NoisePublicKey, at now: WallTime) {
        self.key = key
        tags = CourierTag.candidates(for: key, at: now)
    }

    func contains(_ tag: [UInt8]) -> Bool { tags.contains(tag) }
}

/// Tags of the peers around, derived once a day: every announce of every one asks for them.
struct TagMemory {
    private var day: UInt32 = 0
    private var known: [NoisePublicKey: PeerTags] = [:]

    mutating func tags(of key: NoisePublicKey, at now: WallTime) -> PeerTags {
        let today = CourierEnvelope.day(at: now)
        if day != today || known.count >= CourierLimits.rememberedTags {
            known.removeAll()
            day = today
        }
        if let tags = known[key] { return tags }
        let tags = PeerTags(of: key, at: now)
        known[key] = tags
        return tags
    }
}
