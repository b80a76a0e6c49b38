import Basics
import Crypto
import Wire

extension NoiseFeature {
    /// Queues a payload and sends what can go now.
    func enqueue(_ payload: NoisePayload, to peer: PeerID, in mesh: MeshNode) -> NoiseDispatch {
        let now = mesh.now.monotonic
        // Speech that has to wait is worth nothing (chapter 02 §6.5).
        if payload.type == .voiceFrame, !sessions.canSend(to: peer, at: now) || !outbound.isEmpty(for: peer) {
            return .refused
        }
        guard peer != mesh.me, payload.type != .authenticatedPeerState, payload.isSendable,
            outbound.add(payload, for: peer, at: now)
        else { return .refused }
        pump(peer, in: mesh)
        if outbound.isEmpty(for: peer) { return .sent }
        if sessions[peer]?.session.map({ $0.isSpent(at: now) }) ?? true { start(with: peer, in: mesh) }
        return .queued
    }

    /// Sends what waits for the peer, in order and as fast as its way allows: our state first, then the queue.
    func pump(_ peer: PeerID, in mesh: MeshNode) {
        let now = mesh.now.monotonic
        sendings[peer] = nil
        while let plaintext = nextPlaintext(for: peer, in: mesh) {
            guard sessions.canSend(to: peer, at: now), hasWay(to: peer, in: mesh) else { return }
            // What follows must not overtake fragments still waiting to leave.
            guard !mesh.trains.isBusy(with: peer) else {
                sendings[peer] = now + NoiseSessionLimits.trainPoll
                return
            }
            if let later = paces[peer, default: SessionPace()].wait(at: now) {
                sendings[peer] = later
                return
            }
            guard let message = sessions.encrypt(plaintext, to: peer, at: now) else { return }
            let wentOut = mesh.sendNoise(.noiseEncrypted, message, to: peer)
            if wentOut { mesh.count(.noisePayloadsSent) }
            finishFirst(for: peer, wentOut: wentOut, in: mesh)
            if !mesh.linkTable.hasDirectLink(to: peer) {
                paces[peer]?.hold(for: NoiseSessionLimits.relayedSpacing, at: now)
            }
        }
    }

    /// Whether a packet for the peer would go out now, and to somebody lately heard of.
    private func hasWay(to peer: PeerID, in mesh: MeshNode) -> Bool {
        let now = mesh.now.monotonic
        guard mesh.linkTable.count > 0 else { return false }
        if mesh.registry.isReachable(peer, at: now) { return true }
        // Whoever shakes hands need not have announced itself here.
        return sessions[peer]?.session.map { now - $0.lastHeard <= MeshLimits.reachableFor } ?? false
    }

    private func nextPlaintext(for peer: PeerID, in mesh: MeshNode) -> [UInt8]? {
        if let exchange = exchanges[peer], exchange.pendingCopies > 0 {
            let state = AuthenticatedPeerState(
                capabilities: mesh.announcer.advertised, signingPublicKey: mesh.identity.signing.publicKey.bytes)
            if let body = state.encoded() {
                return NoisePayload(type: .authenticatedPeerState, body: body).encoded()
            }
        }
        return outbound.first(for: peer)?.encoded()
    }

    private func finishFirst(for peer: PeerID, wentOut: Bool, in mesh: MeshNode) {
        if let exchange = exchanges[peer], exchange.pendingCopies > 0 {
            exchanges[peer]?.noteSent()
        } else if let payload = outbound.takeFirst(for: peer), !wentOut {
            mesh.emit(.undeliverable(payload, to: peer))
        }
    }
}

extension NoisePayload {
    /// Within what a session carries (chapter 02 §3.6); one byte is the type's.
    fileprivate var isSendable: Bool {
        let limit = type == .privateFile ? NoiseLimits.privateFilePlaintext : NoiseLimits.plaintext
        return body.count < limit
    }
}

extension MeshNode {
    /// Unsigned, and never spooled: a handshake message that waited belongs to an attempt that is over, and a transport
    /// message would be overtaken (chapter 02 §4.1, §3.5).
    @discardableResult
    func sendNoise(_ type: MessageType, _ message: [UInt8], to peer: PeerID) -> Bool {
        let packet = Packet(
            version: message.count > NoiseLimits.plaintext ? 2 : 1, type: type, timestamp: now.wall, senderID: me,
            recipientID: peer, payload: message)
        return originate(packet, signed: false, canWait: false)?.wentOut ?? false
    }
}
