import Nostr
import Wire

/// Effects requested by the gateway, in order.
public enum GatewayEffect: Sendable {
    /// Hand to the geo relays of `geohash`, unconfirmed. With no relay for that place the event is lost (chapter 06
    /// §3.2).
    case publish(VerifiedEvent, geohash: String)
    /// Put on the air as a broadcast of origin TTL, with no recipient field.
    case broadcast(NostrCarrier)
    /// Send to one peer, signed.
    case deposit(NostrCarrier, to: PeerID)
    case subscribe(GatewaySubscription)
    case unsubscribe(id: String)
    /// Announce these bits and this cell from now on, at once and in one announce (chapter 06 §1.2).
    case advertise(GatewayAdvertisement)
    case show(GatewayMessage)
    /// The radio copy of a bridged message arrived: it replaces the shown one with this ID (chapter 06 §4.8).
    case retract(id: EventID)
}

/// A subscription at the geo relays of one place.
public struct GatewaySubscription: Hashable, Sendable {
    public let id: String
    public let filter: NostrFilter
    /// The place whose geo relays are asked.
    public let geohash: String
    /// Ask the default relays when the directory knows none for the place (chapter 06 §4.5).
    public let fallsBackToDefaultRelays: Bool

    /// The same made so much later: it looks back as far.
    public func moved(bySeconds seconds: Int64) -> GatewaySubscription {
        var filter = filter
        filter.since = filter.since.map { $0 + seconds }
        return GatewaySubscription(
            id: id, filter: filter, geohash: geohash, fallsBackToDefaultRelays: fallsBackToDefaultRelays)
    }
}

/// The part of the announce that the gateway decides: bits 2 and 7 of the capabilities, and the rendezvous cell.
public struct GatewayAdvertisement: Hashable, Sendable {
    public let capabilities: Capabilities
    /// Only together with the bridge bit.
    public let cell: String?

    public static let none = GatewayAdvertisement(capabilities: [], cell: nil)
}
