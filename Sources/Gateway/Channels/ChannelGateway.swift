import Basics
import Nostr
import Wire

/// Geohash channels between mesh and relays: what is followed, deposits up, events down, and the loop rules that tie
/// the two together (chapter 06 §3).
struct ChannelGateway {
    let jobs: GatewayConfiguration.Jobs
    let echoes: Bool
    let followsDemand: Bool
    private var ids = CarriedIDs()
    private var uplink = GeohashUplink()
    private var downlink = GeohashDownlink()
    private var follower: ChannelFollower
    private var subscriptions = ChannelSubscriptions()
    /// The channel on the operator's screen.
    private var viewed: String?
    private var isCarrying = false
    private(set) var participants = ChannelParticipants()
    private(set) var deposits = GatewayCounters.Outcomes()
    private(set) var broadcasts = GatewayCounters.Outcomes()
    private(set) var downlinks = GatewayCounters.Outcomes()

    init(_ configuration: GatewayConfiguration) {
        jobs = configuration.jobs
        echoes = configuration.echoesUplinks
        followsDemand = configuration.followsDemand
        follower = ChannelFollower(configured: configuration.channels)
    }

    var queuedDeposits: Int { uplink.queued }
    var pendingDownlinks: Int { downlink.pending }
    var budget: AirtimeBudget { downlink.budget }
    var followed: [String] { jobs.contains(.downlink) ? follower.followed : [] }

    var nextDeadline: Instant? {
        guard isCarrying else { return nil }
        return [downlink.nextDeadline, follower.nextDeadline].compactMap { $0 }.min()
    }

    // MARK: Switch

    mutating func start(at now: Now, effects: inout Queue<GatewayEffect>) {
        isCarrying = true
        updateSubscriptions(at: now, effects: &effects)
    }

    /// Clears queues and tokens, keeps the ID sets (chapter 06 §3.3).
    mutating func stop(at now: Now, effects: inout Queue<GatewayEffect>) {
        isCarrying = false
        deposits.count(.cleared, UInt64(uplink.clear()))
        downlinks.count(.cleared, UInt64(downlink.clear()))
        follower.removeDemanded()
        updateSubscriptions(at: now, effects: &effects)
    }

    mutating func view(_ geohash: String?, at now: Now, effects: inout Queue<GatewayEffect>) {
        viewed = geohash
        updateSubscriptions(at: now, effects: &effects)
    }

    // MARK: Up

    mutating func deposit(
        _ carrier: NostrCarrier, from depositor: PeerID, _ surroundings: inout GatewaySurroundings, at now: Now
    ) {
        do throws(CarriageOutcome) {
            let accepted = try uplink.deposit(
                carrier, from: depositor, ids: &ids, relayConnected: surroundings.relayConnected, at: now)
            surroundings.carryOut(accepted, counting: &deposits)
            show(accepted.event, in: accepted.geohash, &surroundings, at: now)
            guard jobs.contains(.downlink) else { return }
            follow(accepted.geohash, for: depositor, &surroundings, at: now)
            note(accepted.event, in: accepted.geohash, at: now)
            if echoes { echo(accepted.event, in: accepted.geohash, &surroundings, at: now) }
        } catch {
            deposits.count(error)
        }
    }

    /// A relay connected after none was.
    mutating func flush(_ surroundings: inout GatewaySurroundings, at now: Now) {
        let flushed = uplink.flush(ids: &ids, at: now)
        surroundings.carryOut(flushed, counting: &deposits)
    }

    /// An event this node composed: never downlinked when relays return it, but told to the island once if we carry.
    mutating func composed(
        _ event: VerifiedEvent, in geohash: String, _ surroundings: inout GatewaySurroundings, at now: Now
    ) {
        ids.published.insert(event.id)
        surroundings.display.markShown(event.id)
        if isCarrying, jobs.contains(.downlink) { echo(event, in: geohash, &surroundings, at: now) }
    }

    func hasPublished(_ id: EventID) -> Bool { ids.published.contains(id) }
    mutating func remember(published: [EventID]) { for id in published { ids.published.insert(id) } }

    // MARK: Down

    mutating func relayEvent(
        _ event: VerifiedEvent, subscription: String, _ surroundings: inout GatewaySurroundings, at now: Now
    ) {
        guard let geohash = subscriptions.geohash(ofSubscription: subscription) else {
            return downlinks.count(.unknownSubscription)
        }
        relayEvent(event, in: geohash, &surroundings, at: now)
    }

    mutating func relayEvent(
        _ event: VerifiedEvent, in geohash: String, _ surroundings: inout GatewaySurroundings, at now: Now
    ) {
        if event.event.hasTag("g", geohash) { note(event, in: geohash, at: now) }
        if event.event.kind == EventKind.channelMessage, event.event.hasTag("g", geohash) {
            show(event, in: geohash, &surroundings, at: now)
        }
        guard isCarrying, jobs.contains(.downlink) else { return downlinks.count(.switchedOff) }
        do throws(CarriageOutcome) {
            let displaced = try downlink.relayEvent(
                event, geohash: geohash, ids: ids, at: now, using: &surroundings.random)
            downlinks.count(.held)
            if displaced { downlinks.count(.displaced) }
        } catch {
            downlinks.count(error)
        }
    }

    /// A `fromGateway` broadcast of another node: verified, remembered, shown if its channel is on screen. Marking
    /// comes after verification, and whether or not anybody looks (chapter 06 §3.6).
    mutating func broadcast(_ carrier: NostrCarrier, _ surroundings: inout GatewaySurroundings, at now: Now) {
        do throws(CarriageOutcome) {
            let event = try ChannelEvent.parse(carrier, at: now.wall)
            if let id = EventID(hex: event.id), ids.meshSeen.contains(id) { throw .repeated }
            guard let verified = VerifiedEvent(verifying: event) else { throw .forged }
            ids.meshSeen.insert(verified.id)
            broadcasts.count(.heard)
            if downlink.standDown(verified.id) { downlinks.count(.heardMeanwhile) }
            note(verified, in: carrier.geohash, at: now)
            show(verified, in: carrier.geohash, &surroundings, at: now)
        } catch {
            broadcasts.count(error)
        }
    }

    mutating func refuseDeposit(_ reason: CarriageOutcome) { deposits.count(reason) }
    mutating func refuseDownlink(_ reason: CarriageOutcome) { downlinks.count(reason) }
    mutating func refuseBroadcast(_ reason: CarriageOutcome) { broadcasts.count(reason) }

    mutating func timeout(_ surroundings: inout GatewaySurroundings, at now: Now) {
        guard isCarrying else { return }
        for carrier in downlink.send(at: now, ids: &ids, outcomes: &downlinks) {
            surroundings.effects.append(.broadcast(carrier))
        }
        if !follower.takeExpired(at: now.monotonic).isEmpty {
            updateSubscriptions(at: now, effects: &surroundings.effects)
        }
    }

    func statuses(at now: Instant) -> [ChannelStatus] {
        subscriptions.geohashes.map {
            ChannelStatus(
                geohash: $0, isConfigured: follower.configured.contains($0),
                participants: participants.count(in: $0, at: now), subscription: ChannelSubscriptions.id($0))
        }
    }

    // MARK: Parts

    /// Its author is there; only channels that are listened to are counted.
    private mutating func note(_ event: VerifiedEvent, in geohash: String, at now: Now) {
        if subscriptions.isOpen(geohash) { participants.record(event, in: geohash, at: now) }
    }

    private mutating func echo(
        _ event: VerifiedEvent, in geohash: String, _ surroundings: inout GatewaySurroundings, at now: Now
    ) {
        do throws(CarriageOutcome) {
            if try downlink.echo(event, geohash: geohash, at: now, using: &surroundings.random) {
                downlinks.count(.displaced)
            }
        } catch {
            downlinks.count(error)
        }
    }

    private mutating func follow(
        _ geohash: String, for depositor: PeerID, _ surroundings: inout GatewaySurroundings, at now: Now
    ) {
        guard followsDemand, follower.demand(geohash, by: depositor, at: now.monotonic) else { return }
        updateSubscriptions(at: now, effects: &surroundings.effects)
    }

    private func show(
        _ event: VerifiedEvent, in geohash: String, _ surroundings: inout GatewaySurroundings, at now: Now
    ) {
        guard geohash == viewed,
            let message = surroundings.display.channelMessage(event, geohash: geohash, at: now)
        else { return }
        surroundings.effects.append(.show(message))
    }

    private mutating func updateSubscriptions(at now: Now, effects: inout Queue<GatewayEffect>) {
        var wanted = isCarrying ? followed : []
        if let viewed, !wanted.contains(viewed) { wanted.append(viewed) }
        subscriptions.set(wanted, at: now.wall, effects: &effects)
        participants.keep(wanted)
    }
}
