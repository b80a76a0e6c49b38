import Basics
import Gateway
import Nostr

/// The internet of a simulated gateway: a real relay client, whose sockets lead to simulated relays.
final class SimulatedUplink: SimulatedRelayClient {
    enum Input {
        case event(VerifiedEvent, subscription: String)
        /// Whether any relay is connected has changed.
        case connectivity(Bool)
        case handled
    }

    let client: NostrClient
    private let node: Int
    private let relays: [SimulatedRelay]
    private var connected: Set<NostrRelayURL> = []

    init(node: Int, relays: [SimulatedRelay], random: SeededRandom) {
        self.node = node
        self.relays = relays
        client = NostrClient(defaultRelays: relays.map(\.url), random: random)
    }

    var isConnected: Bool { !connected.isEmpty }

    func publish(_ event: VerifiedEvent, at now: Now) { client.publish(event, to: relays.map(\.url), at: now) }

    func subscribe(_ subscription: GatewaySubscription, at now: Now) {
        client.subscribe(subscription.id, subscription.filter, to: .defaultSet, at: now)
    }

    /// Carries out one effect of the client; nil when it is quiet.
    func next(in mesh: SimulatedMesh, at now: Now) -> Input? {
        guard let effect = client.nextEffect() else { return nil }
        switch effect {
        case .dial(let socket): relay(of: socket)?.dial(socket, by: self, mesh)
        case .close(let socket, _): relay(of: socket)?.hangUp(socket)
        case .send(let message, let socket): relay(of: socket)?.send(message, on: socket, mesh)
        case .ping(let socket):
            if relay(of: socket)?.isUp ?? false { client.heard(on: socket, at: now) }
        case .event(let event, let subscription): return .event(event, subscription: subscription)
        case .relayStateChanged(let relay, let isUp):
            let before = isConnected
            if isUp { connected.insert(relay) } else { connected.remove(relay) }
            return isConnected == before ? .handled : .connectivity(isConnected)
        case .setReading, .endOfStored, .published, .fetchInformation: break
        }
        return .handled
    }

    private func relay(of socket: NostrSocketID) -> SimulatedRelay? { relays.first { $0.url == socket.relay } }

    // MARK: SimulatedRelayClient

    func opened(_ socket: NostrSocketID, _ mesh: SimulatedMesh) {
        mesh.call(node) { client.relayOpened(socket, at: $1) }
    }

    func received(_ message: [UInt8], _ socket: NostrSocketID, _ mesh: SimulatedMesh) {
        mesh.call(node) { client.received(message, on: socket, at: $1) }
    }

    func closed(_ socket: NostrSocketID, _ failure: RelayFailure, _ mesh: SimulatedMesh) {
        mesh.call(node) { client.relayClosed(socket, failure, at: $1) }
    }
}
