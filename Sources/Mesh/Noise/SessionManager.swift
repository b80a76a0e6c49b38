import Basics
import Crypto
import Wire

/// Noise sessions with all peers (chapter 02 §4), without packets, links or registry: handshake messages and clock
/// readings go in, outcomes come out. A session's key is the sender ID that packets claim; what stands behind that ID
/// is known once a handshake is complete, and nothing is told about it before.
struct SessionManager {
    struct Outcome {
        let peer: PeerID
        let what: SessionSlot.Outcome
    }

    /// What is known of peers elsewhere.
    struct Surroundings {
        /// Could be sent to now.
        let isReachable: (PeerID) -> Bool
        /// Has a live link of its own, for which a full table must not lose it.
        let isNeighbour: (PeerID) -> Bool
    }

    let me: PeerID
    private let staticKey: NoiseStaticKey
    private var slots: [PeerID: SessionSlot] = [:]
    private var deadlines = KeyedDeadlines<PeerID>()
    private var rates = HandshakeRates()
    private var outcomes: [Outcome] = []

    init(_ staticKey: NoiseStaticKey) {
        self.staticKey = staticKey
        me = staticKey.publicKey.peerID
    }

    /// What calls came to, in order.
    mutating func takeOutcomes() -> [Outcome] {
        guard !outcomes.isEmpty else { return [] }
        defer { outcomes.removeAll() }
        return outcomes
    }

    subscript(peer: PeerID) -> SessionSlot? { slots[peer] }
    var count: Int { slots.count }
    var ratedCount: Int { rates.count }
    /// In the order of their IDs.
    var all: [SessionSlot] { slots.values.sorted { $0.peer < $1.peer } }
    func isEstablished(with peer: PeerID) -> Bool { slots[peer]?.isEstablished ?? false }
    func canSend(to peer: PeerID, at now: Instant) -> Bool { slots[peer]?.canSend(at: now) ?? false }

    // MARK: Handshakes

    /// Begins a handshake, unless one is under way. It replaces an established session (§4.3, §4.4).
    /// - Returns: false when the rate limit refuses, in which case it is tried again in a minute, or the table is full.
    @discardableResult
    mutating func start(
        with peer: PeerID, _ surroundings: Surroundings, at now: Instant,
        using random: inout some RandomNumberGenerator
    ) -> Bool {
        if slots[peer]?.isShakingHands ?? false { return true }
        guard peer != me, makeRoom(for: peer, surroundings, at: now) else { return false }
        guard rates.admitStart(with: peer, at: now) else {
            change(peer) { $0.requestRecovery(due: now + NoiseSessionLimits.refusedRecoveryDelay) }
            return false
        }
        change(peer) { [staticKey] in $0.begin(staticKey, ownsRetry: true, at: now, using: &random) }
        return true
    }

    /// Takes a handshake message addressed to us.
    /// - Parameter origin: whether it came in where its claimed sender is to be expected.
    mutating func receive(
        _ message: [UInt8], from peer: PeerID, on link: LinkID, _ origin: HandshakeRates.Origin,
        _ surroundings: Surroundings, at now: Instant, using random: inout some RandomNumberGenerator
    ) -> HandshakeReception {
        let isExpected = slots[peer]?.expects(message.count) ?? (message.count == HandshakeSize.first)
        guard peer != me, isExpected else { return .ignored }
        // What a handshake says first can be forged, so nothing that comes in far from where it goes on disturbs it.
        if origin == .elsewhere, let slot = slots[peer], slot.goesOn(elsewhereThan: link) { return .limited }
        guard rates.admitReceived(from: peer, origin, on: link, at: now),
            makeRoom(for: peer, surroundings, at: now)
        else { return .limited }
        let before = outcomes.count
        let isReachable = surroundings.isReachable(peer)
        let reception = change(peer) { [staticKey] in
            $0.receive(message, on: link, staticKey: staticKey, isReachable: isReachable, at: now, using: &random)
        }
        for outcome in outcomes[before...] {
            if case .send = outcome.what { rates.noteSent(to: peer, at: now) }
        }
        limitResponders(at: now)
        return reception
    }

    /// Whether what came in on a link, proving nothing, may cause a handshake of ours.
    mutating func admitCause(on link: LinkID, at now: Instant) -> Bool { rates.admitCause(on: link, at: now) }

    // MARK: Messages

    /// Nil when there is no session to send in.
    mutating func encrypt(_ plaintext: [UInt8], to peer: PeerID, at now: Instant) -> [UInt8]? {
        slots[peer]?.encrypt(plaintext, at: now)
    }

    mutating func decrypt(_ message: [UInt8], from peer: PeerID, at now: Instant) -> SessionSlot.Opening {
        slots[peer]?.decrypt(message, at: now) ?? .noSession
    }

    /// Whether the peer's messages fail to open so often that a new handshake is worth it.
    mutating func takeResync(with peer: PeerID, at now: Instant) -> Bool {
        slots[peer]?.takeResync(at: now) ?? false
    }

    // MARK: Time

    var nextDeadline: Instant? { deadlines.next }

    mutating func timeout(
        _ surroundings: Surroundings, at now: Instant, using random: inout some RandomNumberGenerator
    ) {
        for peer in deadlines.takeDue(at: now) {
            let isReachable = surroundings.isReachable(peer)
            guard change(peer, { $0.runTimers(isReachable: isReachable, at: now) }) else { continue }
            if rates.admitStart(with: peer, at: now) {
                change(peer) { [staticKey] in $0.begin(staticKey, ownsRetry: false, at: now, using: &random) }
            } else {
                change(peer) { $0.requestRecovery(due: now + NoiseSessionLimits.refusedRecoveryDelay) }
            }
        }
    }

    /// Peers whose sessions should be replaced before they become too old for the other side (§3.7).
    func expiring(at now: Instant) -> [PeerID] {
        slots.values.filter { $0.session?.wantsRekey(at: now) ?? false }.map(\.peer).sorted()
    }

    mutating func removeIdle(at now: Instant) { slots = slots.filter { !$0.value.isIdle(at: now) } }

    mutating func remove(_ peer: PeerID) {
        slots[peer] = nil
        deadlines[peer] = nil
    }

    mutating func linkEnded(_ link: LinkID) { rates.forget(link) }

    mutating func removeAll() {
        slots.removeAll()
        deadlines.removeAll()
        rates = HandshakeRates()
        outcomes.removeAll()
    }

    // MARK: Table

    @discardableResult
    private mutating func change<R>(_ peer: PeerID, _ action: (inout SessionSlot) -> R) -> R {
        var slot = slots.removeValue(forKey: peer) ?? SessionSlot(peer: peer, me: me)
        let result = action(&slot)
        outcomes += slot.takeOutcomes().map { Outcome(peer: peer, what: $0) }
        deadlines[peer] = slot.nextDeadline
        slots[peer] = slot
        return result
    }

    /// A full table loses what is idle, else the session unused for longest whose peer has no live link (§4.2).
    private mutating func makeRoom(
        for peer: PeerID, _ surroundings: Surroundings, at now: Instant
    ) -> Bool {
        if slots[peer] != nil || slots.count < NoiseSessionLimits.sessions { return true }
        removeIdle(at: now)
        if slots.count < NoiseSessionLimits.sessions { return true }
        let candidates = slots.values.compactMap { slot in slot.session.map { (slot.peer, $0.lastActivity) } }
            .filter { !surroundings.isNeighbour($0.0) }
        guard let oldest = candidates.min(by: { ($0.1, $0.0) < ($1.1, $1.0) })?.0 else { return false }
        remove(oldest)
        outcomes.append(Outcome(peer: oldest, what: .failed(.evicted)))
        return true
    }

    /// Too many unfinished answers: the link that drew most of them loses its oldest, so that a storm on one costs the
    /// others nothing.
    private mutating func limitResponders(at now: Instant) {
        let unfinished = slots.values.filter(\.isResponding)
        guard unfinished.count > NoiseSessionLimits.unfinishedResponders else { return }
        let byLink = Dictionary(grouping: unfinished, by: \.respondingLink)
        let rank = { (slots: [SessionSlot]) in (slots.count, slots[0].respondingLink?.value ?? 0) }
        let busiest = byLink.values.max { rank($0) < rank($1) }
        let oldest = busiest?.min { ($0.begun ?? now, $0.peer) < ($1.begun ?? now, $1.peer) }
        if let oldest { change(oldest.peer) { $0.abandonAnswer(at: now) } }
    }
}
