import Basics
import Csecp256k1

/// An x-only secp256k1 public key (BIP-340) as received: any 32 bytes. Bytes that are no point of the curve verify
/// nothing.
public struct NostrPublicKey: Bytes32Representable {
    public let rawValue: Bytes32

    public init(rawValue: Bytes32) { self.rawValue = rawValue }

    /// BIP-340 verification over a 32-byte digest; false for a signature not of 64 bytes or a digest not of 32.
    public func verify(_ signature: [UInt8], digest: [UInt8]) -> Bool {
        signature.withUnsafeBytes { signature in digest.withUnsafeBytes { verify(signature, digest: $0) } }
    }

    public func verify(_ signature: UnsafeRawBufferPointer, digest: UnsafeRawBufferPointer) -> Bool {
        guard signature.count == NostrSecretKey.signatureSize, digest.count == Bytes32.size else { return false }
        return Secp256k1Context.verifying.use { context in
            var point = secp256k1_xonly_pubkey()
            return withUnsafeBytes { secp256k1_xonly_pubkey_parse(context, &point, $0.octets) } == 1
                && secp256k1_schnorrsig_verify(context, signature.octets, digest.octets, digest.count, &point) == 1
        }
    }
}

/// A secp256k1 private key for BIP-340 signatures (chapter 05 §1.3).
public final class NostrSecretKey: Secret, Sendable {
    public static let size = 32
    public static let signatureSize = 64

    public let publicKey: NostrPublicKey
    public let privateKey: SecretBytes
    /// libsecp256k1's own form, which holds the secret again: it must live in zeroed memory too.
    private let pair: SecretBytes
    private let context: Secp256k1Context

    /// `nil` unless there are 32 bytes that make a scalar 1 ≤ d < n.
    public init?(_ privateKey: SecretBytes) {
        guard privateKey.count == NostrSecretKey.size else { return nil }
        var isValid = false
        var point = Bytes32()
        let context = Secp256k1Context(signingWith: privateKey)
        pair = SecretBytes(count: MemoryLayout<secp256k1_keypair>.size) { memory in
            let pair = UnsafeMutableRawPointer(memory.octets).assumingMemoryBound(to: secp256k1_keypair.self)
            var xonly = secp256k1_xonly_pubkey()
            context.use { context in
                isValid =
                    privateKey.withBytes { secp256k1_keypair_create(context, pair, $0.octets) } == 1
                    && secp256k1_keypair_xonly_pub(context, &xonly, nil, pair) == 1
                point = Bytes32 { _ = isValid && secp256k1_xonly_pubkey_serialize(context, $0, &xonly) == 1 }
            }
        }
        guard isValid else { return nil }
        self.privateKey = privateKey
        self.context = context
        publicKey = NostrPublicKey(rawValue: point)
    }

    public convenience init?(_ privateKey: [UInt8]) { self.init(SecretBytes(copying: privateKey)) }

    /// A fresh key; draws again in the case, never seen, that the bytes make no valid scalar.
    public static func generate(using random: inout some RandomNumberGenerator) -> NostrSecretKey {
        while true {
            if let key = NostrSecretKey(.random(count: size, using: &random)) { return key }
        }
    }

    /// The 64-byte BIP-340 signature of a 32-byte digest under 32 bytes of auxiliary randomness; `nil` for other sizes.
    public func sign(_ digest: [UInt8], auxiliary: [UInt8]) -> [UInt8]? {
        guard digest.count == Bytes32.size, auxiliary.count == Bytes32.size else { return nil }
        var signature = [UInt8](repeating: 0, count: NostrSecretKey.signatureSize)
        let isSigned = pair.withBytes { memory in
            let pair = UnsafeRawPointer(memory.octets).assumingMemoryBound(to: secp256k1_keypair.self)
            return context.use { secp256k1_schnorrsig_sign32($0, &signature, digest, pair, auxiliary) } == 1
        }
        return isSigned ? signature : nil
    }

    /// Signs with fresh auxiliary randomness (chapter 05 §1.3); `nil` unless the digest has 32 bytes.
    public func sign(_ digest: [UInt8], using random: inout some RandomNumberGenerator) -> [UInt8]? {
        sign(digest, auxiliary: random.bytes(Bytes32.size))
    }
}
