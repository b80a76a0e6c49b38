import Basics
import Crypto
import Nostr
import Wire
import XCTest

@testable import Gateway

/// A courier whose links and relays are the test's: what it sends is written or refused as the test says.
final class CourierRig {
    let box = Correspondent(100)
    private(set) var courier: Courier
    private(set) var now: Now
    private(set) var sent: [(envelope: CourierEnvelope, peer: PeerID, route: MailRoute)] = []
    private(set) var published: [(event: VerifiedEvent, attempt: DropAttempt)] = []
    private(set) var proofs: [PeerID] = []
    private(set) var opened: [(envelope: CourierEnvelope, drop: EventID?)] = []
    private(set) var subscriptions: [String: NostrFilter] = [:]
    /// Every subscribe and unsubscribe, in order.
    private(set) var requests: [String] = []
    private(set) var kept: [MailID: CarriedEnvelope] = [:]
    private(set) var dealt: [DealtDrop] = []
    /// Whether links take what is sent.
    var writes = true
    var opens = true
    /// What relays answer; nil: nothing yet.
    var confirms: Bool?

    init(
        quota: CourierQuota = CourierLimits.gateway, trusted: Set<Fingerprint> = [], relays: Bool = true,
        at start: Now = Clock.now()
    ) {
        now = start
        courier = Courier(
            configuration: CourierConfiguration(own: box.key, trusted: trusted, quota: quota),
            random: SeededRandom(seed: 5))
        begin(relays: relays)
    }

    private func begin(relays: Bool) {
        call {
            $0.setClock(isUsable: true, isTrusted: true, at: $1)
            $0.start(at: $1)
            if relays { $0.relayConnectivityChanged(true, at: $1) }
        }
    }

    /// A new process with what the old one kept.
    func restart() {
        courier = Courier(configuration: courier.configuration, random: SeededRandom(seed: 6))
        subscriptions.removeAll()
        let records = kept.values.sorted { $0.storedAt < $1.storedAt }
        call { $0.restore(records, dealt: self.dealt, at: $1) }
        begin(relays: true)
    }

    /// A new process that finds nothing.
    func wipe() {
        kept.removeAll()
        dealt.removeAll()
        restart()
    }

    func call(_ body: (Courier, Now) -> Void) {
        body(courier, now)
        while let effect = courier.nextEffect() { carry(effect) }
    }

    private func carry(_ effect: CourierEffect) {
        switch effect {
        case .send(let envelope, let peer, let route, let ticket):
            let isWritten = route == .flood || writes
            if isWritten { sent.append((envelope, peer, route)) }
            courier.sent(ticket, isWritten: isWritten, at: now)
        case .prove(let peer): proofs.append(peer)
        case .open(let envelope, let drop):
            opened.append((envelope, drop))
            courier.opened(drop: drop, isHandled: opens, at: now)
        case .publish(let event, let attempt):
            published.append((event, attempt))
            if let confirms { courier.published(attempt, isConfirmed: confirms, at: now) }
        case .subscribe(let id, let filter):
            requests.append("+" + id)
            subscriptions[id] = filter
        case .unsubscribe(let id):
            requests.append("-" + id)
            subscriptions[id] = nil
        case .keep(let mail): kept[mail.id] = mail
        case .forget(let id): kept[id] = nil
        case .remember(let drop): dealt.append(drop)
        }
    }

    func advance(by span: Interval) {
        let end = now.monotonic + span
        while let due = courier.nextDeadline, due <= end {
            now = now.advanced(by: due > now.monotonic ? due - now.monotonic : .zero)
            call { $0.timeout(at: $1) }
        }
        now = now.advanced(by: end - now.monotonic)
    }

    func confirm(_ isConfirmed: Bool) { confirms = isConfirmed }

    func tags(of person: Correspondent) -> [[UInt8]] { CourierTag.candidates(for: person.key, at: now.wall) }

    func deposit(_ envelope: CourierEnvelope, from depositor: Correspondent?) {
        call { $0.arrived(envelope, depositor: depositor?.key, at: $1) }
    }

    func meet(_ person: Correspondent, _ standing: AnnounceStanding) {
        call { $0.met(person.id, person.key, standing, at: $1) }
    }

    /// A relay tells an event, as it would under our subscription.
    func tell(_ event: VerifiedEvent) { call { $0.relayEvent(event, at: $1) } }

    /// Relays have sent what they keep: nothing unless said otherwise.
    func load(_ subscription: String = Courier.subscriptionID, _ extent: StoredExtent = StoredExtent()) {
        call { $0.loaded(subscription, extent, at: $1) }
    }

    func drop(_ envelope: CourierEnvelope, by author: UInt8 = 1) throws -> VerifiedEvent {
        try Author(author).event(
            kind: EventKind.courierDrop, tags: [["x", Hex.encode(envelope.recipientTag)]],
            Base64.encode(try XCTUnwrap(envelope.encoded())), at: now.wall.unixSeconds)
    }

    var handed: [CourierEnvelope] { sent.filter { $0.route == .provenLink }.map(\.envelope) }
    var flooded: [CourierEnvelope] { sent.filter { $0.route == .flood }.map(\.envelope) }
    var status: CourierStatus { courier.status(at: now) }
    func count(_ outcome: CourierOutcome) -> UInt64 { courier.outcomes[outcome] }
    func forget() {
        sent.removeAll()
        published.removeAll()
        requests.removeAll()
        proofs.removeAll()
    }
}
