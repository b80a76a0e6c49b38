import Basics
import Nostr
import Wire

/// Messages of other islands on their way to the mesh (chapter 06 §4.10). Presence never gets here.
struct BridgeDownlink {
    private var drain = DownlinkDrain(carriers: GatewayLimits.bridgeCarriers)

    var pending: Int { drain.queue.count }
    var budget: AirtimeBudget { drain.budget }
    var nextDeadline: Instant? { drain.nextDeadline }

    /// - Returns: true when an older carrier was given up for it.
    mutating func hold(
        _ event: VerifiedEvent, _ message: RendezvousMessage, cell: String, ids: CarriedIDs, at now: Now,
        using random: inout some RandomNumberGenerator
    ) throws(CarriageOutcome) -> Bool {
        guard !ids.meshSeen.contains(event.id), !ids.rebroadcast.contains(event.id), !drain.contains(event.id) else {
            throw .repeated
        }
        let carrier = try CarriedEvent.carrier(.fromBridge, geohash: cell, event: event)
        let downlink = PendingDownlink(
            id: event.id, channel: cell, author: event.event.pubkey, createdAt: event.event.createdAt,
            carrier: carrier, hint: message.radioHint)
        return drain.hold(downlink, at: now.monotonic, using: &random)
    }

    /// Another gateway's broadcast of `id` was heard.
    mutating func standDown(_ id: EventID) -> Bool { drain.standDown(id) }
    /// The radio message itself arrived.
    mutating func standDown(hint: String) -> Int { drain.standDown(hint: hint) }

    mutating func send(
        at now: Now, ids: inout CarriedIDs, radio: RadioMemory, outcomes: inout GatewayCounters.Outcomes
    ) -> [NostrCarrier] {
        let published = ids.published
        return drain.drain(at: now, ids: &ids, outcomes: &outcomes) { downlink in
            if published.contains(downlink.id) { return .repeated }
            return downlink.hint.map { radio.contains($0) } ?? false ? .radioCopy : nil
        }
    }

    mutating func clear() -> Int { drain.clear() }
}
