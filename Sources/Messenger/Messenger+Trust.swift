import Basics
import Crypto
import Wire

/// What is known about a key, for the person to look at.
public struct KeyReport: Hashable, Sendable {
    public let fingerprint: Fingerprint
    public let record: TrustRecord?
    /// Verified people who vouch for it.
    public let vouchers: [Fingerprint]
    public let hasSession: Bool
}

extension Messenger {
    public var fingerprint: Fingerprint { identity.fingerprint }

    /// `nil` for a peer never met.
    public func report(on peer: PeerID, at now: Now) -> KeyReport? {
        guard let fingerprint = sessions[peer] ?? people[peer]?.fingerprint ?? trust.record(of: peer)?.fingerprint
        else { return nil }
        return KeyReport(
            fingerprint: fingerprint, record: trust[fingerprint],
            vouchers: vouches.vouchers(of: fingerprint, trust: trust, at: now.wall),
            hasSession: sessions[peer] != nil)
    }

    /// Makes somebody a favourite or takes it back, and tells them.
    public func setFavorite(_ isFavorite: Bool, _ peer: PeerID, at now: Now) throws(MessengerRefusal) {
        var record = try known(peer)
        guard !record.isBlocked || !isFavorite else { throw .blocked }
        guard record.isFavorite != isFavorite else { return }
        record.isFavorite = isFavorite
        guard keep(record) else { throw .bookIsFull }
        if !record.isBlocked {
            notify(peer, FavoriteNotice(isFavorite: isFavorite, npub: account?.npub).content, at: now)
        }
    }

    /// Neither shows nor answers somebody any more, or does so again. What waits for them is given up.
    public func setBlocked(_ isBlocked: Bool, _ peer: PeerID, at now: Now) throws(MessengerRefusal) {
        var record = try known(peer)
        record.isBlocked = isBlocked
        guard keep(record) else { throw .bookIsFull }
        guard isBlocked else { return }
        verifier.giveUp(peer)
        owed.forget(peer)
        for entry in outbox.removeAll(for: peer) { report(entry, to: peer, .failed(.blocked)) }
    }

    // MARK: Verification

    /// The code by which others verify the person.
    public func code(nickname: String, at now: Now) -> VerificationCode {
        verifier.code(nickname: nickname, npub: account?.npub, at: now, using: &random)
    }

    /// Verifies whoever's code this is: asks the peer of that key to prove itself.
    /// - Returns: whom it asks; `verified` or `verificationFailed` follows.
    public func verify(code text: String, at now: Now) throws(VerificationRefusal) -> PeerID {
        let (noiseKey, signingKey) = try verifier.read(text, at: now)
        let peer = noiseKey.peerID
        guard people[peer]?.noiseKey == noiseKey || sessions[peer] == noiseKey.fingerprint else { throw .notInReach }
        guard !trust.isBlocked(noiseKey.fingerprint) else { throw .blocked }
        let challenge = try verifier.challenge(noiseKey, signingKey: signingKey, at: now, using: &random)
        if sessions[peer] != nil { send(challenge, to: peer) } else { emit(.openSession(peer)) }
        return peer
    }

    /// Verifies somebody whose fingerprint the person got from them in another way, in hex of any spacing.
    public func verify(_ peer: PeerID, fingerprint text: String, at now: Now) throws(MessengerRefusal) {
        var record = try known(peer)
        guard Fingerprint(hex: text.filter { !$0.isWhitespace && $0 != ":" }) == record.fingerprint else {
            throw .otherFingerprint
        }
        record.verifiedAt = now.wall
        record.signingKey = record.signingKey ?? people[peer]?.signingKey
        guard keep(record) else { throw .bookIsFull }
        show(.verified(peer))
        offerVouches(to: peer, record.fingerprint, at: now)
    }

    /// Trusts somebody no more than a stranger.
    public func unverify(_ peer: PeerID) throws(MessengerRefusal) {
        var record = try known(peer)
        record.verifiedAt = nil
        record.signingKey = nil
        guard keep(record) else { throw .bookIsFull }
    }

    func send(_ challenge: VerificationChallenge, to peer: PeerID) {
        guard let body = challenge.encoded() else { return }
        send(NoisePayload(type: .verifyChallenge, body: body), to: peer)
    }

    // MARK: Records

    func nickname(of peer: PeerID) -> String { people[peer]?.nickname ?? "" }

    private func known(_ peer: PeerID) throws(MessengerRefusal) -> TrustRecord {
        if let fingerprint = sessions[peer] ?? people[peer]?.fingerprint, let record = record(of: peer, fingerprint) {
            return record
        }
        guard let record = trust.record(of: peer) else { throw .unknownPeer }
        return record
    }

    /// The record of a key, or a new one; `nil` when only the key's fingerprint is known.
    func record(of peer: PeerID, _ fingerprint: Fingerprint) -> TrustRecord? {
        if let record = trust[fingerprint] { return record }
        guard let person = people[peer], person.fingerprint == fingerprint else { return nil }
        return TrustRecord(noiseKey: person.noiseKey, nickname: person.nickname)
    }
}
