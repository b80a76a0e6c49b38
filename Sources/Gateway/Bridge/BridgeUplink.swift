import Basics
import Nostr
import Wire

/// Deposits of authors who want their message bridged (chapter 06 §4.9): finished events of kind 20000 or 20001 for any
/// cell of the world. A plain radio message is never an input here: nothing crosses that its author did not sign for
/// the bridge (chapter 06 §4.1).
struct BridgeUplink {
    private var desk = DepositDesk()

    var queued: Int { desk.queued }

    mutating func deposit(
        _ carrier: NostrCarrier, from depositor: PeerID, ids: inout CarriedIDs,
        verification: inout VerificationBudget, relayConnected: Bool, at now: Now
    ) throws(CarriageOutcome) -> AcceptedDeposit {
        let (event, _) = try RendezvousEvent.parse(carrier, at: now.wall)
        return try desk.admit(
            event, geohash: carrier.geohash, from: depositor, ids: &ids, relayConnected: relayConnected, at: now
        ) { event throws(CarriageOutcome) in
            try verification.verify(event, at: now.monotonic)
        }
    }

    mutating func flush(ids: inout CarriedIDs, at now: Now) -> FlushedDeposits { desk.flush(ids: &ids, at: now) }
    mutating func clear() -> Int { desk.clear() }
}
