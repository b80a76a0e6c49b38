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
    let drops: RelayDrops?
    private let letters: MessengerArchive?
    private var isDraining = false
    private var hasStopped = false
    private var timer: (any Cancellable)?
    private var armed: Instant?

    private var mesh: MeshNode { switchboard.mesh }

    init(
        loop: any EventLoop, switchboard: Switchboard, store: (any TrustStore)?, mail: RelayMail? = nil,
        drops: RelayDrops? = nil, random: any RandomNumberGenerator
    ) {
        let identity = switchboard.mesh.identity
        self.drops = drops
        letters = store?.letters
        self.loop = loop
        self.switchboard = switchboard
        self.store = store
        self.mail = mail
        messenger = Messenger(
            identity: identity, account: mail?.account.publicKey, trust: store?.load() ?? [],
            desk: letters?.makeDesk(identity, random: random) ?? MailDesk(identity: identity, random: random),
            random: random)
        drops?.onLetter = { [weak self] envelope in
            self?.perform { messenger, now in messenger.take(envelope, at: now) } ?? false
        }
        drops?.onOutcome = { [weak self] ticket, isConfirmed in
            self?.perform { messenger, now in messenger.dropped(ticket, isConfirmed: isConfirmed, at: now) }
        }
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

    /// Whether letters outlive the process.
    var keepsLetters: Bool { letters != nil }

    /// Call it when the mesh has started: letters are taken up again, and keys to write new ones to are offered.
    func start() {
        perform { messenger, now in
            if let letters { messenger.restore(letters.memory, at: now) }
            messenger.startPrekeys(at: now)
        }
    }

    /// - Returns: whether the person's decisions are all kept where they should be.
    func stop() -> Bool {
        hasStopped = true
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
            case .mail(let envelope, _, _): messenger.take(envelope, at: now)
            case .prekeyBundle(let bundle): messenger.take(bundle, at: now)
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
        case .drop(let envelope, let ticket):
            guard let drops else { return messenger.dropped(ticket, isConfirmed: false, at: loop.now) }
            switchboard.perform { drops.leave(envelope, ticket, at: $0) }
        case .store(let record): letters?.keep(record)
        case .discard(let messageID): letters?.discard(messageID: messageID)
        case .forgetBundle(let owner): letters?.forgetBundle(of: owner)
        case .publish(let bundle):
            guard letters?.keepsPrekeys() ?? true else { return }
            switchboard.perform { mesh.publish(bundle, at: $0) }
        case .remember(let record): store?.keep(record)
        case .forget(let fingerprint): store?.forget(fingerprint)
        case .show(let event): onEvent?(event)
        }
    }

    private func arm() {
        let next = messenger.nextDeadline
        guard next != armed, !hasStopped else { return }
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
