import Basics
import EventLoop
import Gateway
import Nostr
import Uplink

/// The Nostr side of the station: the relay client and the sockets it asks for.
final class RelayUplink: RelayPort {
    var onActivity: (((Now) -> Void) -> Void)?
    /// Why each relay's last connection ended.
    private(set) var problems: [NostrRelayURL: WebSocketCloseReason] = [:]
    let client: NostrClient
    let durable: DurableUplink
    /// What came of a publication that was asked for by its number.
    var onPublished: ((PublicationID, PublicationOutcome) -> Void)?
    /// What time a relay says it is, whenever it answers a dial.
    var onDate: ((ServerDate, NostrRelayURL) -> Void)?

    private let loop: any EventLoop
    /// The one way out.
    let route: any NetworkRoute
    /// Called after the route has changed and the relay client knows.
    var onRouteChange: (() -> Void)?
    /// `nil` where no relay is asked what it takes.
    private let fetcher: (any DocumentFetcher)?
    private(set) var choice: RelayChoice
    private var isolations = IsolationKeys()
    private var random = SystemRandomNumberGenerator()
    private var sockets: [NostrSocketID: WebSocketClient] = [:]
    private var names: [ObjectIdentifier: NostrSocketID] = [:]
    /// Sockets whose closing handshake is under way; each ends within seconds.
    private var closing: [ObjectIdentifier: WebSocketClient] = [:]
    private var connected: Set<NostrRelayURL> = []
    /// Drops on their way. The relay client bounds how many connections they may have.
    private var drops: [PublicationID: DropAttempt] = [:]
    /// Whether a default relay is connected, as last told.
    private var isMailConnected = false
    /// What is subscribed at relays of a place, since those may change. The relay client bounds their number.
    private var subscriptions: [String: PlaceSubscription] = [:]

    private struct PlaceSubscription {
        let wanted: GatewaySubscription
        let targets: RelayTargets
        /// What its look-back counts from.
        let madeAt: Instant
    }

    /// - Parameter usesTor: onion services are in reach then, and this machine's own relays are not.
    init(
        loop: any EventLoop, relays choice: RelayChoice, route: any NetworkRoute, usesTor: Bool,
        archive: NostrArchive? = nil, fetcher: (any DocumentFetcher)? = nil
    ) {
        self.fetcher = fetcher
        self.loop = loop
        self.choice = choice
        self.route = route
        client = NostrClient(
            defaultRelays: choice.defaults,
            configuration: NostrClient.Configuration(
                policy: RelayURLPolicy(allowsLoopback: !usesTor), reachesOnions: usesTor),
            random: SystemRandomNumberGenerator())
        client.followEarlierProcess(at: loop.now)
        durable = DurableUplink(client: client, archive: archive, random: SystemRandomNumberGenerator())
        route.onChange = { [weak self] in
            self?.onActivity? { now in self?.followRoute(at: now) }
            self?.onRouteChange?()
        }
    }

    var isConnected: Bool { !connected.isEmpty }

    /// A connection that is not for the relay client; `nil` while nothing may be dialled.
    func makeSocket(to relay: NostrRelayURL) -> WebSocketClient? {
        guard route.isProven, let address = try? WebSocketAddress(parsing: relay.text) else { return nil }
        return WebSocketClient(
            loop: loop, address: address, dialer: route, isolation: isolations.isolation(.relay, relay.text),
            keepAlive: nil)
    }

    /// Dials when the clock is trusted, and not before: what a wrong clock dates is refused everywhere.
    func setClockTrusted(_ isTrusted: Bool, at now: Now) {
        route.setTimeProven(isTrusted)
        followRoute(at: now)
    }

    private func followRoute(at now: Now) {
        let gate: NetworkGate
        switch route.access {
        case .closed: gate = .closed
        case .waiting: gate = .waitingForRoute
        case .open: gate = .open
        }
        client.setGate(gate, at: now)
    }

    /// Relays that are wanted by what is configured now, with what they are dialled with: those that were of use, or
    /// else those that have not failed, since a relay that is gone proves nothing of the way.
    var targets: [TorRoute.Target] {
        let wanted = client.relays(at: loop.now).filter(\.isWanted)
        let usable = wanted.filter { $0.state != .failed }
        let proven = usable.filter { $0.isConnected || $0.lastEvent != nil || $0.lastAccepted != nil }
        return [proven, usable, wanted].first { !$0.isEmpty }.map(dialled) ?? []
    }

    private func dialled(_ relays: [NostrRelayStatus]) -> [TorRoute.Target] {
        relays.compactMap { relay in
            guard let address = try? WebSocketAddress(parsing: relay.url.text) else { return nil }
            return (address, isolations.isolation(.relay, relay.url.text))
        }
    }

    /// Named by the operator and out of reach of the configured route, each with the reason.
    var skippedRelays: [(relay: NostrRelayURL, reason: String)] {
        let configuration = client.configuration
        return choice.defaults.compactMap { relay in
            if relay.isOnion, !configuration.reachesOnions {
                return (relay, "an onion service is reached through Tor only, and network.tor is \"off\"")
            }
            if !configuration.policy.permits(relay) {
                return (relay, "this machine's own relay is not reached through Tor; its .onion address is")
            }
            return nil
        }
    }

    func use(_ choice: RelayChoice, at now: Now) {
        self.choice = choice
        client.setDefaultRelays(choice.defaults, at: now)
        for known in subscriptions.values.sorted(by: { $0.wanted.id < $1.wanted.id })
        where known.targets != targets(of: known.wanted) {
            // New relays are asked as far back as the old ones were, not from the day on which they were.
            let age = (now.monotonic - known.madeAt).nanoseconds / 1_000_000_000
            subscribe(known.wanted.moved(bySeconds: age), at: now)
        }
    }

    /// Begins to close every socket; nothing is dialled any more.
    func stop() {
        route.stop()
        for id in Array(sockets.keys) { close(id, code: CloseCode.goingAway) }
    }

    /// For the wipe: every socket is gone at once, and what one still has to say is heard by nobody.
    func sever() {
        onActivity = nil
        route.stop()
        for socket in Array(sockets.values) + Array(closing.values) { socket.delegate = nil }
        names.removeAll()
        sockets.removeAll()
        closing.removeAll()
        connected.removeAll()
        drops.removeAll()
        subscriptions.removeAll()
        problems.removeAll()
        isolations.renew()
    }

    // MARK: RelayPort

    func publish(_ event: VerifiedEvent, geohash: String, at now: Now) {
        client.publish(event, to: choice.relays(of: geohash), at: now)
    }

    func publishDurably(_ event: VerifiedEvent, geohash: String, expiresAt: WallTime, at now: Now) -> Bool {
        let admission = durable.publications.publish(
            PublicationKey(hashing: event.id.bytes), .event(event, place: geohash), expiresAt: expiresAt, at: now)
        return admission != .refused
    }

    func withdraw(_ event: EventID) { durable.publications.withdraw(PublicationKey(hashing: event.bytes)) }

    /// The work that the relays of a place ask of an event, in leading zero bits.
    func work(for geohash: String) -> Int { client.work(askedBy: choice.relays(of: geohash)) }

    func subscribe(_ subscription: GatewaySubscription, at now: Now) {
        let targets = targets(of: subscription)
        guard client.subscribe(subscription.id, subscription.filter, to: targets, at: now) else { return }
        subscriptions[subscription.id] = PlaceSubscription(
            wanted: subscription, targets: targets, madeAt: now.monotonic)
    }

    private func targets(of subscription: GatewaySubscription) -> RelayTargets {
        let relays = choice.relays(of: subscription.geohash)
        let usesDefaults = choice.directory == nil || relays.isEmpty && subscription.fallsBackToDefaultRelays
        return usesDefaults ? .defaultSet : .listed(relays)
    }

    func publishDrop(_ event: VerifiedEvent, as attempt: DropAttempt, at now: Now) {
        let relays = RelayChoice.letterOrder(client.defaultRelays, using: &random)
        drops[client.publishIsolated(event, to: relays, at: now)] = attempt
    }

    func subscribeDrops(_ id: String, _ filter: NostrFilter, at now: Now) {
        client.subscribe(id, filter, to: .defaultSet, movesSince: false, at: now)
    }

    func unsubscribe(_ id: String, at now: Now) {
        subscriptions[id] = nil
        client.unsubscribe(id, at: now)
    }

    func timeout(at now: Now) {
        client.timeout(at: now)
        durable.publications.timeout(at: now)
    }

    var nextDeadline: Instant? {
        [client.nextDeadline, durable.publications.nextDeadline].compactMap { $0 }.min()
    }

    func nextInput(at now: Now) -> RelayInput? {
        guard let effect = client.nextEffect() else {
            return durable.next(at: now) { choice.relays(of: $0) } ?? mailNews
        }
        switch effect {
        case .dial(let id): dial(id, at: now)
        case .close(let id, let code): close(id, code: code)
        case .send(let message, let id): send(message, on: id, at: now)
        case .ping(let id): sockets[id]?.ping()
        case .setReading(let isReading, let id):
            if isReading { sockets[id]?.resumeReading() } else { sockets[id]?.pauseReading() }
        case .event(let event, let subscription): return .event(event, subscription: subscription)
        case .relayStateChanged(let relay, let isUp): return changed(relay, isUp, at: now)
        case .published(let id, let outcome):
            durable.publications.finished(id, outcome, at: now)
            onPublished?(id, outcome)
            guard let attempt = drops.removeValue(forKey: id) else { break }
            if case .accepted = outcome { return .dropped(attempt, isConfirmed: true) }
            return .dropped(attempt, isConfirmed: false)
        case .endOfStored(let subscription, let extent): return .loaded(subscription: subscription, extent)
        case .fetchInformation(let relay): askForInformation(relay)
        }
        return .handled
    }

    /// Only the default relays carry mail (chapter 06 §5.2): which these are may change as well as what is connected.
    private var mailNews: RelayInput? {
        let isConnected = client.defaultRelays.contains { connected.contains($0) }
        guard isConnected != isMailConnected else { return nil }
        isMailConnected = isConnected
        return .mailConnectivity(isConnected)
    }

    // MARK: Sockets

    private func dial(_ id: NostrSocketID, at now: Now) {
        let address: WebSocketAddress
        do {
            address = try WebSocketAddress(parsing: id.relay.text)
        } catch {
            note(.unsupported(error.rawValue), of: id.relay, at: now)
            return client.relayClosed(id, .nameUnusable, at: now)
        }
        // The relay client watches for silence itself.
        let isolation = id.isolation == nil ? isolations.isolation(.relay, id.relay.text) : isolations.once()
        let socket = WebSocketClient(
            loop: loop, address: address, dialer: route, isolation: isolation, keepAlive: nil)
        socket.delegate = self
        sockets[id] = socket
        names[ObjectIdentifier(socket)] = id
        socket.open()
    }

    private func askForInformation(_ relay: NostrRelayURL) {
        fetcher?.fetch(
            relay, as: .information, accept: "application/nostr+json", limit: RelayInformation.maximumBytes,
            timeout: FetchLimits.information
        ) { [weak self] result in
            guard let self, case .success(let document) = result else { return }
            onActivity? { [client] _ in client.informationReceived(document, from: relay) }
        }
    }

    private func send(_ message: [UInt8], on id: NostrSocketID, at now: Now) {
        guard let socket = sockets[id], !socket.send(text: message) else { return }
        // A relay that does not read fast enough for what little is sent is as good as gone.
        close(id, code: CloseCode.goingAway)
        client.relayClosed(id, .unresponsive, at: now)
    }

    private func close(_ id: NostrSocketID, code: UInt16) {
        guard let socket = sockets.removeValue(forKey: id) else { return }
        names[ObjectIdentifier(socket)] = nil
        closing[ObjectIdentifier(socket)] = socket
        socket.close(code: code)
    }

    private func changed(_ relay: NostrRelayURL, _ isUp: Bool, at now: Now) -> RelayInput {
        let wasConnected = isConnected
        if isUp { connected.insert(relay) } else { connected.remove(relay) }
        durable.publications.setReady(isConnected, at: now)
        return isConnected == wasConnected ? .handled : .connectivity(isConnected)
    }

    private func note(_ problem: WebSocketCloseReason, of relay: NostrRelayURL, at now: Now) {
        problems[relay] = problem
        guard problems.count > NostrLimits.relays else { return }
        let known = Set(client.relays(at: now).map(\.url))
        problems = problems.filter { known.contains($0.key) }
    }

    /// Passes on what a socket reported, unless it is one that was given up.
    private func report(_ socket: WebSocketClient, _ input: @escaping (NostrSocketID, Now) -> Void) {
        guard let id = names[ObjectIdentifier(socket)] else { return }
        onActivity? { input(id, $0) }
    }
}

extension RelayUplink: WebSocketDelegate {
    func webSocket(_ socket: WebSocketClient, received date: ServerDate) {
        if let relay = names[ObjectIdentifier(socket)]?.relay { onDate?(date, relay) }
    }

    func webSocketOpened(_ socket: WebSocketClient) {
        report(socket) { [self] id, now in
            problems[id.relay] = nil
            client.relayOpened(id, at: now)
        }
    }

    func webSocket(_ socket: WebSocketClient, received message: WebSocketMessage) {
        report(socket) { [client] id, now in
            switch message {
            case .text(let bytes): client.received(bytes, on: id, at: now)
            case .binary: client.receivedBinary(on: id, at: now)
            }
        }
    }

    func webSocket(_ socket: WebSocketClient, receivedPong payload: [UInt8]) {
        report(socket) { [client] id, now in client.heard(on: id, at: now) }
    }

    func webSocketMaySendAgain(_ socket: WebSocketClient) {}

    func webSocket(_ socket: WebSocketClient, closed reason: WebSocketCloseReason) {
        report(socket) { [self] id, now in
            sockets[id] = nil
            names[ObjectIdentifier(socket)] = nil
            note(reason, of: id.relay, at: now)
            client.relayClosed(id, RelayFailure(reason), at: now)
        }
        closing[ObjectIdentifier(socket)] = nil
    }
}

extension RelayFailure {
    /// What the redial rules make of the end of a connection (chapter 05 §6.3).
    init(_ reason: WebSocketCloseReason) {
        switch reason {
        case .closedByUs, .closedByServer, .connectionLost: self = .closedByRelay
        case .nameUnusable, .unsupported: self = .nameUnusable
        case .routeUnavailable: self = .routeUnavailable
        case .connectFailed: self = .unreachable
        case .tlsFailed: self = .tlsFailed
        case .upgradeRefused, .upgradeInvalid: self = .upgradeRefused
        case .openTimedOut: self = .timedOut
        case .unresponsive: self = .unresponsive
        case .invalidResponse, .protocolError, .invalidText, .messageTooLarge: self = .protocolError
        }
    }
}
