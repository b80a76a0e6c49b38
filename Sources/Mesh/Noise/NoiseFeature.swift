import Basics
import Crypto
import Wire

/// Noise sessions on the mesh: carries handshakes and transport messages in packets 0x10 and 0x11, marks links that a
/// handshake proved, queues and paces what goes out, and dispatches what comes in (chapter 02 §4, §5).
final class NoiseFeature: MeshFeature {
    let types: [MessageType] = [.noiseHandshake, .noiseEncrypted]
    let interests: MeshOccurrence.Kinds = [.life, .links, .announced, .tick]

    var sessions: SessionManager
    var outbound = OutboundPayloads()
    /// By peer, for the latest established generation.
    var exchanges: [PeerID: PeerStateExchange] = [:]
    var paces: [PeerID: SessionPace] = [:]
    /// Peers whose queue waits for its pace.
    var sendings = KeyedDeadlines<PeerID>()
    private var early = EarlyCiphertexts()
    private var revalidated: [LinkID: Instant] = [:]
    private var announces = TokenBucket(
        capacity: NoiseSessionLimits.announceBurst, perSecond: NoiseSessionLimits.announcesPerSecond)

    init(_ staticKey: NoiseStaticKey) { sessions = SessionManager(staticKey) }

    func surroundings(in mesh: MeshNode) -> SessionManager.Surroundings {
        SessionManager.Surroundings(
            isReachable: { mesh.registry.isReachable($0, at: mesh.now.monotonic) },
            isNeighbour: { mesh.linkTable.hasDirectLink(to: $0) })
    }

    // MARK: Receiving

    func handle(_ arrival: Arrival, in mesh: MeshNode) -> Verdict {
        guard arrival.recipient == mesh.me, arrival.sender != mesh.me else { return .accepted(relay: true) }
        // Our packets would bear a wrong time, and peers refuse those.
        guard mesh.isClockTrusted, let message = arrival.frame.payload() else {
            mesh.drops.count(.noiseRefused)
            return .accepted(relay: false)
        }
        if arrival.type == .noiseHandshake { return receive(handshake: message, arrival, in: mesh) }
        receive(ciphertext: message, arrival, in: mesh)
        return .accepted(relay: false)
    }

    private func receive(handshake message: [UInt8], _ arrival: Arrival, in mesh: MeshNode) -> Verdict {
        let sender = arrival.sender
        let isHome = mesh.linkTable[arrival.link]?.peer == sender || !mesh.linkTable.hasDirectLink(to: sender)
        // Whoever has proven where it is does not come from somewhere else: each such start would cost the session 20 s
        // of being able to receive only.
        guard isHome || !mesh.isNoiseProven(sender) || !sessions.isEstablished(with: sender) else {
            mesh.drops.count(.handshakeLimit)
            return .unknownAuthor(relay: false)
        }
        let reception = sessions.receive(
            message, from: sender, on: arrival.link, isHome ? .likely : .elsewhere, surroundings(in: mesh),
            at: mesh.now.monotonic, using: &mesh.random)
        switch reception {
        case .processed: break
        case .ignored: mesh.drops.count(.handshakeIgnored)
        case .limited:
            mesh.drops.count(.handshakeLimit)
            // Not looked at. A copy that comes over a link with something left is as good.
            return .unknownAuthor(relay: false)
        case .failed: mesh.drops.count(.handshakeFailed)
        case .wrongIdentity: mesh.drops.count(.handshakeMismatch)
        }
        settle(arrival, in: mesh)
        return .accepted(relay: false)
    }

    private func receive(ciphertext message: [UInt8], _ arrival: Arrival, in mesh: MeshNode) {
        let now = mesh.now.monotonic
        let sender = arrival.sender
        switch sessions.decrypt(message, from: sender, at: now) {
        case .opened(let plaintext, let fingerprint, let isCurrent):
            deliver(plaintext, from: sender, fingerprint, isCurrent: isCurrent, in: mesh)
        case .early:
            if !early.add(message, from: sender, on: arrival.link, at: now) { mesh.drops.count(.earlyCiphertextLimit) }
        case .refused:
            mesh.drops.count(.noiseRefused)
            // Only from where the peer is proven to be: anybody can send what does not open.
            if mesh.linkTable[arrival.link]?.provenPeer == sender, sessions.takeResync(with: sender, at: now) {
                start(with: sender, in: mesh)
            }
        case .noSession:
            mesh.drops.count(.noiseWithoutSession)
            guard mesh.registry[sender] != nil, sessions.admitCause(on: arrival.link, at: now) else { return }
            start(with: sender, in: mesh)
        }
    }

    private func deliver(
        _ plaintext: [UInt8], from peer: PeerID, _ fingerprint: Fingerprint, isCurrent: Bool, in mesh: MeshNode
    ) {
        mesh.registry.touch(peer, at: mesh.now.monotonic)
        guard let payload = NoisePayload(payload: plaintext) else { return mesh.drops.count(.malformedPayload) }
        mesh.count(.noisePayloadsReceived)
        guard payload.type == .authenticatedPeerState else {
            return mesh.emit(.noisePayload(payload, from: peer, fingerprint: fingerprint))
        }
        // A proof under keys that were pushed aside is none (chapter 02 §6.9).
        guard isCurrent, let state = AuthenticatedPeerState(body: payload.body),
            let signingKey = SigningPublicKey(state.signingPublicKey), let session = sessions[peer]?.session
        else { return mesh.drops.count(.malformedPayload) }
        guard exchanges[peer]?.accept(state) ?? false else { return }
        mesh.pin(signingKey, provenBy: session.remoteKey, capabilities: state.capabilities)
        pump(peer, in: mesh)
    }

    // MARK: Handshakes

    /// Begins a handshake, or replaces a session; nothing towards a peer out of reach, or one that just did not answer.
    func start(with peer: PeerID, in mesh: MeshNode) {
        let now = mesh.now.monotonic
        guard mesh.isRunning, mesh.isClockTrusted, mesh.registry.isReachable(peer, at: now) else { return }
        if let failed = sessions[peer]?.failedAt, now - failed < NoiseSessionLimits.failedPeerPause { return }
        sessions.start(with: peer, surroundings(in: mesh), at: now, using: &mesh.random)
        settle(nil, in: mesh)
    }

    /// Carries out what handshakes came to.
    /// - Parameter arrival: the packet that did it.
    private func settle(_ arrival: Arrival?, in mesh: MeshNode) {
        for outcome in sessions.takeOutcomes() {
            let peer = outcome.peer
            switch outcome.what {
            case .send(let message):
                mesh.sendNoise(.noiseHandshake, message, to: peer)
                if message.count == HandshakeSize.third, !mesh.linkTable.hasDirectLink(to: peer) {
                    paces[peer, default: SessionPace()].hold(
                        for: NoiseSessionLimits.relayedSettling, at: mesh.now.monotonic)
                }
            case .established: established(peer, arrival, in: mesh)
            case .restored(let isTerminal): if isTerminal { pump(peer, in: mesh) }
            case .failed(let reason):
                exchanges[peer] = nil
                paces[peer] = nil
                mesh.emit(.sessionFailed(peer, reason))
            }
        }
    }

    /// In the order of chapter 02 §4.7.
    private func established(_ peer: PeerID, _ arrival: Arrival?, in mesh: MeshNode) {
        guard let session = sessions[peer]?.session else { return }
        mesh.count(.sessionsEstablished)
        exchanges[peer] = PeerStateExchange(generation: session.generation)
        if let arrival, arrival.cameDirectly, mesh.linkTable.prove(arrival.link, as: peer) {
            mesh.emit(.linkProven(arrival.link, peer))
        }
        mesh.emit(.sessionEstablished(peer, fingerprint: session.fingerprint))
        for message in early.take(of: peer, at: mesh.now.monotonic) {
            if case .opened(let plaintext, let fingerprint, let isCurrent) = sessions.decrypt(
                message, from: peer, at: mesh.now.monotonic)
            {
                deliver(plaintext, from: peer, fingerprint, isCurrent: isCurrent, in: mesh)
            } else {
                mesh.drops.count(.noiseRefused)
            }
        }
        pump(peer, in: mesh)
        // Phones hand mail over when they hear an announce on a link they have proved.
        if announces.take(at: mesh.now.monotonic) { mesh.announcer.announceSoon(in: mesh) }
    }

    /// The peer said goodbye, or is to be trusted anew: nothing more is written or read under what was agreed with it.
    /// What waits for it goes on waiting.
    func forget(_ peer: PeerID, in mesh: MeshNode) {
        sessions.remove(peer)
        exchanges[peer] = nil
        paces[peer] = nil
        sendings[peer] = nil
        _ = early.take(of: peer, at: mesh.now.monotonic)
    }

    // MARK: Surroundings

    func observe(_ occurrence: MeshOccurrence, in mesh: MeshNode) {
        switch occurrence {
        case .announced(let announcement): announced(announcement, in: mesh)
        case .linkDown(let link, _):
            revalidated[link] = nil
            sessions.linkEnded(link)
        case .tick: maintain(in: mesh)
        case .stopping: removeAll()
        default: break
        }
    }

    private func announced(_ announcement: Announcement, in mesh: MeshNode) {
        let peer = announcement.peer
        if announcement.looksDirect, wantsRevalidation(peer, on: announcement.link, in: mesh) {
            revalidated[announcement.link] = mesh.now.monotonic
            start(with: peer, in: mesh)
        } else if !outbound.isEmpty(for: peer) {
            pump(peer, in: mesh)
            if !sessions.isEstablished(with: peer) { start(with: peer, in: mesh) }
        }
    }

    /// A session outlives links, at least with some peers; that it still leads over this one is to be shown (§4.10).
    private func wantsRevalidation(_ peer: PeerID, on link: LinkID, in mesh: MeshNode) -> Bool {
        guard sessions.isEstablished(with: peer), mesh.linkTable[link]?.peer == peer, !mesh.isNoiseProven(peer) else {
            return false
        }
        return revalidated[link].map { mesh.now.monotonic - $0 >= NoiseSessionLimits.revalidationInterval } ?? true
    }

    private func maintain(in mesh: MeshNode) {
        let now = mesh.now.monotonic
        for (peer, payload) in outbound.takeExpired(at: now) { mesh.emit(.undeliverable(payload, to: peer)) }
        for peer in sessions.expiring(at: now) { start(with: peer, in: mesh) }
        sessions.removeIdle(at: now)
        exchanges = exchanges.filter { sessions[$0.key] != nil }
        paces = paces.filter { sessions[$0.key] != nil }
        for peer in outbound.peers { pump(peer, in: mesh) }
    }

    private func removeAll() {
        sessions.removeAll()
        outbound.removeAll()
        exchanges.removeAll()
        paces.removeAll()
        sendings.removeAll()
        early.removeAll()
        revalidated.removeAll()
    }

    // MARK: Time

    var nextDeadline: Instant? {
        switch (sessions.nextDeadline, sendings.next) {
        case (let handshake?, let sending?): min(handshake, sending)
        case (let handshake, let sending): handshake ?? sending
        }
    }

    func timeout(in mesh: MeshNode) {
        sessions.timeout(surroundings(in: mesh), at: mesh.now.monotonic, using: &mesh.random)
        settle(nil, in: mesh)
        for peer in sendings.takeDue(at: mesh.now.monotonic) { pump(peer, in: mesh) }
    }

    func measure(_ note: (_ table: StaticString, _ count: Int, _ bound: Int) -> Void) {
        note("noise-sessions", sessions.count, NoiseSessionLimits.sessions)
        note("noise-rates", sessions.ratedCount, 3 * NoiseSessionLimits.ratedPeers)
        note("noise-early", early.count, NoiseSessionLimits.earlyTotal)
        note("noise-queued", outbound.count, NoiseSessionLimits.queuedTotal)
        note("noise-revalidated", revalidated.count, MeshLimits.linkCapacity)
    }
}
