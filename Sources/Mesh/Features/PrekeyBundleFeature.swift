import Basics
import Crypto
import Wire

/// Prekey bundles of others, carried so that owners who are away can still be written to (chapter 04 §12.2). A bundle
/// is kept once its own and its packet's signature verify under the owner's bound key; until the owner announces
/// itself, it waits.
final class PrekeyBundleFeature: MeshFeature {
    let types: [MessageType] = [.prekeyBundle]
    let interests: MeshOccurrence.Kinds = [.announced, .life, .tick]
    let isTimed = false

    private struct Parked {
        let frame: Frame
        let heardFrom: PeerID
        let bringer: Bringer
        let since: Instant
    }

    /// The latest an owner.
    private var parked: [PeerID: Parked] = [:]

    func handle(_ arrival: Arrival, in mesh: MeshNode) -> Verdict {
        guard arrival.isBroadcast, arrival.sender != mesh.me else { return .accepted(relay: arrival.sender != mesh.me) }
        guard let owner = owner(of: arrival.frame), owner.peerID == arrival.sender else {
            mesh.drops.count(.malformedPayload)
            return .accepted(relay: false)
        }
        guard let key = mesh.boundSigningKey(of: owner) else {
            park(arrival, at: mesh.now.monotonic)
            mesh.drops.count(.unknownAuthor)
            return .unknownAuthor(relay: true)
        }
        guard let bundle = verified(arrival.frame, under: key, in: mesh) else {
            mesh.drops.count(.badSignature)
            return .forged
        }
        report(bundle, in: mesh)
        mesh.offerToGossip(arrival)
        return .accepted(relay: true)
    }

    func observe(_ occurrence: MeshOccurrence, in mesh: MeshNode) {
        switch occurrence {
        case .announced(let announcement):
            guard !parked.isEmpty, let waiting = parked.removeValue(forKey: announcement.peer) else { return }
            guard let key = owner(of: waiting.frame).flatMap({ mesh.boundSigningKey(of: $0) }),
                let bundle = verified(waiting.frame, under: key, in: mesh)
            else { return mesh.drops.count(.badSignature) }
            report(bundle, in: mesh)
            mesh.tellFeatures(.publishable(waiting.frame, heardFrom: waiting.heardFrom, bringer: waiting.bringer))
        case .tick:
            guard !parked.isEmpty, mesh.maintenance.isCleanup else { return }
            parked = parked.filter { mesh.now.monotonic - $0.value.since < SyncLimits.parkedPrekeyLife }
        case .stopping: parked.removeAll()
        default: break
        }
    }

    func measure(_ note: (_ table: StaticString, _ count: Int, _ bound: Int) -> Void) {
        note("parked-prekeys", parked.count, SyncLimits.parkedPrekeyOwners)
    }

    private func owner(of frame: Frame) -> NoisePublicKey? {
        frame.payload().flatMap { PrekeyBundle(payload: $0) }.flatMap { NoisePublicKey($0.noisePublicKey) }
    }

    /// Nothing of it is verified yet, so what has to go is of whoever brought most.
    private func park(_ arrival: Arrival, at now: Instant) {
        guard arrival.frame.bytes.count <= SyncLimits.stateFrameBytes else { return }
        if parked[arrival.sender] == nil, parked.count >= SyncLimits.parkedPrekeyOwners {
            var loads: [Bringer: Int] = [:]
            for waiting in parked.values { loads[waiting.bringer, default: 0] += 1 }
            let least = parked.min { a, b in
                let (here, there) = (loads[a.value.bringer] ?? 0, loads[b.value.bringer] ?? 0)
                return (there, a.value.since, a.key) < (here, b.value.since, b.key)
            }
            if let least { parked[least.key] = nil }
        }
        parked[arrival.sender] = Parked(
            frame: arrival.frame, heardFrom: arrival.ingressPeer, bringer: arrival.bringer, since: now)
    }

    private func verified(
        _ frame: Frame, under key: SigningPublicKey, in mesh: MeshNode
    ) -> Verified<PrekeyBundle>? {
        guard let verified = VerifiedFrame(verifying: frame, under: key, memory: mesh.memory),
            let bundle = PrekeyBundle(payload: verified.packet.payload)
        else { return nil }
        return Verified(bundle, under: key)
    }

    private func report(_ bundle: Verified<PrekeyBundle>, in mesh: MeshNode) {
        if mesh.configuration.takesMail { mesh.emit(.prekeyBundle(bundle)) }
    }
}

extension MeshNode {
    /// Offers the node's own prekeys to whoever is to write to it while it is away: broadcast, and kept by gossip.
    public func publish(_ bundle: PrekeyBundle, at now: Now) {
        self.now = now
        guard isRunning, let payload = bundle.encoded() else { return }
        let packet = Packet(type: .prekeyBundle, timestamp: now.wall, senderID: me, payload: payload)
        guard let frame = originate(packet, signed: true)?.frame else { return }
        tellFeatures(.publishable(frame, heardFrom: nil))
    }

    /// The signing key that a verified announce bound to exactly this Noise key.
    func boundSigningKey(of noiseKey: NoisePublicKey) -> SigningPublicKey? {
        let peer = noiseKey.peerID
        if let live = registry[peer] { return live.noiseKey == noiseKey ? live.signingKey : nil }
        guard let pinned = identities[peer], pinned.noiseKey == noiseKey else { return nil }
        return pinned.authenticatedSigningKey ?? pinned.signingKey
    }
}
