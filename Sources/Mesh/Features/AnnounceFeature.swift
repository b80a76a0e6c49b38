import Basics
import Crypto
import Wire

/// Receives announces: checks them, and lets a verified one take effect on registry, topology, identities and link
/// bindings (chapter 03 B10.4, B10.5; chapter 02 §2.4). An announce that fails a check changes nothing and is not
/// relayed.
final class AnnounceFeature: MeshFeature {
    let types: [MessageType] = [.announce]
    let interests: MeshOccurrence.Kinds = []
    let isTimed = false

    func handle(_ arrival: Arrival, in mesh: MeshNode) -> Verdict {
        let known = mesh.registry[arrival.sender]
        do {
            let verified = try check(arrival, known, in: mesh)
            mesh.count(.announcesVerified)
            let isStranger = mesh.registry[arrival.sender] == nil && mesh.identities[arrival.sender] == nil
            guard !isStranger || mesh.linkTable.admitIdentity(on: arrival.link, at: mesh.now.monotonic) else {
                mesh.drops.count(.identityBudget)
                return .notNow
            }
            // Those behind us who heard the goodbye are not to see the peer again either.
            if mesh.departures.outdate(arrival.sender, announcedAt: arrival.timestamp, at: mesh.now.monotonic) {
                mesh.drops.count(.announceOutdated)
                return .accepted(relay: false)
            }
            // Replayed, or overtaken on the way: what the peer said since counts (Android's rule, chapter 03 B9.1).
            if let known, arrival.timestamp < known.announcedAt {
                mesh.drops.count(.announceOutdated)
                return .accepted(relay: true)
            }
            if !arrival.isSyncAnswer { mesh.tellTime(of: verified, on: arrival.link) }
            if !accept(verified, arrival, former: known, in: mesh) { mesh.drops.count(.registryFull) }
            return .accepted(relay: true)
        } catch {
            mesh.drops.count(MeshDrop(error))
            // Only a signature can be wrong on a copy of a genuine announce: the duplicate key covers the rest.
            let isForgery = error == .invalidSignature || error == .missingSignature
            return isForgery ? .forged : .accepted(relay: false)
        }
    }

    private func check(
        _ arrival: Arrival, _ live: Peer?, in mesh: MeshNode
    ) throws(AnnounceRejection) -> VerifiedAnnounce {
        try mesh.verify(
            announce: arrival.frame, live, at: mesh.isClockTrusted ? mesh.now.wall : arrival.timestamp)
    }

    // MARK: Effects

    /// - Returns: false when the registry is full of connected peers.
    private func accept(
        _ verified: VerifiedAnnounce, _ arrival: Arrival, former: Peer?, in mesh: MeshNode
    ) -> Bool {
        let announce = verified.announce
        let sender = arrival.sender
        if arrival.looksDirect { bind(arrival, in: mesh) }
        let isConnected = mesh.linkTable.hasDirectLink(to: sender)
        let peer = Peer(
            id: sender, nickname: announce.nickname, noiseKey: verified.noiseKey, signingKey: verified.signingKey,
            isConnected: isConnected, lastSeen: mesh.now.monotonic, capabilities: announce.capabilities,
            bridgeCell: announce.bridgeGeohash, announcedAt: arrival.timestamp, link: arrival.link)
        let (accepted, evicted) = mesh.registry.upsert(peer) { mesh.linkTable[$0] != nil }
        if let evicted { mesh.forgetPresence(of: evicted) }
        guard accepted else { return false }

        if let neighbours = announce.directNeighbors {
            mesh.routes.claim(neighbours, by: sender, at: mesh.now.monotonic)
        }
        learn(verified, sender, in: mesh)

        let becameConnected = isConnected && !(former?.isConnected ?? false)
        if becameConnected { mesh.refreshOwnClaim() }
        report(peer, former: former, becameConnected: becameConnected, in: mesh)
        if arrival.looksDirect {
            mesh.closeRetired(
                mesh.linkTable.retireRedundant(of: sender, ingress: arrival.link, at: mesh.now.monotonic))
        }
        mesh.tellFeatures(
            .announced(
                Announcement(
                    peer: sender, link: arrival.link, looksDirect: arrival.looksDirect, isNew: former == nil,
                    becameConnected: becameConnected, frame: arrival.frame)))
        mesh.offerToGossip(arrival)
        return true
    }

    /// Binds the link the announce came in on. Phones bind before they verify, because they verify later; here both
    /// happen at once, so a forged announce binds nothing (chapter 03 A11.1, A11.2).
    private func bind(_ arrival: Arrival, in mesh: MeshNode) {
        mesh.linkTable.bind(arrival.link, to: arrival.sender)
        guard let bound = mesh.linkTable[arrival.link]?.peer, bound != arrival.sender else { return }
        guard
            let rebind = mesh.linkTable.rebind(arrival.link, to: arrival.sender, at: mesh.now.monotonic)
        else { return mesh.drops.count(.rebindRefused) }
        mesh.closeRetired(rebind.closed)
        guard !mesh.linkTable.hasDirectLink(to: rebind.formerPeer) else { return }
        mesh.routes.remove(rebind.formerPeer)
        // An implicit leave of whoever was there before.
        if mesh.registry.remove(rebind.formerPeer) != nil { mesh.forgetPresence(of: rebind.formerPeer) }
    }

    private func learn(_ verified: VerifiedAnnounce, _ sender: PeerID, in mesh: MeshNode) {
        let nickname = verified.announce.nickname
        if mesh.identities.confirm(
            sender, noiseKey: verified.noiseKey, signingKey: verified.signingKey, nickname: nickname)
        {
            return
        }
        let known = mesh.identities[sender]
        let record = IdentityRecord(
            noiseKey: verified.noiseKey, peerID: sender, signingKey: verified.signingKey,
            authenticatedSigningKey: known?.authenticatedSigningKey, nickname: nickname)
        if mesh.learn(record) == .refused { mesh.drops.count(.identityBookFull) }
    }

    private func report(_ peer: Peer, former: Peer?, becameConnected: Bool, in mesh: MeshNode) {
        let isNews =
            former.map {
                $0.nickname != peer.nickname || $0.capabilities != peer.capabilities || $0.bridgeCell != peer.bridgeCell
            } ?? true
        guard becameConnected || isNews, let snapshot = mesh.registry.snapshot(peer.id, at: mesh.now.monotonic)
        else { return }
        mesh.emit(becameConnected ? .peerConnected(snapshot) : .peerUpdated(snapshot))
    }
}

extension MeshDrop {
    init(_ rejection: AnnounceRejection) {
        switch rejection {
        case .malformed: self = .malformedPayload
        case .senderMismatch: self = .announceMismatch
        case .selfAnnounce: self = .selfLoopback
        case .stale: self = .announceStale
        case .keyMismatch, .authenticatedSigningKeyMismatch, .signingKeyMismatch: self = .pinnedKeyMismatch
        case .missingSignature, .invalidSignature: self = .badSignature
        }
    }
}

extension MeshNode {
    /// - Parameters:
    ///   - live: what the registry holds under the sender's ID.
    ///   - wall: the time its age is judged by.
    func verify(announce frame: Frame, _ live: Peer?, at wall: WallTime) throws(AnnounceRejection) -> VerifiedAnnounce {
        let claim = try ClaimedAnnounce(frame, local: me, bound: live?.noiseKey, memory: memory, at: wall)
        let pinned = identities.pins(of: frame.senderID)
        let pins = PeerPins(
            noiseKey: live?.noiseKey ?? pinned.noiseKey, authenticatedSigningKey: pinned.authenticatedSigningKey,
            signingKey: live?.signingKey ?? pinned.signingKey)
        return try VerifiedAnnounce(verifying: claim, against: pins, memory: memory)
    }

    /// The registry removed a peer that did not say goodbye.
    func forgetPresence(of peer: PeerID) {
        emit(.peerRemoved(peer))
        tellFeatures(.removed(peer))
    }
}
