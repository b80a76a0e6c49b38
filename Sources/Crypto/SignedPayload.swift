import Wire

/// A payload with a signature of its own, apart from the packet's, so that it stays provable in other hands.
public protocol SignedPayload: Sendable {
    /// What the signature covers; `nil` when the payload could not be emitted.
    var signatureInput: [UInt8]? { get }
    /// 64 bytes; `nil` when they cannot be read.
    var signatureBytes: [UInt8]? { get }
}

/// A signed payload that names the key it is signed with. Whose key that is, it does not prove.
public protocol SelfSignedPayload: SignedPayload {
    /// 32 bytes; `nil` when the payload names none.
    var signerBytes: [UInt8]? { get }
}

/// A payload whose signature was checked. Take this, not the payload, wherever a signature is required.
public struct Verified<Payload: SignedPayload>: Sendable {
    public let payload: Payload
    public let signer: SigningPublicKey

    /// `nil` unless the payload is signed with `key`.
    public init?(_ payload: Payload, under key: SigningPublicKey) {
        guard let signature = payload.signatureBytes, let input = payload.signatureInput,
            key.verify(signature, over: input)
        else { return nil }
        self.payload = payload
        signer = key
    }
}

extension Verified where Payload: SelfSignedPayload {
    /// `nil` unless the payload is signed with the key it names.
    public init?(_ payload: Payload) {
        guard let key = payload.signerBytes.flatMap({ SigningPublicKey($0) }) else { return nil }
        self.init(payload, under: key)
    }
}

extension Verified: Equatable where Payload: Equatable {}

/// Signed by the owner of the Noise key inside (chapter 01 §9.5); the key is the owner's bound one.
extension PrekeyBundle: SignedPayload {
    public var signatureInput: [UInt8]? { signedBytes }
    public var signatureBytes: [UInt8]? { signature }
}

/// Signed by the peer of the Noise session it came in (chapter 01 §10.4).
extension VouchAttestation: SignedPayload {
    public var signatureInput: [UInt8]? { signedBytes }
    public var signatureBytes: [UInt8]? { signature }
}

/// Signed with the key of the scanned code (chapter 02 §6.6).
extension VerificationResponse: SignedPayload {
    public var signatureInput: [UInt8]? { signedBytes }
    public var signatureBytes: [UInt8]? { signature }
}

/// Signed with the author's key inside (chapter 01 §9.11).
extension BoardPayload: SelfSignedPayload {
    public var signatureInput: [UInt8]? { signedBytes }
    public var signatureBytes: [UInt8]? { signature }
    public var signerBytes: [UInt8]? { authorSigningKey }
}

/// Signed with the creator's key of the roster (chapter 01 §9.12).
extension GroupState: SelfSignedPayload {
    public var signatureInput: [UInt8]? { signedBytes }
    public var signatureBytes: [UInt8]? { signature }
    public var signerBytes: [UInt8]? { creatorSigningKey }
}

/// Signed with the key inside; that the Noise key inside has the same owner, only a challenge proves (chapter 02 §6.6).
extension VerificationCode: SelfSignedPayload {
    public var signatureInput: [UInt8]? { signedBytes }
    public var signatureBytes: [UInt8]? { signature }
    public var signerBytes: [UInt8]? { signingKey }
}
