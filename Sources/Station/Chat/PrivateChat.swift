import Basics
import Crypto
import EventLoop
import Mesh
import Messenger
import Nostr
import Wire

/// Joins the messenger to the sessions of the mesh, to the mailbox at relays and to the store of trust.
final class PrivateChat {
    let messenger: Messenger
    var onEvent: ((MessengerEvent) -> Void)?

    private let loop: any EventLoop
    private let switchboard: Switchboard
    private let store: (any TrustStore)?
    /// `nil` for a person without relays.
    let mail: RelayMail?
    private var isDraining = false
    private var timer: (any Cancellable)?
    private var armed: Instant?

    private var mesh: MeshNode { switchboard.mesh }

    init(
        loop: any EventLoop, switchboard: Switchboard, store: (any TrustStore)?, mail: RelayMail? = nil,
        random: any RandomNumberGenerator
    ) {
        self.loop = loop
        self.switchboard = switchboard
        self.store = store
        self.mail = mail
        messenger = Messenger(
            identity: switchboard.mesh.identity, account: mail?.account.publicKey, trust: store?.load() ?? [],
            random: random)
        mail?.onPayload = { [weak self] payload, author in
            self?.perform { messenger, now in messenger.take(mail: payload, from: author, at: now) } ?? false
        }
        mail?.onOutcome = { [weak self] messageID, peer, isTaken in
            self?.perform { messenger, _ in messenger.mailed(messageID, to: peer, isTaken: isTaken) }
        }
    }

    /// Gives the messenger an input and carries out what follows from it.
    func perform<Result, Failure: Error>(
        _ input: (Messenger, Now) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { drain() }
        return try input(messenger, loop.now)
    }

    /// - Returns: whether the person's decisions are all kept where they should be.
    func stop() -> Bool {
        timer?.cancel()
        timer = nil
        armed = nil
        return store?.close() ?? true
    }

    // MARK: From the mesh

    func happened(_ event: MeshEvent) {
        perform { messenger, now in
            switch event {
            case .peerConnected(let peer), .peerUpdated(let peer):
                messenger.met(
                    Acquaintance(
                        noiseKey: peer.noiseKey, signingKey: peer.signingKey, nickname: peer.nickname,
                        isConnected: peer.isConnected, capabilities: peer.capabilities), at: now)
            case .peerDisconnected(let peer): messenger.disconnected(peer)
            case .peerLeft(let peer), .peerRemoved(let peer): messenger.lost(peer)
            case .sessionEstablished(let peer, let fingerprint):
                messenger.sessionEstablished(with: peer, fingerprint: fingerprint, at: now)
            case .sessionFailed(let peer, _): reportSession(with: peer, at: now)
            case .noisePayload(let payload, let peer, let fingerprint):
                messenger.take(payload, from: peer, fingerprint: fingerprint, at: now)
            case .undeliverable(let payload, let peer): messenger.undeliverable(payload, to: peer, at: now)
            default: break
            }
        }
    }

    /// Whether the peer has a session after all: one there was may be in force again.
    private func reportSession(with peer: PeerID, at now: Now) {
        let session = mesh.session(with: peer)
        if session?.state == .established, let fingerprint = session?.fingerprint {
            messenger.sessionEstablished(with: peer, fingerprint: fingerprint, at: now)
        } else {
            messenger.sessionLost(with: peer, at: now)
        }
    }

    // MARK: Effects

    private func drain() {
        guard !isDraining else { return }
        isDraining = true
        while let effect = messenger.nextEffect() { carry(effect) }
        isDraining = false
        arm()
    }

    private func carry(_ effect: MessengerEffect) {
        switch effect {
        case .send(let payload, let peer):
            let dispatch = switchboard.perform { mesh.send(payload, to: peer, at: $0) }
            if case .refused = dispatch { messenger.undeliverable(payload, to: peer, at: loop.now) }
        case .mail(let payload, let key, let peer):
            switchboard.perform { mail?.send(payload, to: key, of: peer, at: $0) }
        case .openSession(let peer):
            let isUnderWay = switchboard.perform { mesh.openSession(with: peer, at: $0) }
            if !isUnderWay || mesh.session(with: peer)?.state == .established {
                reportSession(with: peer, at: loop.now)
            }
        case .deposit(let envelope, let courier, let ticket):
            let isTaken = switchboard.perform { mesh.sendMail(envelope, to: courier, over: .link, at: $0) }
            messenger.deposited(ticket, isTaken: isTaken, at: loop.now)
        // Nobody sets these going yet: there is no desk, and no relays for drops.
        case .drop, .store, .discard, .publish: break
        case .remember(let record): store?.keep(record)
        case .forget(let fingerprint): store?.forget(fingerprint)
        case .show(let event): onEvent?(event)
        }
    }

    private func arm() {
        let next = messenger.nextDeadline
        guard next != armed else { return }
        timer?.cancel()
        armed = next
        timer = next.map { due in
            loop.schedule(after: max(SwitchboardLimits.shortestDelay, due - loop.now.monotonic)) { [weak self] in
                self?.armed = nil
                self?.perform { messenger, now in messenger.timeout(at: now) }
            }
        }
    }
}
