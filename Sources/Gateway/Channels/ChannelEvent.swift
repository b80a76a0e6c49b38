import Basics
import Nostr
import Wire

/// What a geohash-channel event must look like before any cryptography is spent on it (chapter 06 §3.2 step 2).
enum ChannelEvent {
    /// The event of a `toGateway` or `fromGateway` carrier.
    static func parse(_ carrier: NostrCarrier, at wall: WallTime) throws(CarriageOutcome) -> NostrEvent {
        let event = try CarriedEvent.parse(carrier)
        try check(event, geohash: carrier.geohash, at: wall)
        return event
    }

    /// Kind, freshness, channel. The `g` tag may have any position and company; the alphabet of the geohash is the
    /// carrier's matter.
    static func check(_ event: NostrEvent, geohash: String, at wall: WallTime) throws(CarriageOutcome) {
        guard event.kind == EventKind.channelMessage else { throw .wrongKind }
        guard event.hasTag("g", geohash) else { throw .wrongTag }
        guard Freshness.isFresh(event.createdAt, at: wall) else { throw .stale }
    }
}
