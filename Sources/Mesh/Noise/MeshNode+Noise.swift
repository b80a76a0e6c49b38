import Basics
import Crypto
import Wire

/// Result of submitting a payload for a peer.
public enum NoiseDispatch: Sendable {
    /// Encrypted and on its way. Whether it arrives only the peer can say.
    case sent
    /// Waits for a session, or for its turn; `MeshEvent.undeliverable` follows if nothing comes of it within
    /// `NoiseSessionLimits.queuedLife`.
    case queued
    /// No room in the queue, too long, or of a kind that cannot wait.
    case refused
}

/// A session or an attempt at one, for status displays.
public struct NoiseSessionSnapshot: Hashable, Sendable {
    public enum State: String, Sendable {
        case initiating, responding, established
        /// None at present; another attempt is due.
        case waiting
    }

    public let peer: PeerID
    public let state: State
    /// Of the key the peer proved; nil before.
    public let fingerprint: Fingerprint?
    public let begun: Instant?
    public let lastActivity: Instant?
    public let messagesSent: UInt64
    /// The identity the peer proved in this session; nil until then (chapter 02 §6.9).
    public let provenCapabilities: Capabilities?
    public let provenSigningKey: SigningPublicKey?
    /// A link of the peer's was proved by a handshake that came in over it.
    public let hasProvenLink: Bool
    /// Payloads waiting.
    public let queued: Int
}

extension MeshNode {
    /// Sees to it that there is a session with the peer, if it can be reached: `MeshEvent.sessionEstablished` or
    /// `sessionFailed` tells what came of it.
    /// - Parameter renews: begin a new one even if one is established.
    /// - Returns: false when there is none and nothing was begun.
    @discardableResult
    public func openSession(with peer: PeerID, renews: Bool = false, at now: Now) -> Bool {
        self.now = now
        guard isRunning, peer != me else { return false }
        if renews || !noise.sessions.isEstablished(with: peer) { noise.start(with: peer, in: self) }
        return noise.sessions[peer].map { $0.isEstablished || $0.isShakingHands } ?? false
    }

    /// Sends a typed payload to a peer, through a session that is begun if there is none. Payloads to one peer arrive
    /// in order, or not at all. The node sends authenticated peer state itself and refuses it here.
    @discardableResult
    public func send(_ payload: NoisePayload, to peer: PeerID, at now: Now) -> NoiseDispatch {
        self.now = now
        guard isRunning else { return .refused }
        return noise.enqueue(payload, to: peer, in: self)
    }

    /// By peer ID.
    public var sessions: [NoiseSessionSnapshot] { noise.sessions.all.map(snapshot) }

    public func session(with peer: PeerID) -> NoiseSessionSnapshot? { noise.sessions[peer].map(snapshot) }

    /// Whether a live link of the peer's was proved by a handshake that came in over it: the condition for giving
    /// something away for good (chapter 02 §4.10).
    public func isNoiseProven(_ peer: PeerID) -> Bool { !provenLinks(of: peer).isEmpty }

    /// Proven peer at the far end of a link; nil if none is proven.
    public func noiseProvenPeer(at link: LinkID) -> PeerID? { linkTable[link]?.provenPeer }

    /// Oldest first.
    func provenLinks(of peer: PeerID) -> [LinkID] { linkTable.all.filter { $0.provenPeer == peer }.map(\.id) }

    private func snapshot(_ slot: SessionSlot) -> NoiseSessionSnapshot {
        let state: NoiseSessionSnapshot.State =
            switch slot.phase {
            case .none: .waiting
            case .initiating: .initiating
            case .responding: .responding
            case .established: .established
            }
        let proven = slot.isEstablished ? noise.exchanges[slot.peer]?.proven : nil
        return NoiseSessionSnapshot(
            peer: slot.peer, state: state, fingerprint: slot.session?.fingerprint, begun: slot.begun,
            lastActivity: slot.session?.lastActivity, messagesSent: slot.session?.transport.sentCount ?? 0,
            provenCapabilities: proven?.capabilities,
            provenSigningKey: proven.flatMap { SigningPublicKey($0.signingPublicKey) },
            hasProvenLink: isNoiseProven(slot.peer), queued: noise.outbound.count(for: slot.peer))
    }
}
