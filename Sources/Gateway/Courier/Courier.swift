import Basics
import Crypto
import Nostr
import Wire

/// Carries sealed mail for people who are not there (chapter 06 §5, §6): takes it from neighbours, hands it over to
/// whom it is for, shares copies with other couriers, leaves copies at relays, and fetches there what is for
/// neighbours.
///
/// It knows neither sockets nor clocks, and reads nothing: what is inside only its addressee can open. Inputs come in
/// with the time, effects are taken with `nextEffect()`, and `timeout(at:)` is due at `nextDeadline`.
public final class Courier {
    public private(set) var configuration: CourierConfiguration
    var store: CourierStore
    var memory = DropMemory()
    var watch: WatchSet
    var undelivered = UndeliveredDrops()
    var schedule: DropSchedule
    var pages = DropPages()
    var tags = TagMemory()
    public internal(set) var outcomes = Tally<CourierOutcome>()
    var random: any RandomNumberGenerator

    private var effects = Queue<CourierEffect>()
    private var speculative = TokenBucket(
        capacity: CourierLimits.speculativeBurst, perSecond: CourierLimits.speculativePerSecond)
    private var dropAirtime = DropAirtime()
    /// Peers that are being given mail over a link they have proven.
    private var visits: [PeerID: Visit] = [:]
    /// When what has expired is looked for, whatever else there is to do.
    private var cleanAt: Instant?
    /// What an earlier run kept, until the clock can tell what of it has expired.
    private var waiting: (records: [CarriedEnvelope], dealt: [DealtDrop])?
    private var isOn = false
    private var isClockUsable = false
    private var isClockTrusted = false
    private var isRelayConnected = false
    /// The tag values of each subscription in force.
    var subscribed: [String: [String]] = [:]
    var lastRefresh: Instant?
    /// When an announce last caused one.
    var lastAnnounced: Instant?
    var refreshDue: Instant?
    var retryAt: Instant?

    private struct Visit {
        let key: NoisePublicKey
        let isCourier: Bool
        var due: Instant
    }

    public init(configuration: CourierConfiguration, random: any RandomNumberGenerator) {
        self.configuration = configuration
        store = CourierStore(quota: configuration.quota)
        watch = WatchSet(own: configuration.own, capacity: configuration.policy.watchedPeers)
        schedule = DropSchedule(pauses: configuration.policy.publicationPauses)
        self.random = random
    }

    // MARK: Switches

    /// Takes over what the operator has changed. What is carried keeps the tier under which it was taken.
    public func configure(trusted: Set<Fingerprint>, usesRelays: Bool, at now: Now) {
        configuration.trusted = trusted
        configuration.usesRelays = usesRelays
        update(at: now)
    }

    public var quota: CourierQuota { store.quota }

    public func start(at now: Now) {
        isOn = true
        update(at: now)
    }

    /// Asks relays for nothing more and gives nothing away; what is carried stays.
    public func stop(at now: Now) {
        isOn = false
        update(at: now)
    }

    /// - Parameters:
    ///   - isUsable: tags and expiries can be told by it.
    ///   - isTrusted: set by hand or known better, so that something may be published (decision of chapter 03 A13.7).
    public func setClock(isUsable: Bool, isTrusted: Bool, at now: Now) {
        isClockUsable = isUsable
        isClockTrusted = isTrusted
        update(at: now)
    }

    /// Whether a relay of the default set is connected: others do not carry mail (chapter 06 §5.2).
    public func relayConnectivityChanged(_ isConnected: Bool, at now: Now) {
        isRelayConnected = isConnected
        update(at: now)
    }

    var isWorking: Bool { isOn && isClockUsable }
    var isUsingRelays: Bool { isWorking && isClockTrusted && isRelayConnected && configuration.usesRelays }

    private func update(at now: Now) {
        if isClockUsable, let kept = waiting {
            waiting = nil
            memory.restore(kept.dealt)
            record(store.restore(kept.records, at: now.wall, isTrusted: isClockTrusted))
        }
        cleanAt = isClockUsable ? cleanAt ?? now.monotonic + CourierLimits.cleaningInterval : nil
        if !isWorking { visits.removeAll() }
        if isUsingRelays {
            if subscribed.isEmpty { refresh(at: now) }
        } else {
            stopUsingRelays()
        }
    }

    public static func owns(subscription id: String) -> Bool { id.hasPrefix(subscriptionID) }

    // MARK: Mail that arrives

    /// An envelope addressed to this box.
    /// - Parameter depositor: the key of the neighbour who signed it and brought it, as proven by the mesh.
    public func arrived(_ envelope: CourierEnvelope, depositor: NoisePublicKey?, at now: Now) {
        guard isWorking else { return outcomes.count(.switchedOff) }
        guard !isOwn(envelope, at: now.wall) else {
            outcomes.count(.own)
            return emit(.open(envelope, drop: nil))
        }
        guard let depositor else { return outcomes.count(.depositUnproven) }
        guard !memory.contains(MailID(envelope), at: now.wall) else { return outcomes.count(.depositDelivered) }
        removeExpired(at: now.wall)
        do {
            let isKnown = store.holds(envelope, of: depositor)
            let changes = try store.deposit(
                envelope, from: depositor, tier: configuration.tier(of: depositor), at: now.wall,
                isTrusted: isClockTrusted)
            outcomes.count(isKnown ? .depositKnown : .deposited)
            outcomes.count(.evicted, UInt64(changes.count { if case .removed = $0 { true } else { false } }))
            record(changes)
            if configuration.policy.publishesAtOnce { publishDue(at: now) }
        } catch {
            outcomes.count(CourierOutcome(error))
        }
    }

    func clean(at now: Now) {
        undelivered.prune(at: now.wall)
        removeExpired(at: now.wall)
    }

    /// By a trusted clock only: what neighbours say about the time may hide mail, and not destroy it.
    func removeExpired(at wall: WallTime) {
        guard isClockTrusted else { return }
        let lapsed = store.prune(at: wall)
        outcomes.count(.lapsed, UInt64(lapsed.count))
        record(lapsed)
    }

    func isOwn(_ envelope: CourierEnvelope, at wall: WallTime) -> Bool {
        tags.tags(of: configuration.own, at: wall).contains(envelope.recipientTag)
    }

    // MARK: Encounters

    /// A verified announce of a peer (chapter 06 §6.3).
    /// - Parameter isCourier: whether it carries mail for others: copies given to whoever does not are lost (§16).
    public func met(
        _ peer: PeerID, _ key: NoisePublicKey, _ standing: AnnounceStanding, isCourier: Bool = true, at now: Now
    ) {
        guard isWorking, key != configuration.own else { return }
        if watch.heard(peer, key, isProven: standing == .proven, at: now.monotonic) { refreshSoon(at: now) }
        guard !store.isEmpty || !undelivered.isEmpty else { return }
        let own = tags.tags(of: key, at: now.wall)
        switch standing {
        case .proven: visit(peer, key, isCourier: isCourier, at: now)
        case .direct:
            sendSpeculatively(to: peer, own, at: now)
            let hasSomething =
                !store.addressed(to: own, at: now.wall).isEmpty || !undelivered.waiting(for: key).isEmpty
                || isCourier && !store.shares(for: own, at: now.wall).isEmpty
            if hasSomething { emit(.prove(peer)) }
        case .relayed: sendSpeculatively(to: peer, own, at: now)
        }
    }

    func visit(_ peer: PeerID, _ key: NoisePublicKey, isCourier: Bool, at now: Now) {
        guard visits[peer] == nil, visits.count < CourierLimits.visits else { return }
        visits[peer] = Visit(key: key, isCourier: isCourier, due: now.monotonic)
        serve(peer, at: now)
    }

    /// One batch: what is for the peer first, then copies to carry on. A single envelope always fits.
    private func serve(_ peer: PeerID, at now: Now) {
        guard let visit = visits[peer] else { return }
        let key = visit.key
        var room = CourierLimits.visitBytes
        var offered: Set<MailID> = []
        func offer(_ envelope: CourierEnvelope, _ id: MailID, _ ticket: MailTicket) {
            let size = envelope.ciphertext.count
            guard offered.isEmpty || size <= room, !offered.contains(id) else { return }
            if case .drop = ticket, !dropAirtime.take(size, for: key, at: now.monotonic) {
                return outcomes.count(.dropThrottled)
            }
            offered.insert(id)
            room -= size
            emit(.send(envelope, to: peer, .provenLink, ticket))
        }
        let own = tags.tags(of: key, at: now.wall)
        for mail in store.addressed(to: own, at: now.wall) {
            offer(mail.envelope, mail.id, .handover(mail.id, key))
        }
        for drop in undelivered.waiting(for: key) where !drop.envelope.isExpired(at: now.wall) {
            offer(drop.envelope, drop.id, .drop(drop.id, key))
        }
        for share in visit.isCourier ? store.shares(for: own, at: now.wall) : [] {
            offer(share.envelope, MailID(share.envelope), .share(share, key))
        }
        if offered.isEmpty {
            visits[peer] = nil
        } else {
            visits[peer]?.due = now.monotonic + CourierLimits.visitPause
        }
    }

    private func sendSpeculatively(to peer: PeerID, _ own: PeerTags, at now: Now) {
        for mail in store.speculative(to: own, at: now.wall) where takeAirtime(mail.envelope, at: now) {
            record(store.sentSpeculatively(mail.id, at: now.wall))
            emit(.send(mail.envelope.withCopies(1), to: peer, .flood, .speculative))
        }
        for drop in undelivered.speculative(for: own.key, at: now.wall)
        where !drop.envelope.isExpired(at: now.wall) && takeAirtime(drop.envelope, at: now) {
            undelivered.sentSpeculatively(drop.id, at: now.wall)
            emit(.send(drop.envelope.withCopies(1), to: peer, .flood, .speculative))
        }
    }

    private func takeAirtime(_ envelope: CourierEnvelope, at now: Now) -> Bool {
        guard speculative.take(Double(envelope.ciphertext.count), at: now.monotonic) else {
            outcomes.count(.speculativeThrottled)
            return false
        }
        outcomes.count(.speculative)
        return true
    }

    /// What became of an envelope that was to be sent.
    /// - Parameter isWritten: every part of it went to a link.
    public func sent(_ ticket: MailTicket, isWritten: Bool, at now: Now) {
        switch ticket {
        case .handover(let id, let key):
            guard isWritten else { return refused(.handoverRefused, by: key) }
            outcomes.count(.handedOver)
            delivered(id, at: now.wall)
        case .drop(let id, let key):
            guard isWritten else {
                if !configuration.policy.retriesDrops { _ = undelivered.delivered(id) }
                return refused(.dropUndelivered, by: key)
            }
            outcomes.count(.dropDelivered)
            delivered(id, at: now.wall)
        case .share(let share, let courier):
            guard isWritten else { return refused(.shareRefused, by: courier) }
            outcomes.count(.shared)
            record(store.gave(share, to: courier))
        case .speculative: break
        }
    }

    /// Whoever takes one no more takes none: the next announce begins anew.
    private func refused(_ outcome: CourierOutcome, by key: NoisePublicKey) {
        outcomes.count(outcome)
        visits[key.peerID] = nil
    }

    /// It is where it belongs: neither the store nor any drop of it need be given again.
    private func delivered(_ id: MailID, at wall: WallTime) {
        record(store.handedOver(id))
        remember(memory.insert(id, at: wall))
        for event in undelivered.delivered(id) { remember(memory.insert(event, at: wall)) }
    }

    /// Whether mail for this box need not be brought again.
    public func opened(drop: EventID?, isHandled: Bool, at now: Now) {
        guard isHandled else { return outcomes.count(.ownUnopened) }
        if let drop { remember(memory.insert(drop, at: now.wall)) }
    }

    // MARK: Time

    public var nextDeadline: Instant? {
        let visit = visits.values.map(\.due).min()
        let departure = isWorking ? watch.nextDeparture : nil
        return [visit, cleanAt, departure, isUsingRelays ? relayDeadline : nil].compactMap { $0 }.min()
    }

    public func timeout(at now: Now) {
        if let due = cleanAt, due <= now.monotonic {
            cleanAt = now.monotonic + CourierLimits.cleaningInterval
            clean(at: now)
        }
        if let due = watch.nextDeparture, due <= now.monotonic, watch.prune(at: now.monotonic) {
            refreshSoon(at: now)
        }
        for peer in visits.filter({ $1.due <= now.monotonic }).keys.sorted() { serve(peer, at: now) }
        if isUsingRelays { relayTimeout(at: now) }
    }

    public func nextEffect() -> CourierEffect? { effects.popFirst() }

    func emit(_ effect: CourierEffect) { effects.append(effect) }

    // MARK: Across restarts

    /// Takes back what an earlier run kept. Call it once, before the start: nothing is let go of by a clock that may be
    /// wrong.
    public func restore(_ records: [CarriedEnvelope], dealt: [DealtDrop], at now: Now) {
        waiting = (records, dealt)
        update(at: now)
    }

    func record(_ changes: [CourierStore.Change]) {
        for change in changes {
            switch change {
            case .put(let mail): emit(.keep(mail))
            case .removed(let id): emit(.forget(id))
            }
        }
    }

    func remember(_ drop: DealtDrop?) {
        if let drop { emit(.remember(drop)) }
    }

    // MARK: Status

    public func status(at now: Now) -> CourierStatus {
        let carried = store.envelopes
        func tier(_ tier: CourierTier, limit: Int) -> CourierStatus.Tier {
            let mail = carried.filter { $0.tier == tier }
            return CourierStatus.Tier(
                carried: mail.count, limit: limit,
                oldestHours: mail.map(\.storedAt).min().map { oldest in
                    now.wall > oldest ? Int(clamping: now.wall.distance(to: oldest) / 3_600_000) : 0
                })
        }
        let verified = carried.filter { $0.tier == .verified }
        return CourierStatus(
            favorite: tier(.favorite, limit: store.quota.total), verified: tier(.verified, limit: store.quota.verified),
            isVerifiedFull: verified.count >= store.quota.verified && verified.allSatisfy { $0.lastPublished == nil },
            published: carried.count { $0.lastPublished != nil }, publishing: schedule.underWay,
            watchedPeers: watch.count, undelivered: undelivered.count, subscriptions: subscribed.count,
            isOn: isWorking, isUsingRelays: isUsingRelays)
    }
}
