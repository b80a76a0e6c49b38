import Basics
import Crypto
import Wire

/// Why a code cannot be used to verify somebody.
public enum VerificationRefusal: String, CaseIterable, Error, Sendable {
    case notACode = "not-a-code"
    case badSignature = "bad-signature"
    case outdated
    case ownCode = "own-code"
    case notInReach = "not-in-reach"
    case blocked
    case tooMany = "too-many"
    /// It names no account at relays.
    case noAccount = "no-account"
}

/// Proves to people, by a code that travels outside the mesh, that they talk to whom they mean (chapter 02 §6.6).
///
/// A code binds nothing by itself: whoever shows it might have copied the Noise key. The challenge inside the session
/// with that key's owner is answered only by who also holds the code's signing key.
struct Verifier {
    struct Pending {
        let noiseKeyHex: String
        let nonce: [UInt8]
        let noiseKey: NoisePublicKey
        let signingKey: SigningPublicKey
        let deadline: Instant
    }

    private let identity: NodeIdentity
    private var pending: [PeerID: Pending] = [:]
    /// The nonce answered last, by peer.
    private var answered: [PeerID: [UInt8]] = [:]
    private var own: (code: VerificationCode, made: Instant, nickname: String)?

    init(identity: NodeIdentity) { self.identity = identity }

    // MARK: Being verified

    /// The code to show; a new one a minute after the last.
    mutating func code(
        nickname: String, npub: String?, at now: Now, using random: inout some RandomNumberGenerator
    ) -> VerificationCode {
        if let own, own.nickname == nickname, now.monotonic - own.made < MessengerLimits.codeInterval {
            return own.code
        }
        var code = VerificationCode(
            noiseKeyHex: identity.noise.publicKey.hex, signingKeyHex: identity.signing.publicKey.hex,
            nickname: nickname, timestamp: now.wall.unixSeconds, nonce: Base64URL.encode(random.bytes(16)),
            signatureHex: "", npub: npub)
        code.signatureHex = Hex.encode(identity.signing.sign(code.signedBytes))
        own = (code, now.monotonic, nickname)
        return code
    }

    /// The answer to a challenge; `nil` for one meant for another key, and for the one answered last.
    mutating func answer(_ challenge: VerificationChallenge, from peer: PeerID) -> VerificationResponse? {
        guard challenge.noiseKeyHex.lowercased() == identity.noise.publicKey.hex, answered[peer] != challenge.nonce
        else { return nil }
        if answered[peer] == nil, answered.count >= MessengerLimits.answeredChallenges { answered.removeAll() }
        answered[peer] = challenge.nonce
        var response = VerificationResponse(
            noiseKeyHex: challenge.noiseKeyHex, nonce: challenge.nonce, signature: [])
        response.signature = identity.signing.sign(response.signedBytes)
        return response
    }

    // MARK: Verifying

    /// Reads a scanned or pasted code.
    func read(_ text: String, at now: Now) throws(VerificationRefusal) -> (NoisePublicKey, SigningPublicKey) {
        guard let code = VerificationCode(text: text), let noiseKey = code.noiseKey.flatMap({ NoisePublicKey($0) })
        else { throw .notACode }
        guard let verified = Verified(code) else { throw .badSignature }
        guard code.isCurrent(at: now.wall) else { throw .outdated }
        guard noiseKey != identity.noise.publicKey else { throw .ownCode }
        return (noiseKey, verified.signer)
    }

    /// The challenge to send; an earlier one for the same peer is given up.
    mutating func challenge(
        _ noiseKey: NoisePublicKey, signingKey: SigningPublicKey, at now: Now,
        using random: inout some RandomNumberGenerator
    ) throws(VerificationRefusal) -> VerificationChallenge {
        let peer = noiseKey.peerID
        guard pending[peer] != nil || pending.count < MessengerLimits.pendingVerifications else { throw .tooMany }
        let waiting = Pending(
            noiseKeyHex: noiseKey.hex, nonce: random.bytes(16), noiseKey: noiseKey, signingKey: signingKey,
            deadline: now.monotonic + MessengerLimits.verificationTimeout)
        pending[peer] = waiting
        return VerificationChallenge(noiseKeyHex: waiting.noiseKeyHex, nonce: waiting.nonce)
    }

    /// The challenge that waits for an answer of the peer's, for a session that is new.
    func challenge(for peer: PeerID) -> VerificationChallenge? {
        pending[peer].map { VerificationChallenge(noiseKeyHex: $0.noiseKeyHex, nonce: $0.nonce) }
    }

    enum Outcome {
        case verified(Pending)
        case unexpected
        case failed
    }

    /// Judges a response that came in a session whose peer has this fingerprint.
    mutating func judge(
        _ response: VerificationResponse, from peer: PeerID, _ fingerprint: Fingerprint
    ) -> Outcome {
        guard let waiting = pending[peer], response.noiseKeyHex == waiting.noiseKeyHex,
            response.nonce == waiting.nonce
        else { return .unexpected }
        pending[peer] = nil
        // The session's key, not the code's, is what becomes trusted; an ID of eight bytes does not make them one.
        guard waiting.noiseKey.fingerprint == fingerprint, Verified(response, under: waiting.signingKey) != nil else {
            return .failed
        }
        return .verified(waiting)
    }

    mutating func giveUp(_ peer: PeerID) { pending[peer] = nil }

    var nextDeadline: Instant? { pending.values.map(\.deadline).min() }

    /// Peers that did not answer in time.
    mutating func takeOverdue(at now: Instant) -> [PeerID] {
        let overdue = pending.filter { $0.value.deadline <= now }.keys.sorted()
        for peer in overdue { pending[peer] = nil }
        return overdue
    }
}
