import Basics
import Crypto
import Wire

/// Sealed mail, type 0x04 (chapter 06 §6.1, §6.3): reports envelopes addressed to this node, and each verified announce
/// with what is proven about the link it came over, which is when mail is handed over. What is addressed to others is
/// relayed like any directed packet, and never looked into.
final class MailFeature: MeshFeature {
    let types: [MessageType] = [.courierEnvelope]
    let interests: MeshOccurrence.Kinds = [.announced]
    let isTimed = false

    func handle(_ arrival: Arrival, in mesh: MeshNode) -> Verdict {
        guard arrival.recipient == mesh.me, arrival.sender != mesh.me else { return .accepted(relay: true) }
        guard let envelope = arrival.frame.payload().flatMap(CourierEnvelope.init(payload:)) else {
            mesh.drops.count(.malformedPayload)
            return .accepted(relay: false)
        }
        // The seal vouches for a letter to us, whoever brings it: only leaving one for others takes a signature.
        switch mesh.authenticate(arrival, liveOnly: true) {
        case .verified:
            // Not by the ingress peer: that is whoever says so where nobody is bound yet, and of what came in fragments
            // their author, however far away.
            let isNeighbour = mesh.linkTable[arrival.link]?.peer == arrival.sender
            mesh.emit(
                .mail(
                    envelope, from: arrival.sender,
                    depositor: isNeighbour ? mesh.registry[arrival.sender]?.noiseKey : nil))
            return .accepted(relay: false)
        case .unknownAuthor:
            mesh.emit(.mail(envelope, from: arrival.sender, depositor: nil))
            return .unknownAuthor(relay: false)
        case .forged:
            mesh.emit(.mail(envelope, from: arrival.sender, depositor: nil))
            return .forged
        }
    }

    func observe(_ occurrence: MeshOccurrence, in mesh: MeshNode) {
        guard case .announced(let announcement) = occurrence, let peer = mesh.registry[announcement.peer] else {
            return
        }
        mesh.emit(.announced(peer.id, peer.noiseKey, standing(of: announcement, in: mesh)))
    }

    private func standing(of announcement: Announcement, in mesh: MeshNode) -> AnnounceStanding {
        guard announcement.looksDirect else { return .relayed }
        let isProven =
            mesh.linkTable[announcement.link]?.provenPeer == announcement.peer
            && mesh.noise.sessions.isEstablished(with: announcement.peer)
        return isProven ? .proven : .direct
    }
}

extension MeshNode {
    /// Sends an envelope to one peer: signed, with the origin TTL.
    /// - Returns: whether every part of it was written to a link of the peer's; for a flood, whether it went at all.
    @discardableResult
    public func sendMail(
        _ envelope: CourierEnvelope, to peer: PeerID, over route: MailRoute, at now: Now
    ) -> Bool {
        self.now = now
        guard isRunning, isClockTrusted, let payload = envelope.encoded() else { return false }
        let packet = Packet(
            type: .courierEnvelope, timestamp: now.wall, senderID: me, recipientID: peer, payload: payload)
        switch route {
        case .flood: return originate(packet, signed: true)?.wentOut ?? false
        case .link: return originate(packet, signed: true, target: peer, isStrict: true)?.wentOut ?? false
        case .provenLink:
            guard let link = provenLinks(of: peer).first else { return false }
            return originate(packet, signed: true, target: peer, onlyLink: link)?.wentOut ?? false
        }
    }
}
