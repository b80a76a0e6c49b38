import Basics
import Wire

/// Answers pings, and sends our own (chapter 03 B16). The budget is per ingress peer, never per claimed sender; on a
/// link nobody is bound to, where the ingress peer is just that claim, it is the link's.
final class PingFeature: MeshFeature {
    let types: [MessageType] = [.ping, .pong]
    let interests: MeshOccurrence.Kinds = []
    let isTimed = false

    private struct Probe {
        let peer: PeerID
        let sent: Instant
    }

    private enum Source: Hashable {
        case neighbour(PeerID)
        case unboundLink(LinkID)
    }

    private var budgets: [Source: SlidingWindow] = [:]
    private var probes: [UInt64: Probe] = [:]

    func handle(_ arrival: Arrival, in mesh: MeshNode) -> Verdict {
        guard arrival.recipient == mesh.me else { return .accepted(relay: true) }
        guard let payload = arrival.frame.payload(), let ping = PingPayload(payload: payload) else {
            mesh.drops.count(.malformedPayload)
            return .accepted(relay: false)
        }
        if arrival.type == .ping { answer(ping, arrival, in: mesh) } else { match(ping, arrival, in: mesh) }
        return .accepted(relay: false)
    }

    private func answer(_ ping: PingPayload, _ arrival: Arrival, in mesh: MeshNode) {
        let source = mesh.linkTable[arrival.link]?.peer.map(Source.neighbour) ?? .unboundLink(arrival.link)
        guard admit(source, at: mesh.now.monotonic) else { return mesh.drops.count(.pingBudget) }
        let pong = PingPayload(nonce: ping.nonce, originTTL: Packet.originTTL)
        mesh.originate(
            Packet(
                type: .pong, timestamp: mesh.now.wall, senderID: mesh.me, recipientID: arrival.sender,
                payload: pong.encoded()),
            signed: false)
        mesh.count(.pingsAnswered)
    }

    private func match(_ pong: PingPayload, _ arrival: Arrival, in mesh: MeshNode) {
        guard let probe = probes[pong.nonce], probe.peer == arrival.sender else { return }
        probes[pong.nonce] = nil
        let roundTrip = mesh.now.monotonic - probe.sent
        guard roundTrip <= MeshLimits.pingTimeout else { return }
        mesh.emit(.pong(arrival.sender, roundTrip: roundTrip, hops: pong.hops(receivedTTL: arrival.ttl)))
    }

    func probe(_ peer: PeerID, in mesh: MeshNode) {
        probes = probes.filter { mesh.now.monotonic - $0.value.sent <= MeshLimits.pingTimeout }
        guard probes.count < MeshLimits.pingProbes else { return }
        let ping = PingPayload(nonce: mesh.random.next(), originTTL: Packet.originTTL)
        probes[ping.nonce] = Probe(peer: peer, sent: mesh.now.monotonic)
        mesh.originate(
            Packet(
                type: .ping, timestamp: mesh.now.wall, senderID: mesh.me, recipientID: peer, payload: ping.encoded()),
            signed: false)
    }

    private func admit(_ source: Source, at now: Instant) -> Bool {
        if budgets[source] == nil, budgets.count >= MeshLimits.pingPeers {
            budgets = budgets.filter { entry in
                var window = entry.value
                return window.count(at: now) > 0
            }
            guard budgets.count < MeshLimits.pingPeers else { return false }
        }
        let fresh = SlidingWindow(limit: MeshLimits.pingAnswers, window: MeshLimits.pingWindow)
        return budgets[source, default: fresh].take(at: now)
    }
}

extension MeshNode {
    /// Probes a peer; `MeshEvent.pong` answers, or nothing does within `MeshLimits.pingTimeout`.
    public func ping(_ peer: PeerID, at now: Now) {
        self.now = now
        guard isRunning, peer != me else { return }
        diagnostics.probe(peer, in: self)
    }
}
