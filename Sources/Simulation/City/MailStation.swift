import Basics
import Crypto
import Gateway
import Mesh
import Messenger
import Nostr
import Wire

/// What becomes of mail beyond the mesh, and who watches.
protocol MailSurroundings: AnyObject {
    var phonesCarry: Bool { get }
    func publish(_ event: VerifiedEvent, _ attempt: DropAttempt, from node: Int)
    func subscribe(_ node: Int, _ id: String, _ filter: NostrFilter)
    func unsubscribe(_ node: Int, _ id: String)
    func shown(_ text: String, at node: Int)
    func kept(_ mail: CarriedEnvelope, at node: Int)
    func forgot(_ id: MailID, at node: Int)
    func flooded(_ envelope: CourierEnvelope, by node: Int)
}

/// The engines that decide about mail behind a mesh node, joined as a box and a chat peer join them.
final class MailStation: NodeAttachment {
    let messenger: Messenger?
    let courier: Courier?
    private let node: Int
    private unowned let city: any MailSurroundings

    init(
        _ city: any MailSurroundings, node: Int, identity: NodeIdentity, isBox: Bool, means: CityMeans,
        friends: [NoisePublicKey], random: SeededRandom
    ) {
        self.city = city
        self.node = node
        let records = friends.map { key in
            var record = TrustRecord(noiseKey: key, nickname: "")
            record.isFavorite = true
            record.favorsUs = true
            return record
        }
        messenger =
            isBox
            ? nil
            : Messenger(
                identity: identity, trust: records, desk: MailDesk(identity: identity, random: random),
                random: random)
        courier = City.courier(of: identity, isBox: isBox, trust: records, means: means, random: random)
    }

    func start(at now: Now) {
        courier?.setClock(isUsable: true, isTrusted: true, at: now)
        courier?.start(at: now)
        if messenger == nil { courier?.relayConnectivityChanged(true, at: now) }
    }

    // MARK: From the mesh

    func happened(_ event: MeshEvent, at now: Now, in mesh: SimulatedMesh) {
        switch event {
        case .peerConnected(let peer), .peerUpdated(let peer):
            messenger?.met(
                Acquaintance(
                    noiseKey: peer.noiseKey, signingKey: peer.signingKey, nickname: peer.nickname,
                    isConnected: peer.isConnected, capabilities: peer.capabilities), at: now)
        case .peerDisconnected(let peer): messenger?.disconnected(peer)
        case .peerLeft(let peer), .peerRemoved(let peer): messenger?.lost(peer)
        case .sessionEstablished(let peer, let fingerprint):
            messenger?.sessionEstablished(with: peer, fingerprint: fingerprint, at: now)
        case .sessionFailed(let peer, _): report(peer, mesh.nodes[node].mesh, at: now)
        case .noisePayload(let payload, let peer, let fingerprint):
            messenger?.take(payload, from: peer, fingerprint: fingerprint, at: now)
        case .undeliverable(let payload, let peer): messenger?.undeliverable(payload, to: peer, at: now)
        case .mail(let envelope, _, let depositor):
            if let courier {
                courier.arrived(envelope, depositor: depositor, at: now)
            } else {
                messenger?.take(envelope, at: now)
            }
        case .announced(let peer, let key, let standing): courier?.met(peer, key, standing, at: now)
        default: break
        }
    }

    private func report(_ peer: PeerID, _ engine: MeshNode, at now: Now) {
        let session = engine.session(with: peer)
        if session?.state == .established, let fingerprint = session?.fingerprint {
            messenger?.sessionEstablished(with: peer, fingerprint: fingerprint, at: now)
        } else {
            messenger?.sessionLost(with: peer, at: now)
        }
    }

    // MARK: Effects

    func step(_ node: SimulatedNode, at now: Now, in mesh: SimulatedMesh) -> Bool {
        if let effect = courier?.nextEffect() {
            carry(effect, node.mesh, at: now)
        } else if let effect = messenger?.nextEffect() {
            carry(effect, node.mesh, at: now)
        } else {
            return false
        }
        return true
    }

    private func carry(_ effect: CourierEffect, _ engine: MeshNode, at now: Now) {
        switch effect {
        case .send(let envelope, let peer, let route, let ticket):
            let isWritten = engine.sendMail(envelope, to: peer, over: route, at: now)
            if route == .flood { city.flooded(envelope, by: node) }
            courier?.sent(ticket, isWritten: isWritten, at: now)
        case .prove(let peer): engine.openSession(with: peer, at: now)
        case .open(let envelope, let drop):
            courier?.opened(drop: drop, isHandled: messenger?.take(envelope, at: now) ?? true, at: now)
        case .publish(let event, let attempt): city.publish(event, attempt, from: node)
        case .subscribe(let id, let filter): city.subscribe(node, id, filter)
        case .unsubscribe(let id): city.unsubscribe(node, id)
        case .keep(let mail): city.kept(mail, at: node)
        case .forget(let id): city.forgot(id, at: node)
        case .remember: break
        }
    }

    private func carry(_ effect: MessengerEffect, _ engine: MeshNode, at now: Now) {
        switch effect {
        case .send(let payload, let peer):
            if case .refused = engine.send(payload, to: peer, at: now) {
                messenger?.undeliverable(payload, to: peer, at: now)
            }
        case .openSession(let peer):
            let isUnderWay = engine.openSession(with: peer, at: now)
            if !isUnderWay || engine.session(with: peer)?.state == .established { report(peer, engine, at: now) }
        case .deposit(let envelope, let peer, let ticket):
            let isTaken = city.phonesCarry && engine.sendMail(envelope, to: peer, over: .link, at: now)
            messenger?.deposited(ticket, isTaken: isTaken, at: now)
        case .show(.message(_, _, let text)): city.shown(text, at: node)
        case .drop(_, let ticket): messenger?.dropped(ticket, isConfirmed: false, at: now)
        case .mail, .remember, .forget, .forgetBundle, .store, .discard, .discardHeld, .publish, .show: break
        }
    }

    // MARK: Time

    func timeout(at now: Now) {
        if let due = courier?.nextDeadline, due <= now.monotonic { courier?.timeout(at: now) }
        if let due = messenger?.nextDeadline, due <= now.monotonic { messenger?.timeout(at: now) }
    }

    var nextDeadline: Instant? { [courier?.nextDeadline, messenger?.nextDeadline].compactMap { $0 }.min() }
}
