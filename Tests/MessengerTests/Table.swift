import Basics
import Crypto
import Wire
import XCTest

@testable import Messenger

/// People at one table: messengers whose sessions are perfect, while they are in reach of each other. Couriers and
/// relays do what the test says.
final class Table {
    final class Seat {
        let name: String
        let identity: NodeIdentity
        private(set) var messenger: Messenger
        /// Whether it is announced as a direct neighbour that carries mail.
        var isNeighbour = false
        fileprivate(set) var deposits: [(envelope: CourierEnvelope, courier: PeerID)] = []
        fileprivate(set) var drops: [(envelope: CourierEnvelope, ticket: DropTicket)] = []
        fileprivate(set) var outbox: [String: [UInt8]] = [:]
        fileprivate(set) var received: [String: [UInt8]] = [:]
        fileprivate(set) var published: [PublishedDrop] = []
        fileprivate(set) var held: [CourierEnvelope] = []
        private let sealsMail: Bool
        fileprivate(set) var shown: [MessengerEvent] = []
        fileprivate(set) var stored: [Fingerprint: TrustRecord] = [:]
        fileprivate(set) var sent: [(payload: NoisePayload, to: PeerID)] = []
        var peer: PeerID { identity.peerID }
        /// What was sent so far is not counted any more.
        func forgetSent() { sent = [] }
        /// What was shown since the last look.
        func news() -> [MessengerEvent] {
            defer { shown = [] }
            return shown
        }

        init(_ name: String, _ identity: NodeIdentity, seed: UInt64, sealsMail: Bool) {
            self.name = name
            self.identity = identity
            self.sealsMail = sealsMail
            messenger = Seat.messenger(identity, trust: [], seed: seed, sealsMail: sealsMail)
        }

        private static func messenger(
            _ identity: NodeIdentity, trust: [TrustRecord], seed: UInt64, sealsMail: Bool, isClockGood: Bool = true
        ) -> Messenger {
            Messenger(
                identity: identity, trust: trust,
                desk: sealsMail ? MailDesk(identity: identity, random: SeededRandom(seed: seed)) : nil,
                isClockGood: isClockGood, random: SeededRandom(seed: seed))
        }

        /// A new process with what the old one kept, encoded.
        func restart(at now: Now, isClockGood: Bool = true) {
            messenger = Seat.messenger(
                identity, trust: Array(stored.values), seed: UInt64(outbox.count) + 77, sealsMail: sealsMail,
                isClockGood: isClockGood)
            var memory = MessengerMemory()
            memory.messages = outbox.compactMap { OutboxRecord(messageID: $0.key, decoding: $0.value) }
            memory.received = received.values.compactMap { ReceivedMessage(decoding: $0) }
            memory.drops = published
            memory.held = held
            messenger.restore(memory, at: now)
        }

        var acquaintance: Acquaintance {
            Acquaintance(
                noiseKey: identity.noise.publicKey, signingKey: identity.signing.publicKey, nickname: name,
                isConnected: isNeighbour, capabilities: isNeighbour ? [.vouch] : nil)
        }
    }

    private(set) var now = Samples.now
    private var seats: [Seat] = []
    private var sessions: Set<Set<PeerID>> = []
    /// Pairs out of reach of each other.
    private var apart: Set<Set<PeerID>> = []
    /// Payloads of these types vanish on the way.
    var losing: Set<NoisePayloadType> = []
    /// Whether couriers' links take what is left with them.
    var couriersTake = true
    /// What relays answer; nil: nothing yet.
    var relaysConfirm: Bool?

    func seat(_ name: String, _ byte: UInt8, isNeighbour: Bool = false, sealsMail: Bool = false) throws -> Seat {
        let seat = Seat(
            name, try Samples.identity(byte, byte &+ 0x40), seed: UInt64(byte), sealsMail: sealsMail)
        seat.isNeighbour = isNeighbour
        for other in seats {
            seat.messenger.met(other.acquaintance, at: now)
            other.messenger.met(seat.acquaintance, at: now)
        }
        seats.append(seat)
        return seat
    }

    func separate(_ a: Seat, _ b: Seat) {
        apart.insert([a.peer, b.peer])
        sessions.remove([a.peer, b.peer])
        a.messenger.lost(b.peer)
        b.messenger.lost(a.peer)
        a.messenger.sessionLost(with: b.peer, at: now)
        b.messenger.sessionLost(with: a.peer, at: now)
        settle()
    }

    func join(_ a: Seat, _ b: Seat) {
        apart.remove([a.peer, b.peer])
        a.messenger.met(b.acquaintance, at: now)
        b.messenger.met(a.acquaintance, at: now)
        settle()
    }

    /// A new session in the place of the one there is.
    func renew(_ a: Seat, _ b: Seat) {
        sessions.insert([a.peer, b.peer])
        a.messenger.sessionEstablished(with: b.peer, fingerprint: b.identity.fingerprint, at: now)
        b.messenger.sessionEstablished(with: a.peer, fingerprint: a.identity.fingerprint, at: now)
        settle()
    }

    func pass(_ span: Interval) {
        now = now.advanced(by: span)
        for seat in seats where seat.messenger.nextDeadline.map({ $0 <= now.monotonic }) == true {
            seat.messenger.timeout(at: now)
        }
        settle()
    }

    func does<R>(_ action: (Now) throws -> R) rethrows -> R {
        defer { settle() }
        return try action(now)
    }

    /// Carries effects out until there are none.
    func settle() {
        var isQuiet = false
        while !isQuiet {
            isQuiet = true
            for seat in seats {
                while let effect = seat.messenger.nextEffect() {
                    isQuiet = false
                    carryOut(effect, of: seat)
                }
            }
        }
    }

    private func carryOut(_ effect: MessengerEffect, of seat: Seat) {
        switch effect {
        case .show(let event): seat.shown.append(event)
        // Nobody at this table has an account at relays.
        case .mail: XCTFail("mail without an account")
        case .deposit(let envelope, let courier, let ticket):
            seat.deposits.append((envelope, courier))
            seat.messenger.deposited(ticket, isTaken: couriersTake, at: now)
        case .drop(let envelope, let ticket):
            seat.drops.append((envelope, ticket))
            if let relaysConfirm { seat.messenger.dropped(ticket, isConfirmed: relaysConfirm, at: now) }
        case .store(.message(let record)): seat.outbox[record.messageID] = record.encoded()
        case .store(.received(let message)): seat.received[message.name] = message.encoded()
        case .store(.drop(let drop)): seat.published.append(drop)
        case .store(.held(let envelope)): seat.held.append(envelope)
        case .discardHeld(let envelope): seat.held.removeAll { $0 == envelope }
        case .store(.prekeys), .store(.bundle), .publish: break
        case .discard(let messageID): seat.outbox[messageID] = nil
        case .forgetBundle: break
        case .remember(let record): seat.stored[record.fingerprint] = record
        case .forget(let fingerprint): seat.stored[fingerprint] = nil
        case .openSession(let peer):
            guard let other = seats.first(where: { $0.peer == peer }), !apart.contains([seat.peer, peer]) else {
                return seat.messenger.sessionLost(with: peer, at: now)
            }
            sessions.insert([seat.peer, peer])
            seat.messenger.sessionEstablished(with: peer, fingerprint: other.identity.fingerprint, at: now)
            other.messenger.sessionEstablished(with: seat.peer, fingerprint: seat.identity.fingerprint, at: now)
        case .send(let payload, let peer):
            seat.sent.append((payload, peer))
            guard sessions.contains([seat.peer, peer]), let other = seats.first(where: { $0.peer == peer }) else {
                return seat.messenger.undeliverable(payload, to: peer, at: now)
            }
            guard !losing.contains(payload.type) else { return }
            other.messenger.take(payload, from: seat.peer, fingerprint: seat.identity.fingerprint, at: now)
        }
    }
}

extension Table {
    /// Anna and Bob, favourites of each other, who are apart.
    func couple() throws -> (anna: Seat, bob: Seat) {
        let (anna, bob) = (try seat("anna", 1, sealsMail: true), try seat("bob", 2, sealsMail: true))
        try does { try anna.messenger.setFavorite(true, bob.peer, at: $0) }
        try does { try bob.messenger.setFavorite(true, anna.peer, at: $0) }
        separate(anna, bob)
        _ = (anna.news(), bob.news())
        anna.forgetSent()
        bob.forgetSent()
        return (anna, bob)
    }

    func say(_ text: String, _ anna: Seat, to bob: Seat) throws {
        try does { try anna.messenger.say(text, to: bob.peer, at: $0) }
    }
}

func states(_ events: [MessengerEvent]) -> [DeliveryState] {
    events.compactMap { if case .delivery(_, _, let state) = $0 { state } else { nil } }
}

func texts(_ events: [MessengerEvent]) -> [String] {
    events.compactMap { if case .message(_, _, let text) = $0 { text } else { nil } }
}
