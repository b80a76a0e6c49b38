import Basics
import Nostr
import Wire

/// Which geohash channels the gateway listens to at the relays: the configured ones, and for an hour each those that
/// deposits show to be in use on this island (chapter 06 §3.5).
struct ChannelFollower {
    let configured: [String]
    /// Least recently demanded first.
    private var demanded: [Demand] = []

    private struct Demand {
        let geohash: String
        /// Whose share of the demanded channels it belongs to.
        var depositor: PeerID
        var at: Instant
    }

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

    /// A deposit for `geohash` was accepted. The depositor of most channels gives up its least recently demanded one,
    /// so that one phone cannot displace what all others listen to. Buildings are not followed: relays would learn
    /// which one matters here (chapter 05 §7).
    /// - Returns: whether the channel is newly followed.
    mutating func demand(_ geohash: String, by depositor: PeerID, at now: Instant) -> Bool {
        guard !configured.contains(geohash), geohash.utf8.count <= GatewayLimits.demandedPrecision else { return false }
        if let index = demanded.firstIndex(where: { $0.geohash == geohash }) {
            var demand = demanded.remove(at: index)
            demand.at = now
            if share(of: depositor) < share(of: demand.depositor) { demand.depositor = depositor }
            demanded.append(demand)
            return false
        }
        demanded.append(Demand(geohash: geohash, depositor: depositor, at: now))
        if demanded.count > GatewayLimits.demandedChannels {
            let most = demanded.map { share(of: $0.depositor) }.max()
            let victim = demanded.firstIndex { share(of: $0.depositor) == most } ?? 0
            demanded.remove(at: victim)
        }
        return true
    }

    private func share(of depositor: PeerID) -> Int { demanded.count { $0.depositor == depositor } }

    /// Channels that nobody has written to for an hour.
    mutating func takeExpired(at now: Instant) -> [String] {
        let expired = demanded.prefix { now - $0.at >= GatewayLimits.demandAge }
        demanded.removeFirst(expired.count)
        return expired.map(\.geohash)
    }

    /// Forgets the demanded channels.
    mutating func removeDemanded() { demanded.removeAll() }
}
