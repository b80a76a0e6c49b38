import Nostr
import Wire

/// The event inside a carrier, nothing about it proven.
enum CarriedEvent {
    static func parse(_ carrier: NostrCarrier) throws(CarriageOutcome) -> NostrEvent {
        guard carrier.event.count <= NostrCarrier.eventSizes.upperBound else { throw .oversize }
        guard Geohash.isCanonical(carrier.geohash) else { throw .invalidGeohash }
        guard let event = try? NostrEvent(json: carrier.event) else { throw .unparsable }
        return event
    }

    /// The carrier for a broadcast, or `oversize`: a message near 16 000 bytes may not fit with its tags.
    static func carrier(
        _ direction: NostrCarrier.Direction, geohash: String, event: VerifiedEvent
    ) throws(CarriageOutcome) -> NostrCarrier {
        let json = event.json()
        guard json.count <= NostrCarrier.eventSizes.upperBound else { throw .oversize }
        return NostrCarrier(direction: direction, geohash: geohash, event: json)
    }
}
