import Basics

/// The client of all relays: keeps them connected, subscriptions alive and events flowing, and lets nothing unverified
/// through (chapter 05 §5, §6). It does no I/O: calls report what happened, and `nextEffect` says what to do. After
/// every call, take effects until there are none and arm one timer for `nextDeadline`.
public final class NostrClient {
    public struct Configuration: Hashable, Sendable {
        public var policy: RelayURLPolicy
        /// Whether the route can reach onion services; without Tor they are skipped, never resolved (chapter 05 §15.2).
        public var reachesOnions: Bool

        public init(policy: RelayURLPolicy = RelayURLPolicy(), reachesOnions: Bool = true) {
            self.policy = policy
            self.reachesOnions = reachesOnions
        }
    }

    public let configuration: Configuration
    public private(set) var gate = NetworkGate.closed
    public private(set) var defaultRelays: [NostrRelayURL]
    public internal(set) var drops = Tally<NostrDrop>()
    public internal(set) var activity = Tally<NostrActivity>()
    /// Answers to published events, over all relays.
    public internal(set) var answers = Tally<RelayAnswer>()
    /// How connections and attempts ended, over all relays.
    public internal(set) var failures = Tally<RelayFailure>()

    /// In the order they came to be known, which is the order they are served in.
    var connections: [RelayConnection] = []
    /// In the order they were made.
    var subscriptions: [Subscription] = []
    var pending = PendingEvents()
    var confirmations = Confirmations()
    var isolated = IsolatedPublications()
    var recent = RecentEvents()
    /// For all relays together.
    var pace = PublishPace()
    /// Wall-clock milliseconds beyond the monotonic ones at the last call.
    var clockOffset: Int64?
    var random: any RandomNumberGenerator
    /// Where the next turn of inbound processing begins.
    var nextTurn = 0
    private var effects = Queue<NostrEffect>()
    private var generations: UInt64 = 0
    private var numbers: UInt64 = 0
    private var route = RouteBackoff()
    /// Since when the gate has not been open.
    private var awaySince: Instant?
    private var reconcileAt: Instant?
    /// When the next isolated publication may be written.
    var isolatedDueAt: Instant?

    public init(
        defaultRelays: [NostrRelayURL] = [], configuration: Configuration = Configuration(),
        random: any RandomNumberGenerator
    ) {
        self.configuration = configuration
        self.random = random
        self.defaultRelays = defaultRelays
    }

    public func nextEffect() -> NostrEffect? { effects.popFirst() }

    func emit(_ effect: NostrEffect) { effects.append(effect) }

    func emit(_ effects: [NostrEffect]) {
        for effect in effects { emit(effect) }
    }

    func nextGeneration() -> UInt64 {
        generations += 1
        return generations
    }

    func nextNumber() -> UInt64 {
        numbers += 1
        return numbers
    }

    // MARK: What is wanted

    /// Replaces the default set. Relays that nothing asks for any more are closed and forgotten with all they were
    /// owed; new ones are dialled at once (chapter 05 §4.2).
    public func setDefaultRelays(_ relays: [NostrRelayURL], at now: Now) {
        let removed = defaultRelays.filter { !relays.contains($0) }
        defaultRelays = relays
        for url in removed where !isSubscribed(url) {
            for index in subscriptions.indices { subscriptions[index].load.ended(url) }
            guard let connection = connection(url) else { continue }
            drops.count(.publicationRelayRemoved, UInt64(pending.removeAll(owedTo: url)))
            disconnect(connection, nil, closing: CloseCode.goingAway, at: now)
            connections.removeAll { $0 === connection }
        }
        withdrawUntargetedRequests(at: now.monotonic)
        refresh(at: now)
        reportLoads(at: now.monotonic)
    }

    /// Opening dials what is wanted; closing is `disconnect`. While the route is not ready open sockets live on as long
    /// as they do. Failures of the time before an outage are forgotten (chapter 05 §6.3).
    public func setGate(_ gate: NetworkGate, at now: Now) {
        guard gate != self.gate else { return }
        if self.gate == .open { awaySince = now.monotonic }
        self.gate = gate
        switch gate {
        case .closed: disconnectAll(at: now)
        case .waitingForRoute: break
        case .open:
            route.worked()
            // What failed before an outage tells of the way, not of the relay. A way that is back at once was lost
            // because relays fail: they keep their pauses.
            let wasOut = awaySince.map { now.monotonic - $0 >= NostrLimits.outage } ?? false
            awaySince = nil
            for connection in connections where connection.isIdle {
                if wasOut, connection.lastFailure != .misbehaving {
                    connection.forgive()
                } else if connection.lastFailure == .routeUnavailable {
                    connection.redial(at: nil)
                }
            }
            refresh(at: now)
        }
    }

    /// The operator's retry: dials every relay that is wanted and not connected, whatever it failed with (chapter 05
    /// §6.3).
    public func retry(at now: Now) {
        for connection in connections where connection.isIdle { connection.forgive() }
        refresh(at: now)
    }

    /// Closes all sockets. Queue and subscriptions stay, loads end, confirmed publications fail (chapter 05 §6.9).
    public func disconnectAll(at now: Now) {
        for connection in connections {
            disconnect(connection, nil, closing: CloseCode.goingAway, at: now)
            connection.redial(at: nil)
        }
        emit(isolated.endAll())
        reportLoads(at: now.monotonic)
    }

    // MARK: What sockets report

    public func relayOpened(_ socket: NostrSocketID, at now: Now) {
        guard socket.isolation == nil else {
            isolated.opened(socket)
            return pumpIsolated(at: now)
        }
        followClock(now)
        guard let connection = current(socket), case .dialling = connection.phase else { return }
        route.worked()
        activity.count(.connected)
        connection.opened(at: now.monotonic)
        emit(.relayStateChanged(connection.url, isConnected: true))
        pump(connection, at: now)
        sendRequests(to: connection, at: now)
        if connection.shouldAskForInformation(at: now.monotonic) { emit(.fetchInformation(connection.url)) }
    }

    /// The document that `fetchInformation` asked for. One that cannot be read changes nothing.
    public func informationReceived(_ document: [UInt8], from relay: NostrRelayURL) {
        guard let connection = connection(relay), let information = RelayInformation(json: document) else { return }
        connection.learned(information)
    }

    public func relayClosed(_ socket: NostrSocketID, _ failure: RelayFailure, at now: Now) {
        guard socket.isolation == nil else {
            failures.count(failure)
            return emit(isolated.ended(socket, isClosed: true))
        }
        guard let connection = current(socket) else { return }
        disconnect(connection, failure, closing: nil, at: now)
        reportLoads(at: now.monotonic)
    }

    /// Bytes of any kind arrived, a pong for instance.
    public func heard(on socket: NostrSocketID, at now: Now) {
        if socket.isolation == nil { current(socket)?.heard(at: now.monotonic) }
    }

    /// A whole text message arrived.
    public func received(_ message: [UInt8], on socket: NostrSocketID, at now: Now) {
        guard socket.isolation == nil else { return receivedIsolated(message, on: socket, at: now) }
        guard let connection = current(socket), connection.isOpen else { return }
        followClock(now)
        connection.heard(at: now.monotonic)
        if connection.inbound.isEmpty { connection.inboundReadyAt = now.monotonic }
        drops.count(.frameShed, UInt64(connection.inbound.append(message)))
        processInbound(at: now)
    }

    /// A whole binary message arrived. Nostr is text: it means nothing.
    public func receivedBinary(on socket: NostrSocketID, at now: Now) {
        guard socket.isolation == nil else { return receivedIsolated([], on: socket, at: now) }
        guard let connection = current(socket), connection.isOpen else { return }
        connection.heard(at: now.monotonic)
        activity.count(.frameReceived)
        drops.count(.frameBinary)
        bothered(by: connection, at: now)
    }

    /// The socket's current connection; reports of replaced sockets are counted and ignored.
    private func current(_ socket: NostrSocketID) -> RelayConnection? {
        guard let connection = connection(socket.relay), connection.generation == socket.generation,
            !connection.isIdle
        else {
            drops.count(.staleSocket)
            return nil
        }
        return connection
    }

    // MARK: Time

    public func timeout(at now: Now) {
        followClock(now)
        if let due = reconcileAt, due <= now.monotonic { reconcile(at: now) }
        for connection in connections {
            switch connection.checkLiveness(at: now.monotonic) {
            case .fine: break
            case .ping: emit(.ping(connection.socket))
            case .dead(let failure): disconnect(connection, failure, closing: CloseCode.goingAway, at: now)
            }
            if let due = connection.redialAt, due <= now.monotonic {
                dialIfWanted(connection, at: now)
                if connection.isIdle { connection.redial(at: nil) }
            }
            sendRequests(to: connection, at: now)
            if let due = connection.publishDueAt, due <= now.monotonic { pump(connection, at: now) }
        }
        for result in confirmations.expired(at: now.monotonic) { finish(result) }
        emit(isolated.expire(at: now.monotonic))
        pumpIsolated(at: now)
        reportLoads(at: now.monotonic)
        processInbound(at: now)
    }

    /// When to call `timeout`; nil when nothing is waited for.
    public var nextDeadline: Instant? {
        var next = confirmations.nextDeadline
        func consider(_ deadline: Instant?) {
            if let deadline { next = min(next ?? deadline, deadline) }
        }
        consider(isolated.nextDeadline)
        consider(isolatedDueAt)
        consider(reconcileAt)
        for subscription in subscriptions {
            if !subscription.load.isReported { consider(subscription.load.deadline) }
        }
        for connection in connections {
            consider(connection.livenessDeadline)
            if gate == .open, connection.isIdle { consider(connection.redialAt) }
            guard connection.isOpen else { continue }
            if !connection.inbound.isEmpty { consider(connection.inboundReadyAt) }
            consider(connection.publishDueAt)
            consider(connection.requestDeadline)
        }
        return next
    }

    /// Every minute, whatever else happened: dials every wanted relay that is neither connected, failed nor scheduled,
    /// and lets go of those nothing asks for (chapter 05 §6.3).
    private func reconcile(at now: Now) {
        for connection in connections where connection.heldUntil.map({ $0 <= now.monotonic }) ?? false {
            connection.heldUntil = nil
        }
        for connection in connections where !connection.isOpen {
            let isLate = { [self] in isTooOld($0, at: now) }
            drops.count(.publicationTooOld, UInt64(pending.removeAll(owedTo: connection.url, where: isLate)))
        }
        for connection in connections where !isWanted(connection.url) {
            if connection.isIdle {
                guard !connection.isFailed(at: now.monotonic) else { continue }
                connections.removeAll { $0 === connection }
            } else if now.monotonic - connection.usedAt >= NostrLimits.linger {
                disconnect(connection, nil, closing: CloseCode.goingAway, at: now)
            }
        }
        refresh(at: now)
        reconcileAt = now.monotonic + NostrLimits.reconcileInterval
    }

    // MARK: Connections

    func connection(_ url: NostrRelayURL) -> RelayConnection? { connections.first { $0.url == url } }

    func isPermitted(_ url: NostrRelayURL) -> Bool {
        configuration.policy.permits(url) && (configuration.reachesOnions || !url.isOnion)
    }

    func isWanted(_ url: NostrRelayURL) -> Bool {
        defaultRelays.contains(url) || isSubscribed(url) || pending.owes(url) || connection(url)?.heldUntil != nil
    }

    /// The connection of a relay somebody asks for, made if need be; nil when the relay may not be dialled or there are
    /// too many that nothing may displace.
    func admit(_ url: NostrRelayURL, at now: Now) -> RelayConnection? {
        if let known = connection(url) { return known }
        guard isPermitted(url) else { return nil }
        guard connections.count < NostrLimits.relays || displaceOne(at: now) else {
            drops.count(.relayWithoutPlace)
            return nil
        }
        let connection = RelayConnection(url: url)
        connection.usedAt = now.monotonic
        connections.append(connection)
        return connection
    }

    /// Forgets the relay longest unused that only waiting publications want, or nothing.
    private func displaceOne(at now: Now) -> Bool {
        let idle = connections.filter { connection in
            connection.usedAt < now.monotonic && connection.heldUntil == nil
                && !defaultRelays.contains(connection.url) && !isSubscribed(connection.url)
        }
        guard let victim = idle.min(by: { $0.usedAt < $1.usedAt }) else { return false }
        drops.count(.publicationRelayRemoved, UInt64(pending.removeAll(owedTo: victim.url)))
        disconnect(victim, nil, closing: CloseCode.goingAway, at: now)
        connections.removeAll { $0 === victim }
        return true
    }

    /// Makes the connections follow what is wanted.
    func refresh(at now: Now) {
        for url in defaultRelays + subscriptions.flatMap({ relays(of: $0.targets) }) { _ = admit(url, at: now) }
        assignRequests()
        if reconcileAt == nil { reconcileAt = now.monotonic + NostrLimits.reconcileInterval }
        for connection in connections { dialIfWanted(connection, at: now) }
    }

    func dialIfWanted(_ connection: RelayConnection, at now: Now) {
        guard gate == .open, isWanted(connection.url), connection.mayDial(at: now.monotonic) else { return }
        activity.count(.dialled)
        connection.dialled(generation: nextGeneration(), at: now.monotonic)
        emit(.dial(connection.socket))
    }

    /// Ends a connection or an attempt.
    ///
    /// - Parameters:
    ///   - failure: nil when nothing failed.
    ///   - closing: the status to close the socket with; nil when it is closed already.
    func disconnect(_ connection: RelayConnection, _ failure: RelayFailure?, closing code: UInt16?, at now: Now) {
        guard !connection.isIdle else { return }
        let wasOpen = connection.isOpen
        if let failure { failures.count(failure) }
        if let code { emit(.close(connection.socket, code: code)) }
        connection.disconnected(failure, at: now.monotonic, using: &random)
        if failure == .routeUnavailable { connection.redial(at: route.failed(at: now.monotonic)) }
        for index in subscriptions.indices { subscriptions[index].load.ended(connection.url) }
        pending.removeConfirmed(owedTo: connection.url)
        pending.lost(connection.url)
        for result in confirmations.disconnected(connection.url) { finish(result) }
        if wasOpen { emit(.relayStateChanged(connection.url, isConnected: false)) }
    }

    func finish(_ result: Confirmations.Result) {
        pending.removeAll(of: result.id)
        emit(.published(result.id, result.outcome))
    }
}
