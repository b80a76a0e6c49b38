import Basics
import Crypto
import Gateway
import Mesh
import Nostr
import Wire

/// What a gateway engine did, for whoever checks it.
protocol StationObserver: AnyObject {
    /// Handed a finished event to a gateway of the mesh.
    func deposited(_ event: EventID, with gateway: PeerID, by node: Int, in mesh: SimulatedMesh)
    func broadcast(_ carrier: NostrCarrier, by node: Int, in mesh: SimulatedMesh)
    func showed(_ message: GatewayMessage, at node: Int, in mesh: SimulatedMesh)
    func retracted(_ id: EventID, at node: Int, in mesh: SimulatedMesh)
    func connectivityChanged(_ isConnected: Bool, at node: Int, in mesh: SimulatedMesh)
}

/// A real gateway engine behind a mesh node: a box with relays, or a phone without internet that only listens and
/// deposits.
final class SimulatedStation: NodeAttachment {
    let gateway: Gateway
    let uplink: SimulatedUplink?
    private let node: Int
    private unowned let observer: any StationObserver

    init(node: Int, gateway: Gateway, uplink: SimulatedUplink? = nil, observer: any StationObserver) {
        self.node = node
        self.gateway = gateway
        self.uplink = uplink
        self.observer = observer
    }

    /// Takes up its work. The clock is taken as right.
    func start(in mesh: SimulatedMesh) {
        mesh.call(node) { _, now in
            gateway.setClockTrusted(true, at: now)
            gateway.start(at: now)
            uplink?.client.setGate(.open, at: now)
        }
    }

    /// Sends what was just said over the bridge as well (chapter 06 §4.6).
    func bridge(_ message: PublicMessage, in mesh: SimulatedMesh) -> SpeechOutcome {
        mesh.call(node) { engine, now in
            let peer = engine.peers(at: now).first {
                $0.isReachable && $0.capabilities?.contains(.bridge) == true && $0.id != engine.me
            }
            return gateway.bridgeOwnMessage(
                message.text, sender: message.sender, radioTime: message.timestamp, nickname: message.nickname,
                bridgePeer: peer?.id, at: now)
        }
    }

    // MARK: NodeAttachment

    func happened(_ event: MeshEvent, at now: Now, in mesh: SimulatedMesh) {
        switch event {
        case .publicMessage(let message): gateway.radioSeen(stableID: message.stableID, at: now)
        case .carrier(let carrier, let addressedToUs, let depositor):
            gateway.carrierReceived(carrier, addressedToUs: addressedToUs, depositor: depositor, at: now)
        default: break
        }
    }

    func step(_ node: SimulatedNode, at now: Now, in mesh: SimulatedMesh) -> Bool {
        if let effect = gateway.nextEffect() {
            carry(effect, node.mesh, at: now, in: mesh)
            return true
        }
        guard let input = uplink?.next(in: mesh, at: now) else { return false }
        switch input {
        case .event(let event, let subscription): gateway.relayEvent(event, subscription: subscription, at: now)
        case .connectivity(let isConnected):
            gateway.relayConnectivityChanged(isConnected, at: now)
            observer.connectivityChanged(isConnected, at: self.node, in: mesh)
        case .handled: break
        }
        return true
    }

    private func carry(_ effect: GatewayEffect, _ engine: MeshNode, at now: Now, in mesh: SimulatedMesh) {
        switch effect {
        case .publish(let event, _): uplink?.publish(event, at: now)
        case .broadcast(let carrier):
            observer.broadcast(carrier, by: node, in: mesh)
            engine.broadcastCarrier(carrier, at: now)
        case .deposit(let carrier, let peer):
            if let event = try? NostrEvent(json: carrier.event), let id = EventID(hex: event.id) {
                observer.deposited(id, with: peer, by: node, in: mesh)
            }
            engine.sendCarrier(carrier, to: peer, at: now)
        case .subscribe(let subscription): uplink?.subscribe(subscription, at: now)
        case .unsubscribe(let id): uplink?.client.unsubscribe(id, at: now)
        case .advertise(let advertisement):
            engine.setAdvertisement(
                capabilities: advertisement.capabilities, bridgeCell: advertisement.cell, at: now)
        case .show(let message): observer.showed(message, at: node, in: mesh)
        case .retract(let id): observer.retracted(id, at: node, in: mesh)
        }
    }

    func timeout(at now: Now) {
        func isDue(_ deadline: Instant?) -> Bool { deadline.map { $0 <= now.monotonic } ?? false }
        if isDue(gateway.nextDeadline) { gateway.timeout(at: now) }
        if isDue(uplink?.client.nextDeadline) { uplink?.client.timeout(at: now) }
    }

    var nextDeadline: Instant? { [gateway.nextDeadline, uplink?.client.nextDeadline].compactMap { $0 }.min() }
}
