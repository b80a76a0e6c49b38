import Basics
import Crypto
import Nostr
import Wire

/// The mesh bridge: islands in the same rendezvous cell and its neighbours hear each other's bridged messages
/// (chapter 06 §4). Receiving `fromBridge` carriers and remembering radio messages is passive and never switched off.
struct BridgeGateway {
    let cells: RendezvousCells?
    private let isJob: Bool
    private let publishesPresence: Bool
    /// Our identity towards the own cell. Never derived for a cell that outside input names (chapter 06 §20.8).
    private let ownKey: NostrPublicKey?
    private var ids = CarriedIDs()
    private var uplink = BridgeUplink()
    private var downlink = BridgeDownlink()
    private var reception = RendezvousReception()
    private var isCarrying = false
    private var openSubscriptions: [String] = []
    private var nextMaintenance: Instant?
    private var lastPresence: Instant?
    private(set) var deposits = GatewayCounters.Outcomes()
    private(set) var broadcasts = GatewayCounters.Outcomes()
    private(set) var downlinks = GatewayCounters.Outcomes()

    init(_ configuration: GatewayConfiguration, seed: DeviceSeed?) {
        cells = configuration.cell.map { RendezvousCells(own: $0, extra: configuration.extraCells) }
        isJob = configuration.jobs.contains(.bridge)
        publishesPresence = configuration.publishesPresence
        ownKey = configuration.cell.flatMap { seed?.bridge(cell: $0.geohash).publicKey }
    }

    var queuedDeposits: Int { uplink.queued }
    var pendingDownlinks: Int { downlink.pending }
    var budget: AirtimeBudget { downlink.budget }
    var participants: Participants { reception.participants }
    var radio: RadioMemory { reception.radio }
    var nextDeadline: Instant? { [downlink.nextDeadline, nextMaintenance].compactMap { $0 }.min() }

    // MARK: Switch

    mutating func start(_ surroundings: inout GatewaySurroundings, at now: Now) {
        guard isJob, let cells else { return }
        isCarrying = true
        for subscription in cells.subscriptions(at: now.wall) {
            openSubscriptions.append(subscription.id)
            surroundings.effects.append(.subscribe(subscription))
        }
        nextMaintenance = now.monotonic + GatewayLimits.maintenanceInterval
    }

    /// Clears queues, tokens, windows and participants; keeps the ID sets, the rows and the memory of the radio
    /// (chapter 06 §4.12).
    mutating func stop(effects: inout Queue<GatewayEffect>) {
        isCarrying = false
        deposits.count(.cleared, UInt64(uplink.clear()))
        downlinks.count(.cleared, UInt64(downlink.clear()))
        reception.clear()
        for id in openSubscriptions { effects.append(.unsubscribe(id: id)) }
        openSubscriptions.removeAll()
        nextMaintenance = nil
    }

    /// The cell of the announce while the bridge works.
    var advertisedCell: String? { isCarrying ? cells?.own.geohash : nil }

    // MARK: Up

    mutating func deposit(
        _ carrier: NostrCarrier, from depositor: PeerID, _ surroundings: inout GatewaySurroundings, at now: Now
    ) {
        guard isCarrying else { return deposits.count(.switchedOff) }
        do throws(CarriageOutcome) {
            let accepted = try uplink.deposit(
                carrier, from: depositor, ids: &ids, verification: &reception.verification,
                relayConnected: surroundings.relayConnected, at: now)
            surroundings.carryOut(accepted, counting: &deposits)
        } catch {
            deposits.count(error)
        }
    }

    /// A relay connected after none was.
    mutating func flush(_ surroundings: inout GatewaySurroundings, at now: Now) {
        let flushed = uplink.flush(ids: &ids, at: now)
        surroundings.carryOut(flushed, counting: &deposits)
    }

    /// An event this node composed: the island has its radio message already, and the screen shows it.
    mutating func composed(_ event: VerifiedEvent, _ surroundings: inout GatewaySurroundings) {
        ids.published.insert(event.id)
        surroundings.display.markShown(event.id)
    }

    func hasPublished(_ id: EventID) -> Bool { ids.published.contains(id) }
    mutating func remember(published: [EventID]) { for id in published { ids.published.insert(id) } }

    // MARK: Down

    /// An event of a rendezvous subscription (chapter 06 §4.8).
    mutating func relayEvent(_ event: VerifiedEvent, _ surroundings: inout GatewaySurroundings, at now: Now) {
        guard isCarrying, let cells else { return downlinks.count(.switchedOff) }
        do throws(CarriageOutcome) {
            guard let cell = RendezvousEvent.firstCell(of: event.event), cells.contains(cell) else {
                throw .outsideRing
            }
            guard !ids.published.contains(event.id) else { throw .repeated }
            guard !isOwn(event.event, cell: cell) else {
                ids.published.insert(event.id)
                throw .ownEvent
            }
            // The relay layer verified the event already; the token still bounds what one relay can make us do.
            try reception.verification.take(at: now.monotonic)
            try reception.admit(event, at: now.monotonic)
            switch try RendezvousEvent.classify(event.event, cell: cell, at: now.wall).body {
            case .presence:
                reception.presence(of: event.author, at: now.monotonic)
                downlinks.count(.counted)
            case .message(let message):
                try relayMessage(event, message, cell: cell, &surroundings, at: now)
            }
        } catch {
            downlinks.count(error)
        }
    }

    private mutating func relayMessage(
        _ event: VerifiedEvent, _ message: RendezvousMessage, cell: String,
        _ surroundings: inout GatewaySurroundings, at now: Now
    ) throws(CarriageOutcome) {
        guard !reception.isRadioCopy(message) else { throw .radioCopy }
        show(event, message, cell: cell, &surroundings, at: now)
        let displaced = try downlink.hold(
            event, message, cell: cell, ids: ids, at: now, using: &surroundings.random)
        downlinks.count(.held)
        if displaced { downlinks.count(.displaced) }
    }

    /// A `fromBridge` broadcast of another node (chapter 06 §4.11), of whatever cell.
    mutating func broadcast(_ carrier: NostrCarrier, _ surroundings: inout GatewaySurroundings, at now: Now) {
        do throws(CarriageOutcome) {
            let (event, rendezvous) = try RendezvousEvent.parse(carrier, at: now.wall)
            if let id = EventID(hex: event.id), ids.published.contains(id) { throw .repeated }
            guard !isOwn(event, cell: rendezvous.cell) else { throw .ownEvent }
            let verified = try reception.verification.verify(event, at: now.monotonic)
            // Always, so that our own pending copy stands down.
            ids.meshSeen.insert(verified.id)
            if downlink.standDown(verified.id) { downlinks.count(.heardMeanwhile) }
            try reception.admit(verified, at: now.monotonic)
            broadcasts.count(.heard)
            guard case .message(let message) = rendezvous.body else { return }
            guard !reception.isRadioCopy(message) else { throw .radioCopy }
            show(verified, message, cell: rendezvous.cell, &surroundings, at: now)
        } catch {
            broadcasts.count(error)
        }
    }

    /// A signature-verified public radio message was heard. It replaces every shown copy and cancels every pending one.
    mutating func radioSeen(_ stableID: String, effects: inout Queue<GatewayEffect>, at now: Now) {
        for id in reception.radioSeen(stableID, at: now.monotonic) { effects.append(.retract(id: id)) }
        downlinks.count(.radioCopy, UInt64(downlink.standDown(hint: stableID)))
    }

    mutating func refuseDeposit(_ reason: CarriageOutcome) { deposits.count(reason) }
    mutating func refuseDownlink(_ reason: CarriageOutcome) { downlinks.count(reason) }
    mutating func refuseBroadcast(_ reason: CarriageOutcome) { broadcasts.count(reason) }

    // MARK: Time

    /// - Parameter presence: composes a presence event for the own cell.
    mutating func timeout(
        _ surroundings: inout GatewaySurroundings, at now: Now,
        presence: (String, inout any RandomNumberGenerator) -> VerifiedEvent?
    ) {
        guard isCarrying else { return }
        let carriers = downlink.send(at: now, ids: &ids, radio: reception.radio, outcomes: &downlinks)
        for carrier in carriers { surroundings.effects.append(.broadcast(carrier)) }
        guard let due = nextMaintenance, due <= now.monotonic else { return }
        reception.prune(at: now.monotonic)
        publishPresence(&surroundings, at: now, presence: presence)
        nextMaintenance = now.monotonic + GatewayLimits.maintenanceInterval
    }

    /// Tells other islands that somebody is here: with a relay connected, at most every 30 s (chapter 06 §4.7).
    mutating func publishPresence(
        _ surroundings: inout GatewaySurroundings, at now: Now,
        presence: (String, inout any RandomNumberGenerator) -> VerifiedEvent?
    ) {
        guard isCarrying, publishesPresence, surroundings.relayConnected, let cell = cells?.own.geohash else { return }
        if let lastPresence, now.monotonic - lastPresence < GatewayLimits.presenceSpacing { return }
        guard let event = presence(cell, &surroundings.random) else { return }
        lastPresence = now.monotonic
        ids.published.insert(event.id)
        surroundings.effects.append(.publish(event, geohash: cell))
    }

    // MARK: Parts

    private func isOwn(_ event: NostrEvent, cell: String) -> Bool {
        guard let ownKey, cell == cells?.own.geohash else { return false }
        return NostrPublicKey(canonicalHex: event.pubkey) == ownKey
    }

    private mutating func show(
        _ event: VerifiedEvent, _ message: RendezvousMessage, cell: String,
        _ surroundings: inout GatewaySurroundings, at now: Now
    ) {
        let shown = reception.show(event, message, cell: cell, on: &surroundings.display, at: now)
        if let shown { surroundings.effects.append(.show(shown)) }
    }
}
