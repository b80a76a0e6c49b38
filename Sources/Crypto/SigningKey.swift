import Clibsodium

/// An Ed25519 public key (RFC 8032, no pre-hash, no context; chapter 02 §2.1).
public struct SigningPublicKey: Bytes32Representable {
    public let rawValue: Bytes32

    public init(rawValue: Bytes32) { self.rawValue = rawValue }

    /// Strict verification: small-order keys, non-canonical encodings and signatures of another length than 64 bytes
    /// verify as false.
    public func verify(_ signature: [UInt8], over message: [UInt8]) -> Bool {
        signature.withUnsafeBytes { signature in message.withUnsafeBytes { verify(signature, over: $0) } }
    }

    public func verify(_ signature: UnsafeRawBufferPointer, over message: UnsafeRawBufferPointer) -> Bool {
        guard signature.count == SigningKey.signatureSize else { return false }
        return withUnsafeBytes { key in
            crypto_sign_verify_detached(signature.octets, message.octets, UInt64(message.count), key.octets) == 0
        }
    }
}

/// An Ed25519 key pair, made from its 32-byte seed. Independent of the Noise key (chapter 02 §1.1).
public final class SigningKey: Secret, Sendable {
    public static let seedSize = 32
    public static let signatureSize = 64

    public let publicKey: SigningPublicKey
    public let seed: SecretBytes
    /// libsodium's 64-byte form, seed followed by public key.
    private let expanded: SecretBytes

    /// `nil` unless the seed has 32 bytes.
    public convenience init?(seed: SecretBytes) {
        guard seed.count == SigningKey.seedSize else { return nil }
        self.init(checked: seed)
    }

    public convenience init?(seed: [UInt8]) { self.init(seed: SecretBytes(copying: seed)) }

    private init(checked seed: SecretBytes) {
        _ = Sodium.isStarted
        var point = Bytes32()
        expanded = SecretBytes(count: Int(crypto_sign_SECRETKEYBYTES)) { secret in
            point = Bytes32 { publicKey in
                seed.withBytes { _ = crypto_sign_seed_keypair(publicKey, secret.octets, $0.octets) }
            }
        }
        publicKey = SigningPublicKey(rawValue: point)
        self.seed = seed
    }

    public static func generate(using random: inout some RandomNumberGenerator) -> SigningKey {
        SigningKey(checked: .random(count: seedSize, using: &random))
    }

    /// The deterministic 64-byte signature. Phones' signatures are randomised: compare by verifying, never by bytes.
    public func sign(_ message: [UInt8]) -> [UInt8] {
        var signature = [UInt8](repeating: 0, count: SigningKey.signatureSize)
        expanded.withBytes { _ = crypto_sign_detached(&signature, nil, message, UInt64(message.count), $0.octets) }
        return signature
    }
}
