import Basics
import Crypto
import Wire

/// Data kept about an identity even after its peer is gone (chapter 02 §2.5). Only verified announces create an entry.
public struct IdentityRecord: Hashable, Sendable {
    public let noiseKey: NoisePublicKey
    public let peerID: PeerID
    /// Pinned on first use; an announce with another key is refused from then on.
    public var signingKey: SigningPublicKey
    /// Bound inside an authenticated Noise session; outranks the pin.
    public var authenticatedSigningKey: SigningPublicKey?
    /// Empty until an announce of this run has told it.
    public var nickname: String

    public init(
        noiseKey: NoisePublicKey, signingKey: SigningPublicKey, authenticatedSigningKey: SigningPublicKey? = nil,
        nickname: String
    ) {
        self.init(
            noiseKey: noiseKey, peerID: noiseKey.peerID, signingKey: signingKey,
            authenticatedSigningKey: authenticatedSigningKey, nickname: nickname)
    }

    /// For a peer ID known to follow from the key.
    init(
        noiseKey: NoisePublicKey, peerID: PeerID, signingKey: SigningPublicKey,
        authenticatedSigningKey: SigningPublicKey?, nickname: String
    ) {
        self.noiseKey = noiseKey
        self.peerID = peerID
        self.signingKey = signingKey
        self.authenticatedSigningKey = authenticatedSigningKey
        self.nickname = nickname
    }
}

/// Pinned identities by peer ID. Bound by count; of those not proven the least recently heard is forgotten, which
/// re-opens trust on first use for it, and therefore happens slowly: identities cost nothing to make.
final class IdentityBook {
    private final class Entry {
        var record: IdentityRecord
        var touched: UInt64

        init(_ record: IdentityRecord, touched: UInt64) {
            self.record = record
            self.touched = touched
        }

        var isProven: Bool { record.authenticatedSigningKey != nil }

        /// Keys that are only believed first, and among equals the one least recently heard.
        func isForgotten(before other: Entry) -> Bool {
            isProven == other.isProven ? touched < other.touched : !isProven
        }
    }

    let capacity: Int
    private var entries: [PeerID: Entry] = [:]
    private var clock: UInt64 = 0
    private var displacements: TokenBucket
    /// Who made room for what was learned last.
    private(set) var displaced: IdentityRecord?

    init(
        capacity: Int = MeshLimits.identityCapacity, displacementBurst: Double = MeshLimits.identityDisplacementBurst
    ) {
        self.capacity = capacity
        displacements = TokenBucket(
            capacity: displacementBurst, perSecond: MeshLimits.identityDisplacementsPerSecond)
    }

    enum Lesson: Equatable {
        /// Worth storing.
        case news
        case known
        /// No room, and too many were forgotten lately.
        case refused
    }

    var count: Int { entries.count }

    subscript(peer: PeerID) -> IdentityRecord? { entries[peer]?.record }

    /// The keys pinned for a peer; none when nothing is known.
    func pins(of peer: PeerID) -> PeerPins {
        guard let entry = entries[peer] else { return PeerPins() }
        return PeerPins(
            noiseKey: entry.record.noiseKey, authenticatedSigningKey: entry.record.authenticatedSigningKey,
            signingKey: entry.record.signingKey)
    }

    /// Notes that a peer was heard again, as known.
    /// - Returns: false when anything about it is new.
    func confirm(
        _ peer: PeerID, noiseKey: NoisePublicKey, signingKey: SigningPublicKey, nickname: String
    ) -> Bool {
        guard let entry = entries[peer], entry.record.noiseKey == noiseKey, entry.record.signingKey == signingKey,
            entry.record.nickname == nickname
        else { return false }
        clock &+= 1
        entry.touched = clock
        return true
    }

    /// A key proven in a session takes the place of one that is only believed; nothing else displaces without limit.
    func learn(_ record: IdentityRecord, at now: Instant) -> Lesson {
        let peer = record.peerID
        displaced = nil
        clock &+= 1
        if let known = entries[peer] {
            known.touched = clock
            guard known.record != record else { return .known }
            known.record = record
            return .news
        }
        if entries.count >= capacity {
            // The budget comes first: strangers without proof must not cost a look at every entry each.
            let isPaid = record.authenticatedSigningKey == nil
            guard !isPaid || displacements.take(at: now) else { return .refused }
            guard let oldest = entries.min(by: { $0.value.isForgotten(before: $1.value) }) else { return .refused }
            guard isPaid || !oldest.value.isProven || displacements.take(at: now) else { return .refused }
            entries[oldest.key] = nil
            displaced = oldest.value.record
        }
        entries[peer] = Entry(record, touched: clock)
        return .news
    }

    @discardableResult
    func forget(_ peer: PeerID) -> IdentityRecord? { entries.removeValue(forKey: peer)?.record }
}
