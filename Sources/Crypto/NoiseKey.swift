import Basics
import Clibsodium
import Wire

/// SHA-256 of a Noise static public key: the long name of a peer (chapter 02 §1.2).
public struct Fingerprint: Bytes32Representable {
    public let rawValue: Bytes32

    public init(rawValue: Bytes32) { self.rawValue = rawValue }

    /// The first 8 bytes: the peer's name on the wire.
    public var peerID: PeerID {
        withUnsafeBytes { PeerID(value: UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self))) }
    }
}

/// An X25519 public key as received: any 32 bytes. A key agreement takes only an acceptable one.
public struct NoisePublicKey: Bytes32Representable {
    public let rawValue: Bytes32

    public init(rawValue: Bytes32) { self.rawValue = rawValue }

    public var fingerprint: Fingerprint {
        Fingerprint(
            rawValue: Bytes32 { digest in
                withUnsafeBytes { _ = crypto_hash_sha256(digest, $0.octets, UInt64($0.count)) }
            })
    }

    public var peerID: PeerID { fingerprint.peerID }

    /// Not one of the eight refused byte strings (chapter 02 §1.3 rule 2). Every string is compared, in constant time.
    public var isAcceptable: Bool {
        var isRefused = false
        for refused in NoisePublicKey.refused { isRefused = (self.rawValue == refused) || isRefused }
        return !isRefused
    }

    private static let refused: [Bytes32] = [
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000001",
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
        "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
        "daffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "dbffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    ].compactMap { Hex.decode($0).flatMap { Bytes32($0) } }
}

/// An X25519 key pair: a peer's static key, an ephemeral or a one-time prekey (chapter 02 §1.1).
public final class NoiseStaticKey: Secret, Sendable {
    public static let size = 32

    public let publicKey: NoisePublicKey
    public let privateKey: SecretBytes

    /// `nil` unless the private key has 32 bytes.
    public convenience init?(privateKey: SecretBytes) {
        guard privateKey.count == NoiseStaticKey.size else { return nil }
        self.init(checked: privateKey)
    }

    public convenience init?(privateKey: [UInt8]) { self.init(privateKey: SecretBytes(copying: privateKey)) }

    private init(checked privateKey: SecretBytes) {
        _ = Sodium.isStarted
        self.privateKey = privateKey
        publicKey = NoisePublicKey(
            rawValue: Bytes32 { point in
                privateKey.withBytes { _ = crypto_scalarmult_curve25519_base(point, $0.octets) }
            })
    }

    public static func generate(using random: inout some RandomNumberGenerator) -> NoiseStaticKey {
        NoiseStaticKey(checked: .random(count: size, using: &random))
    }

    /// X25519 with another party's key; `nil` when that key is refused or the result is all zero (chapter 02 §1.3).
    public func sharedSecret(with other: NoisePublicKey) -> SecretBytes? {
        guard other.isAcceptable else { return nil }
        var isSound = false
        let secret = SecretBytes(count: NoiseStaticKey.size) { result in
            privateKey.withBytes { scalar in
                other.withUnsafeBytes { point in
                    isSound = crypto_scalarmult_curve25519(result.octets, scalar.octets, point.octets) == 0
                }
            }
            isSound = isSound && sodium_is_zero(result.octets, result.count) == 0
        }
        return isSound ? secret : nil
    }
}
