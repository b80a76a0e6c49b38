import Basics
import Wire

/// Why an announce has no effect (chapter 02 §2.4). In the order of the checks.
public enum AnnounceRejection: String, CaseIterable, Error, Sendable {
    /// Undecodable, or a key of another size than 32 bytes.
    case malformed
    /// The sender ID does not follow from the Noise key.
    case senderMismatch = "sender-mismatch"
    /// Our own, come back.
    case selfAnnounce = "self-announce"
    case stale
    /// The registry knows the ID under another Noise key.
    case keyMismatch = "key-mismatch"
    /// A Noise session proved another signing key.
    case authenticatedSigningKeyMismatch = "authenticated-signing-key-mismatch"
    /// Another signing key was pinned on first use.
    case signingKeyMismatch = "signing-key-mismatch"
    case missingSignature = "missing-signature"
    case invalidSignature = "invalid-signature"
}

/// What a node already believes about the peer an announce names; `nil` where it knows nothing.
public struct PeerPins: Hashable, Sendable {
    /// Of the registry entry under the same peer ID.
    public var noiseKey: NoisePublicKey?
    /// Proved inside a Noise session with the same fingerprint (chapter 02 §6.9).
    public var authenticatedSigningKey: SigningPublicKey?
    /// Trusted on first use: of the registry, else of the persisted identity.
    public var signingKey: SigningPublicKey?

    public init(
        noiseKey: NoisePublicKey? = nil, authenticatedSigningKey: SigningPublicKey? = nil,
        signingKey: SigningPublicKey? = nil
    ) {
        self.noiseKey = noiseKey
        self.authenticatedSigningKey = authenticatedSigningKey
        self.signingKey = signingKey
    }
}

/// What an announce says, parsed: its keys have their size, nothing else is checked.
public final class AnnounceContent: Sendable {
    public let announce: Announce
    public let noiseKey: NoisePublicKey
    public let signingKey: SigningPublicKey

    /// `nil` when the frame is no announce or a malformed one.
    init?(_ frame: Frame) {
        guard frame.type == .announce, let announce = frame.payload().flatMap({ Announce(payload: $0) }),
            let noiseKey = NoisePublicKey(announce.noisePublicKey),
            let signingKey = SigningPublicKey(announce.signingPublicKey)
        else { return nil }
        self.announce = announce
        self.noiseKey = noiseKey
        self.signingKey = signingKey
    }
}

/// An announce whose content was read, with what is asked of it at every stage of trust.
public protocol ReadAnnounce: Sendable {
    var content: AnnounceContent { get }
}

extension ReadAnnounce {
    public var announce: Announce { content.announce }
    public var noiseKey: NoisePublicKey { content.noiseKey }
    public var signingKey: SigningPublicKey { content.signingKey }
    public var fingerprint: Fingerprint { noiseKey.fingerprint }
}

/// An announce that is worth a look-up of pins and a signature check, but proves nothing yet.
public struct ClaimedAnnounce: ReadAnnounce {
    /// Older announces are ignored, replayed ones included. Live ones are judged more narrowly on arrival.
    public static let maximumAge: UInt64 = 900_000

    public let frame: Frame
    public let content: AnnounceContent

    /// The cheap checks, in the order of chapter 02 §2.4 steps 1 to 4.
    /// - Parameters:
    ///   - bound: a Noise key from which the frame's sender ID is known to follow, if there is one.
    ///   - memory: where the parsed announce is looked up and kept, if anywhere.
    public init(
        _ frame: Frame, local: PeerID, bound: NoisePublicKey? = nil, memory: FrameMemory? = nil, at now: WallTime
    ) throws(AnnounceRejection) {
        guard let content = memory.map({ $0.announce(in: frame) }) ?? AnnounceContent(frame) else { throw .malformed }
        let sender = frame.senderID
        guard content.noiseKey == bound || content.noiseKey.peerID == sender else { throw .senderMismatch }
        guard sender != local else { throw .selfAnnounce }
        let sent = frame.timestamp
        guard sent >= now || sent.distance(to: now) <= ClaimedAnnounce.maximumAge else { throw .stale }
        self.frame = frame
        self.content = content
    }
}

/// An announce that passed every check. It proves that its sender holds the *signing* key; the Noise key may be copied
/// from a victim, until a handshake proves that too (chapter 02 §2.4).
public struct VerifiedAnnounce: ReadAnnounce {
    public let frame: Frame
    public let content: AnnounceContent

    /// The trust decision of chapter 02 §2.4 step 5; the first rule that matches decides.
    public init(
        verifying claim: ClaimedAnnounce, against pins: PeerPins, memory: FrameMemory? = nil
    ) throws(AnnounceRejection) {
        let content = claim.content
        if let known = pins.noiseKey, known != content.noiseKey { throw .keyMismatch }
        if let known = pins.authenticatedSigningKey, known != content.signingKey {
            throw .authenticatedSigningKeyMismatch
        }
        if let known = pins.signingKey, known != content.signingKey { throw .signingKeyMismatch }
        guard claim.frame.layout.hasSignature else { throw .missingSignature }
        guard content.signingKey.verify(claim.frame, memory: memory) else { throw .invalidSignature }
        frame = claim.frame
        self.content = content
    }
}
