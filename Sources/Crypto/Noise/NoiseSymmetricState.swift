import Basics
import Clibsodium

/// Chaining key, handshake hash and the cipher they yield (Noise specification §5.2, chapter 02 §3.2).
///
/// A value: working on a copy, and keeping it only when a message proves good, is what makes a bad one harmless.
struct NoiseSymmetricState: Secret {
    private(set) var handshakeHash: Bytes32
    private var chainingKey: SecretBytes
    private var cipher: NoiseCipherState?

    init(protocolName: String) {
        let name = Array(protocolName.utf8)
        let padding = [UInt8](repeating: 0, count: max(0, SHA256.digestSize - name.count))
        let start = name.count <= SHA256.digestSize ? name + padding : SHA256.hash(name)
        handshakeHash = Bytes32(start) ?? Bytes32()
        chainingKey = SecretBytes(copying: start)
    }

    var hasKey: Bool { cipher != nil }

    mutating func mixHash(_ data: UnsafeRawBufferPointer) {
        let former = handshakeHash
        handshakeHash = Bytes32 { digest in
            var state = crypto_hash_sha256_state()
            crypto_hash_sha256_init(&state)
            former.withUnsafeBytes { _ = crypto_hash_sha256_update(&state, $0.octets, UInt64($0.count)) }
            crypto_hash_sha256_update(&state, data.octets, UInt64(data.count))
            crypto_hash_sha256_final(&state, digest)
        }
    }

    mutating func mixKey(_ sharedSecret: SecretBytes) {
        let (chainingKey, key) = sharedSecret.withBytes { HKDFSHA256.pair(of: $0, salt: self.chainingKey) }
        self.chainingKey = chainingKey
        cipher = NoiseCipherState(key: key)
    }

    /// The plaintext itself as long as there is no key.
    mutating func encryptAndHash(_ plaintext: UnsafeRawBufferPointer) -> [UInt8] {
        let hash = handshakeHash
        let output = hash.withUnsafeBytes { cipher?.encrypt(plaintext, associated: $0) } ?? [UInt8](plaintext)
        output.withUnsafeBytes { mixHash($0) }
        return output
    }

    mutating func decryptAndHash(_ ciphertext: UnsafeRawBufferPointer) throws(NoiseRejection) -> [UInt8] {
        guard hasKey else {
            mixHash(ciphertext)
            return [UInt8](ciphertext)
        }
        guard ciphertext.count >= NoiseLimits.tagSize else { throw .truncated }
        let hash = handshakeHash
        guard let plaintext = hash.withUnsafeBytes({ cipher?.decrypt(ciphertext, associated: $0) }) else {
            throw .notAuthentic
        }
        mixHash(ciphertext)
        return plaintext
    }

    /// The initiator's sending cipher and the responder's.
    func split() -> (initiator: NoiseCipherState, responder: NoiseCipherState) {
        let (first, second) = HKDFSHA256.pair(of: .none, salt: chainingKey)
        return (NoiseCipherState(key: first), NoiseCipherState(key: second))
    }
}
