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

    /// From an announce until neighbours know whose letters they are given: ours.
    private static let introduction = Interval.seconds(2)

    private let loop: any EventLoop
    private let switchboard: Switchboard
    private let store: (any TrustStore)?
    /// `nil` for a person without relays.
    let mail: RelayMail?
    let drops: RelayDrops?
    /// `nil` where the loop's time is beyond doubt.
    private let clock: ClockService?
    private let letters: MessengerArchive?
    private var isDraining = false
    private var hasStopped = false
    private var isIntroducing = false
    private var stepsWhenGood: Int?
    private var timer: (any Cancellable)?
    private var armed: Instant?

    private var mesh: MeshNode { switchboard.mesh }

    init(
        loop: any EventLoop, switchboard: Switchboard, store: (any TrustStore)?, mail: RelayMail? = nil,
        drops: RelayDrops? = nil, clock: ClockService? = nil, random: any RandomNumberGenerator
    ) {
        self.clock = clock
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
            isClockGood: clock == nil, random: random)
        drops?.onLetter = { [weak self] envelope in
            self?.perform { messenger, now in messenger.take(envelope, at: now) } ?? false
        }
        drops?.isWanted = { [weak self] ticket in self?.messenger.isWanted(ticket) ?? false }
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
        followClock()
        perform { messenger, now in
            if let letters { messenger.restore(letters.memory, at: now) }
            messenger.startPrekeys(at: now)
        }
    }

    /// Does nothing by itself any more. What still comes is kept.
    func stop() {
        hasStopped = true
        timer?.cancel()
        timer = nil
        armed = nil
    }

    /// Nothing comes any more.
    /// - Returns: whether the person's decisions and letters are all kept where they should be.
    func close() -> Bool { store?.close() ?? true }

    // MARK: The time

    /// Whether letters can be dated and judged. A clock that was right once is, until it is set: so neighbours who
    /// leave, or whose clocks are wrong, stop nothing.
    var knowsTime: Bool {
        guard let clock else { return true }
        return clock.isGoodForLetters || clock.clock.systemSteps == stepsWhenGood
    }

    private func followClock() {
        guard let clock else { return }
        clock.onChange = { [weak self] _ in self?.noteTime() }
        perform { messenger, now in messenger.setClock(isGood: knowsTime, at: now) }
        watchTime()
    }

    /// What the machine's clock does while mesh time stays as it was, nobody tells.
    private func watchTime() {
        guard !hasStopped else { return }
        noteTime()
        loop.schedule(after: ClockLimits.recheck) { [weak self] in self?.watchTime() }
    }

    private func noteTime() {
        if let clock, clock.isGoodForLetters { stepsWhenGood = clock.clock.systemSteps }
        guard knowsTime, !messenger.isClockGood else {
            return perform { messenger, now in messenger.setClock(isGood: knowsTime, at: now) }
        }
        guard !isIntroducing else { return }
        isIntroducing = true
        // Neighbours take no letters of somebody whose announces bore a wrong time.
        switchboard.perform { mesh.announceSoon(at: $0) }
        loop.schedule(after: PrivateChat.introduction) { [weak self] in
            guard let self, !hasStopped else { return }
            isIntroducing = false
            perform { messenger, now in messenger.setClock(isGood: knowsTime, at: now) }
        }
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
        case .discardHeld(let envelope): letters?.discard(held: envelope)
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

extension ClockService {
    /// A box takes mail in by mesh time as soon as that is good for the mesh. A console goes by the machine's clock,
    /// which must be about the same.
    fileprivate var isGoodForLetters: Bool {
        standing.isGoodForMesh && abs(clock.systemLead) <= ClockLimits.tolerance
    }
}
