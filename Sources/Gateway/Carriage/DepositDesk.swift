import Basics
import Nostr
import Wire

/// A deposit that passed every check.
struct AcceptedDeposit {
    let event: VerifiedEvent
    let geohash: String
    /// False when it waits for a relay.
    let isPublished: Bool
    /// True when an older deposit was given up for it.
    let displacedAnother: Bool
}

/// The queue of deposits, taken as a whole when a relay connects.
struct FlushedDeposits {
    /// In the order of their arrival.
    var publish: [(event: VerifiedEvent, geohash: String)] = []
    /// Not published: relays refuse ephemeral events past 60 s.
    var expired = 0
    /// Not published: heard on the mesh while they waited.
    var repeated = 0
}

/// The part that geohash and bridge deposits have in common, after the cheap structure checks: dedup, then token, then
/// signature, then relay or queue (chapter 06 §3.2, §4.9). Another order opens a CPU or a quota hole.
struct DepositDesk {
    private struct Queued {
        let depositor: PeerID
        let geohash: String
        let event: VerifiedEvent
    }

    private var tokens = DepositTokens()
    private var queue: [Queued] = []

    var queued: Int { queue.count }

    func isQueued(_ id: EventID) -> Bool { queue.contains { $0.event.id == id } }

    /// - Parameter verify: the signature check, which may have a budget of its own.
    mutating func admit(
        _ event: NostrEvent, geohash: String, from depositor: PeerID, ids: inout CarriedIDs, relayConnected: Bool,
        at now: Now, verify: (NostrEvent) throws(CarriageOutcome) -> VerifiedEvent
    ) throws(CarriageOutcome) -> AcceptedDeposit {
        if let id = EventID(hex: event.id),
            ids.meshSeen.contains(id) || ids.published.contains(id) || isQueued(id)
        {
            throw .repeated
        }
        guard tokens.take(for: depositor, at: now.monotonic) else { throw .depositorLimit }
        let verified = try verify(event)
        guard !relayConnected else {
            ids.published.insert(verified.id)
            return AcceptedDeposit(event: verified, geohash: geohash, isPublished: true, displacedAnother: false)
        }
        let share = queue.reduce(0) { $1.depositor == depositor ? $0 + 1 : $0 }
        guard share < GatewayLimits.queuedDepositsEach else { throw .depositorQueueFull }
        let displaces = queue.count >= GatewayLimits.queuedDeposits
        if displaces { queue.removeFirst() }
        queue.append(Queued(depositor: depositor, geohash: geohash, event: verified))
        return AcceptedDeposit(event: verified, geohash: geohash, isPublished: false, displacedAnother: displaces)
    }

    /// Takes the whole queue now that a relay is connected.
    mutating func flush(ids: inout CarriedIDs, at now: Now) -> FlushedDeposits {
        var flushed = FlushedDeposits()
        for deposit in queue {
            guard !ids.published.contains(deposit.event.id), !ids.meshSeen.contains(deposit.event.id) else {
                flushed.repeated += 1
                continue
            }
            guard Freshness.age(deposit.event.event.createdAt, at: now.wall) <= NostrLimits.ephemeralAge else {
                flushed.expired += 1
                continue
            }
            ids.published.insert(deposit.event.id)
            flushed.publish.append((deposit.event, deposit.geohash))
        }
        queue.removeAll()
        return flushed
    }

    /// Switched off: clears queue and tokens.
    /// - Returns: how many deposits were waiting.
    mutating func clear() -> Int {
        let waiting = queue.count
        queue.removeAll()
        tokens.removeAll()
        return waiting
    }
}
