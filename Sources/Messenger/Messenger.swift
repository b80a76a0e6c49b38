import Basics
import Crypto
import Wire

/// A person's private side of the mesh, without I/O: messages and their receipts, whom the person trusts, and proofs of
/// who is who. Sessions, packets and storage are others' (chapter 02 §6, chapter 06 §7 and §8).
///
/// Not thread-safe. After every call take effects until `nextEffect()` returns nil, and arm a timer for `nextDeadline`.
public final class Messenger {
    public private(set) var trust: TrustBook
    public internal(set) var drops = Tally<MessengerDrop>()
    public internal(set) var vouchRefusals = Tally<VouchRefusal>()
    /// Vouch for people the person verified, towards others it verified. Off unless asked for: it tells whom one knows.
    public var vouchesForOthers = false

    /// Why sealed mail was not shown.
    public var mailDrops: Tally<EnvelopeRefusal> { desk?.drops ?? Tally() }

    let identity: NodeIdentity
    /// The person's own account at relays, told to favourites.
    let account: NostrPublicKey?
    /// Whether relays take mail now.
    var isMailUsable = false
    /// Favourites who were told again that they are.
    var toldAgain: Set<PeerID> = []
    var random: any RandomNumberGenerator
    var people: [PeerID: Acquaintance] = [:]
    /// Peers with an established session, and the key they proved.
    var sessions: [PeerID: Fingerprint] = [:]
    var outbox = Outbox()
    var verifier: Verifier
    var vouches = VouchBook()
    var received = BoundedSet<String>(capacity: MessengerLimits.incomingMemory)
    var owed = OwedReceipts()
    /// Opens and seals mail for people who are away; `nil` where that is not wanted.
    let desk: MailDesk?
    var ownDrops = OwnDrops()
    /// Whether wall time is right.
    public internal(set) var isClockGood: Bool
    /// Mail that came while it was not.
    var heldMail: [CourierEnvelope] = []
    var offersPrekeys = false
    /// Peers the person was told to wait for, until they are in reach.
    var awaited: Set<PeerID> = []
    var beingVerified: [PeerID: Instant] = [:]
    var lastNumber = 0
    private var nextSweep: Instant?
    private var effects = Queue<MessengerEffect>()

    /// - Parameters:
    ///   - trust: what was remembered of an earlier run.
    ///   - desk: seals what couriers and relays are to carry, and opens what they bring.
    ///   - isClockGood: whether wall time can be believed; `setClock` tells when that changes.
    public init(
        identity: NodeIdentity, account: NostrPublicKey? = nil, trust: [TrustRecord] = [], desk: MailDesk? = nil,
        isClockGood: Bool = true, random: any RandomNumberGenerator
    ) {
        self.isClockGood = isClockGood
        self.desk = desk
        self.identity = identity
        self.account = account
        self.trust = TrustBook(trust)
        self.random = random
        verifier = Verifier(identity: identity)
    }

    // MARK: People and sessions

    /// Somebody announced itself, or announced a change.
    public func met(_ person: Acquaintance, at now: Now) {
        let peer = person.peerID
        guard people[peer] != nil || people.count < MessengerLimits.people else { return }
        let isNewNeighbour = person.isConnected && people[peer]?.isConnected != true
        people[peer] = person
        if var record = trust[person.fingerprint], record.nickname != person.nickname, !person.nickname.isEmpty {
            record.nickname = person.nickname
            _ = keep(record)
        }
        awaited.remove(peer)
        if sessions[peer] == nil, outbox.hasUnsent(for: peer) || owed.isOwed(to: peer) { emit(.openSession(peer)) }
        if isNewNeighbour {
            announceToNeighbour(at: now)
            for other in outbox.peers where other != peer { findCouriers(for: other, at: now) }
        }
    }

    /// Somebody left or fell silent.
    public func lost(_ peer: PeerID) {
        people[peer] = nil
        // Nobody is at its other end now. Where the mesh still has it when the peer is back, `openSession` shows it.
        sessions[peer] = nil
    }

    /// Somebody is no direct neighbour any more, and may still be in reach over others.
    public func disconnected(_ peer: PeerID) { people[peer]?.isConnected = false }

    public func sessionEstablished(with peer: PeerID, fingerprint: Fingerprint, at now: Now) {
        noteSession(with: peer, fingerprint)
        guard !trust.isBlocked(fingerprint) else { return }
        // What the session before took may have been lost with it.
        outbox.update(peer) { entry in
            entry.isInFlight = false
            return true
        }
        if let challenge = verifier.challenge(for: peer) { send(challenge, to: peer) }
        owed.reopen(peer, at: now.monotonic)
        payReceipts(to: peer, at: now)
        flush(peer, at: now)
        offerVouches(to: peer, fingerprint, at: now)
    }

    /// Of peers that have not announced themselves, most are forgotten when there are too many.
    func noteSession(with peer: PeerID, _ fingerprint: Fingerprint) {
        if sessions[peer] == nil, sessions.count >= MessengerLimits.people {
            sessions = sessions.filter { people[$0.key] != nil }
        }
        sessions[peer] = fingerprint
    }

    /// There is no session with the peer any more, or none came about.
    public func sessionLost(with peer: PeerID, at now: Now) {
        sessions[peer] = nil
        if outbox.hasUnsent(for: peer), !mail(to: peer) { tellToWait(for: peer) }
    }

    func tellToWait(for peer: PeerID) {
        if awaited.insert(peer).inserted { show(.waiting(for: peer)) }
    }

    // MARK: Time and effects

    public var nextDeadline: Instant? {
        let deadlines = [
            verifier.nextDeadline, hasWork ? nextSweep : nil, owed.nextDeadline,
            isClockGood ? desk?.nextDeadline : nil,
        ]
        return deadlines.compactMap { $0 }.min()
    }

    public func timeout(at now: Now) {
        for peer in verifier.takeOverdue(at: now.monotonic) { show(.verificationFailed(peer, .noAnswer)) }
        if let sweep = nextSweep, sweep <= now.monotonic { self.sweep(at: now) }
        settleReceipts(at: now)
        if isClockGood { desk?.timeout(at: now) }
        drainDesk(at: now)
    }

    /// Gives up what is too old, and tries again to reach whom something waits for.
    private func sweep(at now: Now) {
        nextSweep = nil
        for peer in outbox.peers {
            var expired: [Outbox.Entry] = []
            outbox.update(peer) { entry in
                guard now.monotonic - entry.created > MessengerLimits.outboxLife else { return true }
                expired.append(entry)
                return false
            }
            for entry in expired { report(entry, to: peer, .failed(.expired)) }
            leaveWithOthers(peer, at: now)
            guard sessions[peer] == nil, outbox.hasUnsent(for: peer) else { continue }
            if people[peer] != nil { emit(.openSession(peer)) } else { _ = mail(to: peer) }
        }
        for peer in owed.creditors where sessions[peer] == nil && people[peer] != nil && !outbox.hasUnsent(for: peer) {
            emit(.openSession(peer))
        }
        awaited.formIntersection(outbox.peers)
        armSweep(at: now)
    }

    private var hasWork: Bool { outbox.count > 0 || owed.count > 0 }

    func armSweep(at now: Now) {
        if nextSweep == nil, hasWork { nextSweep = now.monotonic + MessengerLimits.outboxSweep }
    }

    /// What is to be stored comes before what is to be sent.
    public func nextEffect() -> MessengerEffect? {
        switch outbox.nextChange() {
        case .put(let record): return .store(.message(record))
        case .removed(let messageID, let recipient):
            ownDrops.withdraw(messageID: messageID, to: recipient)
            return .discard(messageID: messageID)
        case nil: return effects.popFirst()
        }
    }

    func emit(_ effect: MessengerEffect) { effects.append(effect) }
    func show(_ event: MessengerEvent) { effects.append(.show(event)) }

    // MARK: Trust

    /// - Returns: false when the book is full.
    func keep(_ record: TrustRecord) -> Bool {
        guard trust.set(record) else { return false }
        emit(record.isEmpty ? .forget(record.fingerprint) : .remember(record))
        return true
    }
}
