import Basics
import Nostr

/// Which geohash channels the gateway listens to at the relays: the configured ones, and for an hour each those that
/// deposits show to be in use on this island (chapter 06 §3.5).
struct ChannelFollower {
    let configured: [String]
    /// Least recently demanded first.
    private var demanded: [(geohash: String, at: Instant)] = []

    init(configured: [String]) {
        var unique: [String] = []
        for geohash in configured where Geohash.isCanonical(geohash) && !unique.contains(geohash) {
            unique.append(geohash)
        }
        self.configured = Array(unique.prefix(GatewayLimits.configuredChannels))
    }

    var followed: [String] { configured + demanded.map(\.geohash) }

    /// When the least recently demanded channel ages out.
    var nextDeadline: Instant? { demanded.first.map { $0.at + GatewayLimits.demandAge } }

    /// A deposit for `geohash` was accepted.
    /// - Returns: whether the channel is newly followed, and the one given up for it.
    mutating func demand(_ geohash: String, at now: Instant) -> (isNew: Bool, dropped: String?) {
        guard !configured.contains(geohash) else { return (false, nil) }
        if let index = demanded.firstIndex(where: { $0.geohash == geohash }) {
            demanded.remove(at: index)
            demanded.append((geohash, now))
            return (false, nil)
        }
        let dropped = demanded.count >= GatewayLimits.demandedChannels ? demanded.removeFirst().geohash : nil
        demanded.append((geohash, now))
        return (true, dropped)
    }

    /// Channels that nobody has written to for an hour.
    mutating func takeExpired(at now: Instant) -> [String] {
        let expired = demanded.prefix { now - $0.at >= GatewayLimits.demandAge }
        demanded.removeFirst(expired.count)
        return expired.map(\.geohash)
    }

    /// Forgets the demanded channels.
    mutating func removeDemanded() { demanded.removeAll() }
}
