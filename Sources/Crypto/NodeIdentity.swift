import Wire

/// The two independent key pairs a mesh node lives under, and the names that follow from them (chapter 02 §1).
public struct NodeIdentity: Secret, Sendable {
    public let noise: NoiseStaticKey
    public let signing: SigningKey
    public let fingerprint: Fingerprint
    public let peerID: PeerID

    public init(noise: NoiseStaticKey, signing: SigningKey) {
        self.noise = noise
        self.signing = signing
        fingerprint = noise.publicKey.fingerprint
        peerID = fingerprint.peerID
    }

    public static func generate(using random: inout some RandomNumberGenerator) -> NodeIdentity {
        let noise = NoiseStaticKey.generate(using: &random)
        return NodeIdentity(noise: noise, signing: .generate(using: &random))
    }
}
