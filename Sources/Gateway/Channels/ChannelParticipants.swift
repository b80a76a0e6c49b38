import Basics
import Crypto
import Nostr

/// Participants of each location channel in the last five minutes, from messages and presence (chapter 05 §9.3). RAM
/// only.
///
/// What counts is when an event was made, as far as it is not in the future: an hour of history that relays bring at
/// once makes nobody present.
struct ChannelParticipants {
    private typealias Seen = (nickname: String?, at: Instant)
    private var channels: [String: [NostrPublicKey: Seen]] = [:]

    mutating func record(_ event: VerifiedEvent, in geohash: String, at now: Now) {
        let age = Freshness.age(event.event.createdAt, at: now.wall)
        guard age < GatewayLimits.presentSeconds else { return }
        let at = now.monotonic - .seconds(Int(max(0, age)))
        // Taken out, so that it is changed in place.
        var people = channels.removeValue(forKey: geohash) ?? [:]
        let known = people[event.author]
        if known == nil, people.count >= GatewayLimits.channelParticipants {
            people = people.filter { now.monotonic - $0.value.at < ChannelParticipants.window }
            if people.count >= GatewayLimits.channelParticipants, let oldest = ChannelParticipants.oldest(of: people) {
                people[oldest] = nil
            }
        }
        let isMessage = event.event.kind == EventKind.channelMessage
        let nickname = isMessage ? DisplayName.nickname(of: event.event) : nil
        people[event.author] = (nickname ?? known?.nickname, max(known?.at ?? at, at))
        channels[geohash] = people
    }

    /// Forgets all channels but these.
    mutating func keep(_ wanted: [String]) { channels = channels.filter { wanted.contains($0.key) } }

    func count(in geohash: String, at now: Instant) -> Int {
        channels[geohash]?.values.count { now - $0.at < ChannelParticipants.window } ?? 0
    }

    /// Most recent first.
    func list(in geohash: String, at now: Instant) -> [Participants.Participant] {
        (channels[geohash] ?? [:]).filter { now - $0.value.at < ChannelParticipants.window }
            .sorted { $0.value.at != $1.value.at ? $0.value.at > $1.value.at : $0.key.hex < $1.key.hex }
            .map { Participants.Participant(key: $0.key, nickname: $0.value.nickname) }
    }

    private static let window = Interval.seconds(Int(GatewayLimits.presentSeconds))

    private static func oldest(of people: [NostrPublicKey: Seen]) -> NostrPublicKey? {
        people.min { $0.value.at != $1.value.at ? $0.value.at < $1.value.at : $0.key.hex < $1.key.hex }?.key
    }
}

/// A location channel that is listened to.
public struct ChannelStatus: Hashable, Sendable {
    public let geohash: String
    /// Always followed; the others are in use on this island or looked at.
    public let isConfigured: Bool
    /// People of the last five minutes. Presence is not told in channels finer than a city, so that none there means
    /// nothing.
    public let participants: Int
    /// Its subscription at the relays.
    public let subscription: String
}
