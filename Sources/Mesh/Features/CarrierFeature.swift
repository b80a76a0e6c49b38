import Basics
import Crypto
import Wire

/// Nostr carriers (chapter 06 §2). Uplink ones are directed and signed by their depositor, downlink ones broadcast and
/// authentic only by the event inside, which is none of the mesh's business.
final class CarrierFeature: MeshFeature {
    let types: [MessageType] = [.nostrCarrier]
    let interests: MeshOccurrence.Kinds = []
    let isTimed = false

    func handle(_ arrival: Arrival, in mesh: MeshNode) -> Verdict {
        if arrival.recipient == mesh.me { return handleDeposit(arrival, in: mesh) }
        if arrival.isBroadcast {
            if let carrier = carrier(in: arrival, isDeposit: false, mesh) {
                mesh.emit(.carrier(carrier, addressedToUs: false, depositor: nil))
            }
        }
        return .accepted(relay: true)
    }

    /// The depositor must be in the live registry: pinned identities do not count here.
    private func handleDeposit(_ arrival: Arrival, in mesh: MeshNode) -> Verdict {
        switch mesh.authenticate(arrival, liveOnly: true) {
        case .unknownAuthor:
            mesh.drops.count(.unknownAuthor)
            return .unknownAuthor(relay: false)
        case .forged:
            mesh.drops.count(.badSignature)
            return .forged
        case .verified:
            if let carrier = carrier(in: arrival, isDeposit: true, mesh) {
                mesh.emit(.carrier(carrier, addressedToUs: true, depositor: arrival.sender))
            }
            return .accepted(relay: false)
        }
    }

    private func carrier(in arrival: Arrival, isDeposit: Bool, _ mesh: MeshNode) -> NostrCarrier? {
        guard let carrier = arrival.frame.payload().flatMap(NostrCarrier.init(payload:)) else {
            mesh.drops.count(.malformedPayload)
            return nil
        }
        guard carrier.direction.isUplink == isDeposit else {
            mesh.drops.count(.misdirectedCarrier)
            return nil
        }
        return carrier
    }
}

extension NostrCarrier.Direction {
    /// Towards a gateway or bridge.
    var isUplink: Bool { self == .toGateway || self == .toBridge }
}

extension MeshNode {
    /// Deposits a carrier with a gateway or bridge: directed and signed. There is no acknowledgement.
    /// - Returns: false when the peer is not reachable, the direction is a downlink one, or the carrier does not
    ///   encode.
    @discardableResult
    public func sendCarrier(_ carrier: NostrCarrier, to peer: PeerID, at now: Now) -> Bool {
        self.now = now
        guard isRunning, carrier.direction.isUplink, registry.isReachable(peer, at: now.monotonic),
            let payload = carrier.encoded()
        else { return false }
        let packet = Packet(
            type: .nostrCarrier, timestamp: now.wall, senderID: me, recipientID: peer, payload: payload)
        return originate(packet, signed: true)?.wentOut ?? false
    }

    /// Puts a carrier on the air for everybody, unsigned.
    /// - Returns: false when the direction is an uplink one, or the carrier does not encode.
    @discardableResult
    public func broadcastCarrier(_ carrier: NostrCarrier, at now: Now) -> Bool {
        self.now = now
        guard isRunning, !carrier.direction.isUplink, let payload = carrier.encoded() else { return false }
        let packet = Packet(type: .nostrCarrier, timestamp: now.wall, senderID: me, payload: payload)
        return originate(packet, signed: false) != nil
    }
}
