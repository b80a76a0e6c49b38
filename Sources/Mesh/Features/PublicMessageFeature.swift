import Basics
import Crypto
import Wire

/// Public messages (chapter 03 B14).
final class PublicMessageFeature: MeshFeature {
    let types: [MessageType] = [.message]
    let interests: MeshOccurrence.Kinds = []
    let isTimed = false

    /// B14 rules 1 and 2.
    enum Admission: Equatable {
        case accepted
        /// Directed: delivered but not stored by the reference; a gateway ignores it.
        case directed
        case ownEcho
        case stale
    }

    static func admit(
        sender: PeerID, recipient: PeerID?, ttl: UInt8, timestamp: WallTime, me: PeerID, now: WallTime
    ) -> Admission {
        if sender == me, ttl != 0 { return .ownEcho }
        guard recipient == nil || recipient == .broadcast else { return .directed }
        return timestamp.isOlder(thanMilliseconds: MeshLimits.publicMessageMaxAgeMilliseconds, at: now)
            ? .stale : .accepted
    }

    func handle(_ arrival: Arrival, in mesh: MeshNode) -> Verdict {
        switch Self.admit(
            sender: arrival.sender, recipient: arrival.recipient, ttl: arrival.ttl, timestamp: arrival.timestamp,
            me: mesh.me, now: mesh.isClockTrusted ? mesh.now.wall : arrival.timestamp)
        {
        case .ownEcho: return refuse(.selfLoopback, relay: false, in: mesh)
        case .stale: return refuse(.stale, relay: true, in: mesh)
        case .accepted, .directed: break
        }
        switch mesh.authenticate(arrival) {
        case .unknownAuthor:
            mesh.drops.count(.unknownAuthor)
            return .unknownAuthor(relay: true)
        case .forged:
            mesh.drops.count(.badSignature)
            return .forged
        case .verified(let verified):
            if arrival.isBroadcast { deliver(verified.packet, arrival, in: mesh) }
            return .accepted(relay: true)
        }
    }

    private func refuse(_ reason: MeshDrop, relay: Bool, in mesh: MeshNode) -> Verdict {
        mesh.drops.count(reason)
        return .accepted(relay: relay)
    }

    private func deliver(_ packet: Packet, _ arrival: Arrival, in mesh: MeshNode) {
        guard let nickname = mesh.nickname(of: packet.senderID) else { return mesh.drops.count(.unknownAuthor) }
        mesh.offerToGossip(arrival)
        // Our own, offered back by sync: kept for others, no news here (chapter 04 §8.2).
        guard packet.senderID != mesh.me else { return }
        guard let text = String(validating: packet.payload, as: UTF8.self) else {
            return mesh.drops.count(.malformedPayload)
        }
        mesh.count(.messagesDelivered)
        mesh.emit(
            .publicMessage(
                PublicMessage(
                    sender: packet.senderID, nickname: nickname, text: text, timestamp: packet.timestamp,
                    stableID: StableMessageID.make(
                        sender: packet.senderID, timestamp: packet.timestamp, content: text),
                    isReplay: arrival.isSyncAnswer)))
    }
}

extension MeshNode {
    /// Says something to everybody.
    /// - Returns: the message as others will see it; nil when it is empty, longer than
    ///   `MeshLimits.publicMessageCharacters` or 65,535 bytes, or the node is stopped.
    @discardableResult
    public func say(_ text: String, at now: Now) -> PublicMessage? {
        self.now = now
        let payload = Array(text.utf8)
        guard isRunning, !payload.isEmpty, payload.count <= MeshLimits.publicMessageBytes,
            text.count <= MeshLimits.publicMessageCharacters
        else { return nil }
        let packet = Packet(type: .message, timestamp: now.wall, senderID: me, payload: payload)
        guard let sent = originate(packet, signed: true) else { return nil }
        tellFeatures(.publishable(sent.frame, heardFrom: nil))
        return PublicMessage(
            sender: me, nickname: announcer.name, text: text, timestamp: now.wall,
            stableID: StableMessageID.make(sender: me, timestamp: now.wall, content: text), isReplay: false)
    }
}
