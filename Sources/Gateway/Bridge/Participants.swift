import Basics
import Crypto

/// The people across the bridge: at most 128, each for 600 s after its last event (chapter 06 §4.12). RAM only.
public struct Participants: Sendable {
    public struct Participant: Sendable, Hashable {
        public let key: NostrPublicKey
        /// Untrusted text, cut to bounds.
        public let nickname: String?

        public var displayName: String { DisplayName.of(nickname: nickname, pubkey: key.hex) }
    }

    private var seen: [NostrPublicKey: (nickname: String?, at: Instant)] = [:]

    /// A known nickname is never erased by an event without one, such as presence.
    mutating func record(_ key: NostrPublicKey, nickname: String?, at now: Instant) {
        let known = seen[key]?.nickname
        if seen[key] == nil, seen.count >= GatewayLimits.participants, let oldest {
            seen[oldest] = nil
        }
        seen[key] = (nickname ?? known, now)
    }

    mutating func prune(at now: Instant) { seen = seen.filter { now - $0.value.at <= GatewayLimits.participantAge } }
    mutating func removeAll() { seen.removeAll() }

    /// Most recent first.
    public func list(at now: Instant) -> [Participant] {
        seen.filter { now - $0.value.at <= GatewayLimits.participantAge }
            .sorted { $0.value.at != $1.value.at ? $0.value.at > $1.value.at : $0.key.hex < $1.key.hex }
            .map { Participant(key: $0.key, nickname: $0.value.nickname) }
    }

    private var oldest: NostrPublicKey? {
        seen.min { $0.value.at != $1.value.at ? $0.value.at < $1.value.at : $0.key.hex < $1.key.hex }?.key
    }
}
