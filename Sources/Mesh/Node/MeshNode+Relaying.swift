import Basics
import Wire

extension MeshNode {
    /// Steps 10 and 11 of chapter 03 B2: along the source route if there is one, else by flooding.
    func relay(_ arrival: Arrival, key: DuplicateKey, _ verdict: Verdict) {
        switch verdict {
        case .accepted(relay: true): break
        case .unknownAuthor(relay: true):
            guard linkTable.admitUnverifiedRelay(from: arrival.link, at: now.monotonic) else {
                return drops.count(.unverifiedRelayBudget)
            }
        case .accepted, .unknownAuthor, .forged, .notNow: return
        }
        if arrival.frame.layout.routeCount == 0, arrival.recipient != me { return flood(arrival, key) }
        let step = RouteForwarding.decide(
            type: arrival.type, ttl: arrival.ttl, recipient: arrival.recipient, route: arrival.frame.route, me: me,
            isConnected: { registry.isConnected($0) })
        switch step {
        case .suppress: return
        case .forward(let next, let ttl): forward(arrival, to: next, ttl: ttl)
        case .flood: flood(arrival, key)
        }
    }

    private func forward(_ arrival: Arrival, to next: PeerID, ttl: UInt8) {
        var transmission = self.transmission(relaying: arrival, ttl: ttl)
        transmission.target = next
        transmission.isRouted = true
        transmission.isPadded = false
        transmission.heardOn = [arrival.link]
        if transmit(transmission) { count(.packetsForwarded) }
    }

    private func flood(_ arrival: Arrival, _ key: DuplicateKey) {
        let decision = arrival.frame.withView { PacketGate.relayDecision(for: $0, degree: registry.degree, me: me) }
        guard let decision else { return }
        let transmission = self.transmission(relaying: arrival, ttl: decision.ttl)
        let due = now.monotonic + decision.jitter(using: &random)
        if !relays.add(key, transmission, heardOn: arrival.link, due: due) { drops.count(.relayScheduleFull) }
    }

    /// Byte for byte what was received, except for the TTL. Where it was heard is for the caller to add.
    private func transmission(relaying arrival: Arrival, ttl: UInt8) -> Transmission {
        var frame = arrival.frame
        frame.setTTL(ttl)
        let relayClass = RelayClass(type: arrival.type, hasRecipient: arrival.recipient != nil)
        return Transmission(
            frame: frame, ingressPeer: arrival.ingressPeer,
            outputClass: linkTable.outputClass(of: relayClass, from: arrival.link, at: now.monotonic),
            since: now.monotonic)
    }

    /// A copy of a packet whose relay still waits: its neighbour needs none, and when nobody else is left the relay is
    /// cancelled.
    func noteCopy(_ admission: PacketGate.Admission, on link: LinkID) {
        guard let heard = relays.noteCopy(of: admission.key, on: link), !linkTable.hasMoreEnds(thanHeardOn: heard),
            let pending = relays[admission.key], links(for: pending.load, heardOn: pending.heardOn).isEmpty
        else { return }
        relays.cancel(admission.key)
        drops.count(.relayCancelled)
    }

    func runDueRelays() {
        while let pending = relays.takeDue(at: now.monotonic) {
            if transmit(pending.load, heardOn: pending.heardOn) { count(.packetsRelayed) }
        }
    }
}
