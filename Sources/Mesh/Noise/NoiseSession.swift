import Basics
import Crypto
import Wire

/// An established session with one peer.
struct NoiseSession {
    var transport: NoiseTransport
    let remoteKey: NoisePublicKey
    let fingerprint: Fingerprint
    let role: NoiseRole
    /// When its handshake began, which is what its age is measured from (chapter 02 §3.7).
    let begun: Instant
    /// Sent or received.
    var lastActivity: Instant
    var lastHeard: Instant

    /// Unique to the session, the same on both sides.
    var generation: Bytes32 { transport.handshakeHash }

    func isSpent(at now: Instant) -> Bool {
        now - begun >= NoiseSessionLimits.sessionLife || transport.sentCount >= NoiseSessionLimits.messages
    }

    func wantsRekey(at now: Instant) -> Bool {
        now - begun >= NoiseSessionLimits.rekeyAge || transport.sentCount >= NoiseSessionLimits.rekeyMessages
    }
}

/// A handshake under way.
struct HandshakeAttempt {
    var handshake: NoiseHandshake
    let begun: Instant
    var deadline: Instant
    /// Has one more attempt to its credit if it fails.
    var ownsRetry: Bool
    /// A responder made by giving up an attempt of ours for the peer's.
    var hasYielded = false
    /// Where the first message came from; nil for our own.
    var link: LinkID?
}

/// A session pushed aside by a handshake that has yet to prove anything: it is read under, never written under.
struct QuarantinedSession {
    var session: NoiseSession
    /// When it is put back, or let go of; nil while our own handshake decides.
    var deadline: Instant?
}

/// Why there is no session after all.
public enum NoiseSessionFailure: String, CaseIterable, Sendable {
    /// Neither attempt was answered.
    case noAnswer = "no-answer"
    /// An answer came that does not fit.
    case notAuthentic = "not-authentic"
    /// The peer proved another key than the one its ID stands for.
    case wrongIdentity = "wrong-identity"
    /// The peer went out of reach before a second attempt.
    case unreachable
    /// Pushed out by other sessions.
    case evicted
}
