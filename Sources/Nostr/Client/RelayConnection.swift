import Basics

/// Everything known about one relay: its one socket at most, what failed before, and what it may still send or be sent
/// (chapter 05 §6.1–6.3). Decides nothing across relays.
final class RelayConnection {
    enum Phase {
        case idle
        case dialling(since: Instant)
        case open(since: Instant)
    }

    let url: NostrRelayURL
    private(set) var phase = Phase.idle
    private(set) var generation: UInt64 = 0
    private(set) var attempts = 0
    private(set) var lastFailure: RelayFailure?
    private(set) var disconnectedAt: Instant?
    /// The scheduled redial.
    private(set) var redialAt: Instant?
    /// Attempts before this connection, which count again if it turns out to be good for nothing.
    private var unprovenAttempts: Int?
    private var lastHeard = Instant.zero
    private var pingedAt: Instant?
    /// Last time somebody had a use for the connection.
    var usedAt = Instant.zero
    /// Wanted until then, whatever else asks for it; nil when nothing but that did.
    var heldUntil: Instant?

    /// One for every subscription meant for this relay.
    var requests: [SubscriptionNumber: RelayRequest] = [:]
    /// Ids that had another filter on this socket, and when that ended: until the next EOSE its events may still be on
    /// their way.
    private var endedIDs: [String: Instant] = [:]
    /// Events lately written on this socket and not answered yet: what an OK may be about.
    private var answerable: [EventID] = []
    /// When the next owed event can be written; nil when none is owed.
    var publishDueAt: Instant?
    var inbound = InboundQueue()
    /// When the oldest inbound frame can be processed; later than its arrival when verification is over budget.
    var inboundReadyAt = Instant.zero
    var verification = TokenBucket(
        capacity: NostrLimits.verificationBurst, perSecond: NostrLimits.verificationsPerSecond)
    var pace = RelayPace()
    var conduct = RelayConduct()
    var authentication = RelayAuthentication()
    private(set) var information: RelayInformation?
    /// When its information was last asked for.
    private var informationAskedAt: Instant?
    private(set) var record = RelayRecord()

    init(url: NostrRelayURL) { self.url = url }

    var socket: NostrSocketID { NostrSocketID(relay: url, generation: generation) }

    var isOpen: Bool {
        if case .open = phase { return true }
        return false
    }

    var isIdle: Bool {
        if case .idle = phase { return true }
        return false
    }

    /// Failed too often or in a way that will not pass, and not long ago.
    func isFailed(at now: Instant) -> Bool {
        guard attempts >= NostrLimits.attempts || lastFailure?.isPermanent ?? false, let disconnectedAt
        else { return false }
        return now - disconnectedAt < NostrLimits.failureDecay
    }

    func mayDial(at now: Instant) -> Bool {
        isIdle && !isFailed(at: now) && (redialAt.map { $0 <= now } ?? true)
    }

    func dialled(generation: UInt64, at now: Instant) {
        self.generation = generation
        phase = .dialling(since: now)
        redialAt = nil
    }

    func opened(at now: Instant) {
        phase = .open(since: now)
        unprovenAttempts = attempts
        attempts = 0
        lastFailure = nil
        lastHeard = now
        pingedAt = nil
        usedAt = now
        conduct = RelayConduct()
    }

    /// The socket is gone, for a reason or on purpose (`nil`, which counts as nothing).
    func disconnected(_ failure: RelayFailure?, at now: Instant, using random: inout some RandomNumberGenerator) {
        let openedAt: Instant? = if case .open(let since) = phase { since } else { nil }
        if let openedAt, let unproven = unprovenAttempts, now - openedAt < NostrLimits.provingTime {
            attempts = unproven
        }
        unprovenAttempts = nil
        phase = .idle
        redialAt = nil
        disconnectedAt = now
        inbound = InboundQueue()
        endedIDs.removeAll()
        authentication.connectionEnded()
        answerable.removeAll()
        publishDueAt = nil
        for number in requests.keys { requests[number]?.deactivate() }
        guard let failure else { return }
        lastFailure = failure
        record.failed(failure)
        if failure.isPermanent {
            attempts = NostrLimits.attempts
        } else if failure != .routeUnavailable {
            attempts = min(attempts + 1, 1_000)
            redialAt = RedialBackoff.delay(afterAttempts: attempts, using: &random).map { now + $0 }
        }
    }

    func redial(at instant: Instant?) { redialAt = instant }

    /// Forgets failures: the relay may be dialled at once.
    func forgive() {
        attempts = 0
        lastFailure = nil
        redialAt = nil
    }

    // MARK: Liveness

    func heard(at now: Instant) {
        lastHeard = now
        pingedAt = nil
    }

    enum Liveness {
        case fine
        case ping
        case dead(RelayFailure)
    }

    /// What the time passed means for this socket; `ping` is returned once per silence.
    func checkLiveness(at now: Instant) -> Liveness {
        switch phase {
        case .idle: return .fine
        case .dialling(let since): return now - since >= NostrLimits.dialTimeout ? .dead(.timedOut) : .fine
        case .open:
            // While we do not read, the silence is ours.
            if inbound.isReadingStopped { heard(at: now) }
            if let pingedAt { return now - pingedAt >= NostrLimits.pongTimeout ? .dead(.unresponsive) : .fine }
            guard now - lastHeard >= NostrLimits.keepAlive else { return .fine }
            pingedAt = now
            return .ping
        }
    }

    var livenessDeadline: Instant? {
        switch phase {
        case .idle: nil
        case .dialling(let since): since + NostrLimits.dialTimeout
        case .open: pingedAt.map { $0 + NostrLimits.pongTimeout } ?? lastHeard + NostrLimits.keepAlive
        }
    }

    // MARK: Subscriptions

    /// Subscriptions whose REQ can be written now, oldest first.
    func dueRequests(at now: Instant) -> [SubscriptionNumber] {
        Array(requests.filter { !$1.isActive && $1.dueAt <= now }.keys.sorted().prefix(freeRequests))
    }

    /// How many more subscriptions the relay takes, by what it says of itself.
    private var freeRequests: Int {
        guard let limit = information?.maximumSubscriptions else { return NostrLimits.subscriptions }
        return max(0, limit - requests.values.count(where: \.isActive))
    }

    var requestDeadline: Instant? {
        var next: Instant?
        guard freeRequests > 0 else { return nil }
        for request in requests.values where !request.isActive { next = min(next ?? request.dueAt, request.dueAt) }
        return next
    }

    /// A request is over although its relay may not know yet; true when a REQ was in force.
    func endRequest(_ number: SubscriptionNumber, id: String, at now: Instant) -> Bool {
        guard let request = requests.removeValue(forKey: number), request.isActive else { return false }
        ended(id, at: now)
        return true
    }

    /// The current REQ must be sent again with another filter.
    func renewRequest(_ number: SubscriptionNumber, id: String, at now: Instant) {
        guard requests[number]?.isActive ?? false else { return }
        ended(id, at: now)
        requests[number] = RelayRequest(dueAt: now)
    }

    /// The relay ended it.
    func refusedRequest(_ number: SubscriptionNumber, id: String, _ answer: RelayAnswer, at now: Instant) {
        requests[number]?.refused(answer, at: now)
        ended(id, at: now)
    }

    private func ended(_ id: String, at now: Instant) {
        if endedIDs.count >= NostrLimits.endedIDs { endedIDs.removeAll() }
        endedIDs[id] = now
    }

    func readmitRequests(refusedFor reason: RelayAnswer, at now: Instant) {
        for number in requests.keys where requests[number]?.lastRefusal == reason { requests[number]?.readmit(at: now) }
    }

    func reachedEnd(of number: SubscriptionNumber, id: String) {
        unprovenAttempts = nil
        requests[number]?.isLoading = false
        endedIDs[id] = nil
    }

    /// Whether an event under this subscription may be the late answer to an earlier filter.
    func mayBeLate(_ number: SubscriptionNumber, id: String, at now: Instant) -> Bool {
        guard endedIDs[id] != nil, let since = requests[number]?.activeSince else { return false }
        return now - since < NostrLimits.initialLoadTimeout
    }

    /// Whether an event under an id that is not in use may have been on its way when its use ended.
    func mayBeLate(_ id: String, at now: Instant) -> Bool {
        endedIDs[id].map { now - $0 < NostrLimits.endedGrace } ?? false
    }

    // MARK: Information

    /// Whether to ask the relay what it takes; counts as asked.
    func shouldAskForInformation(at now: Instant) -> Bool {
        let pause = information == nil ? NostrLimits.informationRetry : NostrLimits.informationAge
        if let informationAskedAt, now - informationAskedAt < pause { return false }
        informationAskedAt = now
        return true
    }

    func learned(_ information: RelayInformation) {
        self.information = information
        if information.requiresAuthentication { authentication.demand() }
    }

    // MARK: Conduct

    func delivered(at now: Now) {
        unprovenAttempts = nil
        record.lastEvent = now.wall
    }

    func wrote(_ event: EventID) {
        if answerable.count >= NostrLimits.answerableEvents { answerable.removeFirst() }
        answerable.append(event)
    }

    /// Whether this is the answer to what was written here.
    func takeAnswer(to event: EventID) -> Bool {
        guard let index = answerable.firstIndex(of: event) else { return false }
        answerable.remove(at: index)
        return true
    }

    /// Bad news that names no event of ours.
    func complained(_ answer: RelayAnswer, at now: Now) {
        pace.answered(answer, at: now.monotonic)
        note(answer, at: now)
    }

    func answered(_ answer: RelayAnswer, at now: Now) {
        unprovenAttempts = nil
        pace.answered(answer, at: now.monotonic)
        note(answer, at: now)
    }

    func note(_ answer: RelayAnswer, at now: Now) {
        record.answers.count(answer)
        if answer.isSuccess { record.lastAccepted = now.wall }
    }
}

/// What a relay has done so far.
struct RelayRecord {
    var lastAccepted: WallTime?
    var lastEvent: WallTime?
    var answers = Tally<RelayAnswer>()
    private(set) var failures = Tally<RelayFailure>()

    mutating func failed(_ failure: RelayFailure) { failures.count(failure) }
}
