import Basics
import Nostr
import Wire

/// Relay events of followed channels on their way to the mesh, and echoes of deposits (chapter 06 §3.4, §3.9).
struct GeohashDownlink {
    private var drain = DownlinkDrain(carriers: GatewayLimits.channelCarriers)

    var pending: Int { drain.queue.count }
    var budget: AirtimeBudget { drain.budget }
    var nextDeadline: Instant? { drain.nextDeadline }

    /// Holds a relay's event, or throws why not. A refused or displaced event stays eligible on redelivery.
    /// - Returns: true when an older one was given up for it.
    mutating func relayEvent(
        _ event: VerifiedEvent, geohash: String, ids: CarriedIDs, at now: Now,
        using random: inout some RandomNumberGenerator
    ) throws(CarriageOutcome) -> Bool {
        try ChannelEvent.check(event.event, geohash: geohash, at: now.wall)
        let id = event.id
        guard !ids.meshSeen.contains(id), !ids.published.contains(id), !ids.rebroadcast.contains(id),
            !drain.contains(id)
        else { throw .repeated }
        return try hold(event, geohash: geohash, isEcho: false, at: now, using: &random)
    }

    /// A deposit is directed: other phones on the island that watch the channel have not heard it. One broadcast tells
    /// them, unless another gateway's comes first (chapter 06 §3.9).
    /// - Returns: true when an older carrier was given up for it.
    mutating func echo(
        _ event: VerifiedEvent, geohash: String, at now: Now, using random: inout some RandomNumberGenerator
    ) throws(CarriageOutcome) -> Bool {
        _ = drain.standDown(event.id)
        return try hold(event, geohash: geohash, isEcho: true, at: now, using: &random)
    }

    /// Another gateway's broadcast of `id` was heard.
    mutating func standDown(_ id: EventID) -> Bool { drain.standDown(id) }

    mutating func send(
        at now: Now, ids: inout CarriedIDs, outcomes: inout GatewayCounters.Outcomes
    ) -> [NostrCarrier] {
        let published = ids.published
        return drain.drain(at: now, ids: &ids, outcomes: &outcomes) { downlink in
            !downlink.isEcho && published.contains(downlink.id) ? .repeated : nil
        }
    }

    mutating func clear() -> Int { drain.clear() }

    private mutating func hold(
        _ event: VerifiedEvent, geohash: String, isEcho: Bool, at now: Now,
        using random: inout some RandomNumberGenerator
    ) throws(CarriageOutcome) -> Bool {
        let carrier = try CarriedEvent.carrier(.fromGateway, geohash: geohash, event: event)
        // A deposit may name any geohash, so all echoes share one turn.
        let downlink = PendingDownlink(
            id: event.id, channel: isEcho ? "" : geohash, author: event.event.pubkey,
            createdAt: event.event.createdAt, carrier: carrier, isEcho: isEcho)
        return drain.hold(downlink, at: now.monotonic, using: &random)
    }
}
