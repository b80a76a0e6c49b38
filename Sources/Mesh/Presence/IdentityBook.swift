import Basics
import Crypto
import Wire

/// What is kept about an identity beyond its presence (chapter 02 §2.5). Only verified announces create one.
public struct IdentityRecord: Hashable, Sendable {
    public let noiseKey: NoisePublicKey
    public let peerID: PeerID
    /// Pinned on first use; an announce with another key is refused from then on.
    public var signingKey: SigningPublicKey
    /// Bound inside an authenticated Noise session; outranks the pin.
    public var authenticatedSigningKey: SigningPublicKey?
    public var nickname: String
    public let firstSeen: WallTime

    public init(
        noiseKey: NoisePublicKey, signingKey: SigningPublicKey, authenticatedSigningKey: SigningPublicKey? = nil,
        nickname: String, firstSeen: WallTime
    ) {
        self.init(
            noiseKey: noiseKey, peerID: noiseKey.peerID, signingKey: signingKey,
            authenticatedSigningKey: authenticatedSigningKey, nickname: nickname, firstSeen: firstSeen)
    }

    /// For a peer ID known to follow from the key.
    init(
        noiseKey: NoisePublicKey, peerID: PeerID, signingKey: SigningPublicKey,
        authenticatedSigningKey: SigningPublicKey?, nickname: String, firstSeen: WallTime
    ) {
        self.noiseKey = noiseKey
        self.peerID = peerID
        self.signingKey = signingKey
        self.authenticatedSigningKey = authenticatedSigningKey
        self.nickname = nickname
        self.firstSeen = firstSeen
    }
}

/// Pinned identities by peer ID. Bound by count; the least recently heard is forgotten, which re-opens trust on first
/// use for it.
struct IdentityBook {
    private struct Entry {
        var record: IdentityRecord
        var touched: UInt64
    }

    let capacity: Int
    private var entries: [PeerID: Entry] = [:]
    private var clock: UInt64 = 0

    init(capacity: Int = MeshLimits.identityCapacity) { self.capacity = capacity }

    var count: Int { entries.count }

    subscript(peer: PeerID) -> IdentityRecord? { entries[peer]?.record }

    /// Notes that a peer was heard again, as known.
    /// - Returns: false when anything about it is new.
    mutating func confirm(
        _ peer: PeerID, noiseKey: NoisePublicKey, signingKey: SigningPublicKey, nickname: String
    ) -> Bool {
        guard let position = entries.index(forKey: peer) else { return false }
        let known = entries.values[position].record
        guard known.noiseKey == noiseKey, known.signingKey == signingKey, known.nickname == nickname else {
            return false
        }
        clock &+= 1
        entries.values[position].touched = clock
        return true
    }

    /// - Returns: true when this is news worth storing.
    mutating func learn(_ record: IdentityRecord) -> Bool {
        let peer = record.peerID
        clock &+= 1
        if let known = entries[peer]?.record {
            entries[peer]?.touched = clock
            guard known != record else { return false }
            entries[peer]?.record = record
            return true
        }
        if entries.count >= capacity { forgetOldest() }
        entries[peer] = Entry(record: record, touched: clock)
        return true
    }

    mutating func forget(_ peer: PeerID) { entries[peer] = nil }

    /// An eighth at a time, so that a crowd of new identities does not cost a scan each.
    private mutating func forgetOldest() {
        let oldest = entries.sorted { $0.value.touched < $1.value.touched }.prefix(max(1, capacity / 8))
        for (peer, _) in oldest { entries[peer] = nil }
    }
}
