import Basics
import Nostr

/// The channel subscriptions open at the relays, kept equal to those wanted. IDs and filters are a phone's, so that a
/// relay cannot tell the box from one (chapter 06 §3.5).
struct ChannelSubscriptions {
    private var open: [String] = []

    var geohashes: [String] { open }

    func isOpen(_ geohash: String) -> Bool { open.contains(geohash) }

    /// Opens what is missing and closes what is too many.
    mutating func set(_ wanted: [String], at wall: WallTime, effects: inout Queue<GatewayEffect>) {
        for geohash in open where !wanted.contains(geohash) {
            effects.append(.unsubscribe(id: ChannelSubscriptions.id(geohash)))
        }
        open.removeAll { !wanted.contains($0) }
        for geohash in wanted where !open.contains(geohash) {
            open.append(geohash)
            effects.append(.subscribe(ChannelSubscriptions.subscription(geohash, at: wall)))
        }
    }

    /// The channel whose subscription has this ID, if it is open.
    func geohash(ofSubscription id: String) -> String? { open.first { ChannelSubscriptions.id($0) == id } }

    static func id(_ geohash: String) -> String { "geo-\(geohash)" }

    static func subscription(_ geohash: String, at wall: WallTime) -> GatewaySubscription {
        GatewaySubscription(
            id: id(geohash),
            filter: NostrFilter(
                kinds: [EventKind.channelMessage, EventKind.presence], tags: ["g": [geohash]],
                since: wall.unixSeconds - GatewayLimits.channelLookBack, limit: GatewayLimits.subscriptionLimit),
            geohash: geohash, fallsBackToDefaultRelays: false)
    }
}
