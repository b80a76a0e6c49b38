import Basics
import Wire

/// The first, cheap half of receiving: header checks, duplicate filters and the flood decision, on the received bytes
/// and without a heap allocation (chapter 03 B2 steps 1, 3, 5 and 11).
///
/// A packet is remembered only after its handler has judged it, so that a forged copy, which has the same key as the
/// genuine packet because the key does not cover the signature, cannot shadow it (chapter 03 B4).
public struct PacketGate {
    public enum Outcome {
        /// Not even a copy of anything: no further effect.
        case rejected(MeshDrop)
        /// Seen before; `drop` says which filter knew it.
        case copy(Admission, drop: MeshDrop)
        case fresh(Admission)
    }

    public struct Admission: Sendable {
        public let key: DuplicateKey
        public let ingressPeer: PeerID
        /// An answer to our sync request, flagged or (from Android) recognised by its TTL of 0.
        public let isSyncAnswer: Bool
        /// Handled once already: it may be handled again, but it is not relayed again.
        public let isRepeat: Bool

        func attributed(to peer: PeerID) -> Admission {
            Admission(key: key, ingressPeer: peer, isSyncAnswer: isSyncAnswer, isRepeat: isRepeat)
        }
    }

    /// What the handler found out, as far as the filters care.
    public enum Judgement: Sendable {
        /// Verified, or of a type that needs no packet signature.
        case accepted
        /// A signed type whose author's key is unknown.
        case unknownAuthor
        /// Signature wrong.
        case forged
    }

    let me: PeerID
    /// Without it no packet is too old or too new: who knows the time decides (chapter 03 A13.7).
    public var isClockTrusted = true
    private let key: SipHash128.Key
    public var syncRequests = SyncRequestLog()
    private var ingress: ExpiringTable<DuplicateKey, Void>
    private var seen: ExpiringTable<DuplicateKey, Void>
    private var fragments: ExpiringTable<DuplicateKey, Void>
    private var suspects: ExpiringTable<DuplicateKey, Judgement>

    public init(
        me: PeerID, duplicateCapacity: Int = MeshLimits.duplicateCapacity, duplicateTrim: Int? = nil,
        random: inout some RandomNumberGenerator
    ) {
        self.me = me
        key = SipHash128.Key(using: &random)
        ingress = ExpiringTable(
            capacity: MeshLimits.ingressRecordCapacity, lifetime: MeshLimits.ingressRecordLifetime)
        seen = ExpiringTable(
            capacity: duplicateCapacity, trimTarget: duplicateTrim, lifetime: MeshLimits.duplicateLifetime)
        fragments = ExpiringTable(
            capacity: MeshLimits.fragmentDuplicateCapacity, lifetime: MeshLimits.fragmentDuplicateLifetime)
        suspects = ExpiringTable(capacity: MeshLimits.suspectFrameCapacity, lifetime: MeshLimits.duplicateLifetime)
    }

    /// Packets forgotten for want of room before their time.
    public var earlyEvictions: UInt64 { seen.earlyEvictions &+ fragments.earlyEvictions &+ ingress.earlyEvictions }
    public var remembered: Int { seen.count + fragments.count }

    // MARK: Examining

    /// Judges one frame from a link. Remembers nothing: `record` does, after the handler.
    /// - Parameter boundPeer: the peer the link is bound to.
    public mutating func examine(_ view: FrameView, boundPeer: PeerID?, at now: Now) -> Outcome {
        let sender = view.senderID
        let type = view.type
        let ttl = view.ttl
        let attribution = IngressGuard.attribute(
            sender: sender, type: type, ttl: ttl, isSyncResponse: view.isSyncResponse, me: me, boundPeer: boundPeer)
        switch attribution {
        case .selfLoopback: return .rejected(.selfLoopback)
        case .senderMismatch: return .rejected(.senderMismatch)
        case .accepted(let ingressPeer):
            let claim = SyncAcceptance.Claim(
                type: type, ttl: ttl, isFlagged: view.isSyncResponse, timestamp: view.timestamp,
                isDirected: view.recipientID != nil)
            return examine(view, claim, ingressPeer: ingressPeer, answersOf: boundPeer, isInner: false, now)
        }
    }

    /// Judges a packet put together from fragments: it has no ingress record of its own and is never relayed (chapter
    /// 03 B2). Whether it is a sync answer is measured by the neighbour the fragments came from (chapter 04 T5).
    /// - Parameter ofAnswer: the last fragment was an answer; only then may the packet be one.
    public mutating func examineReassembled(
        _ view: FrameView, ingressPeer: PeerID, ofAnswer: Bool, at now: Now
    ) -> Outcome {
        let isFlagged = view.isSyncResponse
        if view.senderID == me, !isFlagged { return .rejected(.selfLoopback) }
        let claim = SyncAcceptance.Claim(
            type: view.type, ttl: isFlagged ? view.ttl : 0, isFlagged: isFlagged, timestamp: view.timestamp,
            isDirected: view.recipientID != nil)
        return examine(
            view, claim, ingressPeer: ingressPeer, answersOf: ofAnswer ? ingressPeer : nil, isInner: true, now)
    }

    /// - Parameter peer: the neighbour whose answers would come this way; nil when nobody is known to be there.
    private mutating func examine(
        _ view: FrameView, _ claim: SyncAcceptance.Claim, ingressPeer: PeerID, answersOf peer: PeerID?, isInner: Bool,
        _ now: Now
    ) -> Outcome {
        let isSyncAnswer: Bool
        switch SyncAcceptance.judge(
            claim, asked: peer.map { syncRequests.open(for: $0, at: now.monotonic) } ?? [],
            now: isClockTrusted ? now.wall : claim.timestamp)
        {
        case .live: isSyncAnswer = false
        case .answer: isSyncAnswer = true
        case .refused(let reason): return .rejected(reason)
        }
        guard let packetKey = DuplicateKey(view, under: key) else { return .rejected(.undecodablePayload) }

        let admit = { (isRepeat: Bool) in
            Admission(key: packetKey, ingressPeer: ingressPeer, isSyncAnswer: isSyncAnswer, isRepeat: isRepeat)
        }
        if !isInner, ingress.contains(packetKey, at: now.monotonic) { return .copy(admit(true), drop: .repeated) }
        if claim.type == .fragment { return .fresh(admit(fragments.contains(packetKey, at: now.monotonic))) }
        // Our own packet, offered back by sync, is welcome however often.
        if claim.ttl == 0, view.senderID == me { return .fresh(admit(false)) }
        if seen.contains(packetKey, at: now.monotonic) { return .copy(admit(true), drop: .duplicate) }
        switch suspects.count == 0 ? nil : suspects.value(of: wholeFrameKey(of: view), at: now.monotonic) {
        case .forged: return .rejected(.knownForgery)
        case .unknownAuthor: return .fresh(admit(true))
        case .accepted, nil: return .fresh(admit(false))
        }
    }

    // MARK: Remembering

    /// Remembers a fresh packet by what its handler found.
    public mutating func record(
        _ admission: Admission, _ view: FrameView, _ judgement: Judgement, isReassembled: Bool = false,
        at now: Instant
    ) {
        switch judgement {
        case .accepted:
            if !isReassembled { ingress.insert(admission.key, (), at: now) }
            if view.type == .fragment {
                fragments.insert(admission.key, (), at: now)
            } else {
                seen.insert(admission.key, (), at: now)
            }
        case .unknownAuthor, .forged:
            suspects.insert(wholeFrameKey(of: view), judgement, at: now)
        }
    }

    public mutating func expire(at now: Instant) {
        ingress.expire(at: now)
        seen.expire(at: now)
        fragments.expire(at: now)
        suspects.expire(at: now)
        syncRequests.prune(at: now)
    }

    /// Covers everything relays do not change: what stands behind the TTL and the flags, signature included.
    private func wholeFrameKey(of view: FrameView) -> DuplicateKey {
        let fixed = UnsafeRawBufferPointer(rebasing: view.bytes.dropFirst(FrameLayout.lengthOffset))
        return DuplicateKey(
            sender: view.senderID, timestamp: view.timestamp, type: view.type, recipient: nil, payload: fixed,
            under: key)
    }

    // MARK: Relaying

    /// The flood decision for a frame that may be relayed.
    /// - Parameter degree: peers flagged connected.
    public static func relayDecision(for view: FrameView, degree: Int, me: PeerID) -> RelayDecision? {
        let recipient = view.recipientID
        let type = view.type
        let isUrgent = type == .boardPost && (view.withPayload { BoardPayload.isUrgent(peeking: $0) } ?? false)
        return RelayDecision.decide(
            RelayClass(type: type, hasRecipient: recipient != nil, isUrgentBoardPost: isUrgent),
            ttl: view.ttl, degree: degree, isOurs: recipient == me || view.senderID == me)
    }
}
