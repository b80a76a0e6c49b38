import Basics
import Crypto
import Gateway
import Messenger
import Nostr
import Wire

/// What the engines want done, as it goes in this city.
extension City {
    func carryOutEffects(of node: CityNode) {
        var isQuiet = false
        while !isQuiet {
            isQuiet = true
            while let effect = node.courier?.nextEffect() {
                isQuiet = false
                carryOut(effect, of: node)
            }
            while let effect = node.messenger?.nextEffect() {
                isQuiet = false
                carryOut(effect, of: node)
            }
        }
    }

    private func carryOut(_ effect: CourierEffect, of node: CityNode) {
        switch effect {
        case .send(let envelope, let peer, let route, let ticket):
            node.courier?.sent(ticket, isWritten: send(envelope, from: node, to: peer, route), at: now)
        case .prove(let peer):
            guard let other = index(of: peer), node.neighbours.contains(other) else { break }
            shakeHands(node.number, other)
        case .open(let envelope, let drop):
            let isHandled = node.messenger?.take(envelope, at: now) ?? true
            node.courier?.opened(drop: drop, isHandled: isHandled, at: now)
        case .publish(let event, let attempt): publish(event, attempt, from: node.number)
        case .subscribe(let id, let filter):
            guard isOnline(node.number) else { break }
            let found = relay.subscribe(node.number, id, filter)
            for event in found { tell(event, to: node.number) }
            let extent = StoredExtent(of: found.map(\.event.createdAt), limit: filter.limit)
            let number = node.number
            later(CityLimits.relayAnswer + CityLimits.relayAnswer) { [self] in
                call(number) { $0.courier?.loaded(id, extent, at: now) }
            }
        case .unsubscribe(let id): relay.unsubscribe(node.number, id)
        case .keep(let mail): check.kept(mail, at: node.number)
        case .forget(let id): check.forgot(id, at: node.number)
        case .remember: break
        }
    }

    private func carryOut(_ effect: MessengerEffect, of node: CityNode) {
        switch effect {
        case .send(let payload, let peer): send(payload, from: node, to: peer)
        case .openSession(let peer):
            guard let other = index(of: peer), areTogether(node.number, other), !nodes[other].isBox else {
                node.messenger?.sessionLost(with: peer, at: now)
                break
            }
            shakeHands(node.number, other)
        case .deposit(let envelope, let peer, let ticket):
            let isTaken = means.phonesCarry && send(envelope, from: node, to: peer, .link)
            node.messenger?.deposited(ticket, isTaken: isTaken, at: now)
            if isTaken { tally.deposits += 1 }
        case .show(.message(_, _, let text)): shown(text, at: node.number)
        case .store(.message(let record)): check.stored(record, of: node.number)
        case .drop(_, let ticket): node.messenger?.dropped(ticket, isConfirmed: false, at: now)
        case .mail, .remember, .forget, .forgetBundle, .store, .discard, .discardHeld, .publish, .show: break
        }
    }

    // MARK: On the air

    private func send(_ envelope: CourierEnvelope, from node: CityNode, to peer: PeerID, _ route: MailRoute) -> Bool {
        guard let other = index(of: peer) else { return false }
        let number = node.number
        switch route {
        case .flood:
            check.flooded(envelope.ciphertext.count, by: number, at: elapsed)
            tally.floods += 1
            guard areTogether(number, other), Int.random(in: 0..<100, using: &random) < CityLimits.floodArrival else {
                return true
            }
        case .link, .provenLink:
            let isLinked = route == .link ? node.neighbours.contains(other) : node.proven.contains(other)
            guard isLinked else { return false }
            tally.handed += 1
            guard Int.random(in: 0..<1_000, using: &random) >= CityLimits.lostOnLink else { return true }
        }
        later(CityLimits.hop) { [self] in
            // The depositor is proven only where the letter came over its own link.
            let isNeighbour = nodes[other].neighbours.contains(number)
            let depositor = route != .flood && isNeighbour ? nodes[number].key : nil
            call(other) { arrive(envelope, at: $0, depositor: depositor) }
        }
        return true
    }

    private func arrive(_ envelope: CourierEnvelope, at node: CityNode, depositor: NoisePublicKey?) {
        if let courier = node.courier {
            courier.arrived(envelope, depositor: depositor, at: now)
        } else {
            node.messenger?.take(envelope, at: now)
        }
    }

    private func send(_ payload: NoisePayload, from node: CityNode, to peer: PeerID) {
        let number = node.number
        guard let other = index(of: peer), node.sessions.contains(other), areTogether(number, other) else {
            return node.messenger?.undeliverable(payload, to: peer, at: now) ?? ()
        }
        later(CityLimits.hop) { [self] in
            guard areTogether(number, other) else { return }
            call(other) {
                $0.messenger?.take(
                    payload, from: nodes[number].peer, fingerprint: nodes[number].identity.fingerprint, at: now)
            }
        }
    }

    // MARK: At relays

    private func publish(_ event: VerifiedEvent, _ attempt: DropAttempt, from number: Int) {
        let wasOnline = isOnline(number)
        later(wasOnline ? CityLimits.relayAnswer : CityLimits.relayTimeout) { [self] in
            let isTaken = wasOnline && isOnline(number)
            if isTaken {
                tally.drops += 1
                for box in relay.take(event) { tell(event, to: box) }
            }
            call(number) { $0.courier?.published(attempt, isConfirmed: isTaken, at: now) }
        }
    }

    private func tell(_ event: VerifiedEvent, to box: Int) {
        later(CityLimits.relayAnswer) { [self] in
            guard isOnline(box) else { return }
            call(box) { $0.courier?.relayEvent(event, at: now) }
        }
    }
}
