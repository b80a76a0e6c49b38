import Basics
import EventLoop
import Gateway
import Mesh
import Nostr
import Radio

@testable import Station

/// A relay in virtual time that knows its subscribers and forgets every event.
final class RelayInMemory {
    private(set) var published: [VerifiedEvent] = []
    private var ports: [() -> MemoryRelayPort?] = []
    private let loop: any EventLoop

    init(loop: any EventLoop) { self.loop = loop }

    fileprivate func take(_ event: VerifiedEvent) {
        published.append(event)
        for port in ports { port()?.offer(event) }
    }

    func makePort() -> MemoryRelayPort {
        let port = MemoryRelayPort(relay: self, loop: loop)
        ports.append { [weak port] in port }
        return port
    }
}

final class MemoryRelayPort: RelayPort {
    var onActivity: (((Now) -> Void) -> Void)?
    private let relay: RelayInMemory
    private let loop: any EventLoop
    private var subscriptions: [String: NostrFilter] = [:]
    private var inputs: [RelayInput] = []

    init(relay: RelayInMemory, loop: any EventLoop) {
        self.relay = relay
        self.loop = loop
    }

    func connect() {
        bring(.connectivity(true))
        bring(.mailConnectivity(true))
    }

    func publish(_ event: VerifiedEvent, geohash: String, at now: Now) { relay.take(event) }
    func publishDrop(_ event: VerifiedEvent, as attempt: DropAttempt, at now: Now) {
        relay.take(event)
        bring(.dropped(attempt, isConfirmed: true))
    }
    func subscribeDrops(_ id: String, _ filter: NostrFilter, at now: Now) {
        subscriptions[id] = filter
        for event in relay.published where filter.matches(event.event) { bring(.event(event, subscription: id)) }
    }
    func publishDurably(_ event: VerifiedEvent, geohash: String, expiresAt: WallTime, at now: Now) -> Bool {
        publish(event, geohash: geohash, at: now)
        return true
    }

    func withdraw(_ event: EventID) {}

    func subscribe(_ subscription: GatewaySubscription, at now: Now) {
        subscriptions[subscription.id] = subscription.filter
    }
    func unsubscribe(_ id: String, at now: Now) { subscriptions[id] = nil }
    func nextInput(at now: Now) -> RelayInput? { inputs.isEmpty ? nil : inputs.removeFirst() }
    func timeout(at now: Now) {}
    var nextDeadline: Instant? { nil }

    fileprivate func offer(_ event: VerifiedEvent) {
        for (id, filter) in subscriptions where filter.matches(event.event) { bring(.event(event, subscription: id)) }
    }

    private func bring(_ input: RelayInput) {
        loop.enqueue { [self] in
            inputs.append(input)
            onActivity? { _ in }
        }
    }
}

/// A room in virtual time: everybody hears everybody.
final class Island {
    let loop: EmbeddedLoop
    let air: InProcessAir
    private var ports: [InProcessPort] = []
    private var random: SeededRandom

    init(loop: EmbeddedLoop, seed: UInt64) {
        self.loop = loop
        air = InProcessAir(loop: loop)
        random = SeededRandom(seed: seed)
    }

    func makePort(_ name: String) -> InProcessPort {
        let port = air.makePort(name: name)
        for other in ports { air.link(port, to: other) }
        ports.append(port)
        return port
    }

    func gateway(_ name: String, cell: String, relay: MemoryRelayPort?) -> Switchboard {
        let identity = StationIdentity.generate(using: &random)
        let switchboard = Switchboard(
            loop: loop, radio: makePort(name),
            mesh: MeshNode(
                configuration: MeshConfiguration(nickname: name), identity: identity.node,
                random: SeededRandom(seed: random.next())),
            gateway: Gateway(
                configuration: GatewayConfiguration(cell: RendezvousCell(cell)), seed: identity.deviceSeed,
                random: SeededRandom(seed: random.next())), relays: relay)
        try? switchboard.radio.start()
        switchboard.perform { now in
            switchboard.mesh.start(at: now)
            switchboard.gateway.setClockTrusted(true, at: now)
            switchboard.gateway.start(at: now)
        }
        relay?.connect()
        return switchboard
    }

    /// A box that carries letters, without relays.
    func courierBox(_ name: String) throws -> Switchboard {
        let identity = StationIdentity.generate(using: &random)
        let courier = Courier(
            configuration: CourierConfiguration(own: identity.node.noise.publicKey),
            random: SeededRandom(seed: random.next()))
        var node = MeshConfiguration(nickname: name, capabilities: [.gateway])
        node.takesMail = true
        let switchboard = Switchboard(
            loop: loop, radio: makePort(name),
            mesh: MeshNode(
                configuration: node, identity: identity.node, random: SeededRandom(seed: random.next())),
            gateway: Gateway(
                configuration: GatewayConfiguration(), seed: identity.deviceSeed,
                random: SeededRandom(seed: random.next())), ownCapabilities: [.gateway], courier: courier)
        try switchboard.radio.start()
        switchboard.perform { now in
            switchboard.mesh.start(at: now)
            courier.setClock(isUsable: true, isTrusted: true, at: now)
            courier.start(at: now)
        }
        return switchboard
    }

    func person(_ name: String, bridge: Bool = true) throws -> Person {
        let peer = ChatPeer(
            loop: loop, radio: makePort(name), identity: .generate(using: &random), nickname: name, bridgeIsOn: bridge,
            random: SeededRandom(seed: random.next()))
        let person = Person(peer)
        try peer.start()
        return person
    }
}

/// Somebody at a console, and what they have seen.
final class Person {
    let peer: ChatPeer
    private(set) var lines: [String] = []
    private(set) var hasLeft = false

    init(_ peer: ChatPeer) {
        self.peer = peer
        peer.onLine = { [unowned self] in lines.append($0.text) }
        peer.onEnd = { [unowned self] in hasLeft = true }
    }

    /// Lines that end with this text.
    func heard(_ text: String) -> [String] { lines.filter { $0.hasSuffix(text) } }
}
