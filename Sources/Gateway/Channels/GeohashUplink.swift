import Basics
import Nostr
import Wire

/// Deposits of mesh-only peers for location channels (chapter 06 §3.2, §3.3).
struct GeohashUplink {
    private var desk = DepositDesk()

    var queued: Int { desk.queued }

    mutating func deposit(
        _ carrier: NostrCarrier, from depositor: PeerID, ids: inout CarriedIDs, relayConnected: Bool, at now: Now
    ) throws(CarriageOutcome) -> AcceptedDeposit {
        let event = try ChannelEvent.parse(carrier, at: now.wall)
        return try desk.admit(
            event, geohash: carrier.geohash, from: depositor, ids: &ids, relayConnected: relayConnected, at: now
        ) { event throws(CarriageOutcome) in
            guard let verified = VerifiedEvent(verifying: event) else { throw .forged }
            return verified
        }
    }

    mutating func flush(ids: inout CarriedIDs, at now: Now) -> FlushedDeposits { desk.flush(ids: &ids, at: now) }
    mutating func clear() -> Int { desk.clear() }
}
