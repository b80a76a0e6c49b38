import Basics
import Clibsodium

/// A key and its message counter (Noise specification §5.1), with ChaCha20-Poly1305.
struct NoiseCipherState: Secret {
    private let key: SecretBytes
    private(set) var nonce: UInt64

    /// The key has 32 bytes.
    init(key: SecretBytes, nonce: UInt64 = 0) {
        _ = Sodium.isStarted
        self.key = key
        self.nonce = nonce
    }

    /// Ciphertext and tag under the next counter.
    mutating func encrypt(_ plaintext: UnsafeRawBufferPointer, associated: UnsafeRawBufferPointer) -> [UInt8] {
        let size = plaintext.count + NoiseLimits.tagSize
        let sealed = [UInt8](unsafeUninitializedCapacity: size) { output, count in
            seal(plaintext, associated: associated, nonce: nonce, to: UnsafeMutableRawBufferPointer(output))
            count = size
        }
        nonce &+= 1
        return sealed
    }

    /// The plaintext of the next counter, which moves on only when the tag matches; nil when it does not.
    mutating func decrypt(_ ciphertext: UnsafeRawBufferPointer, associated: UnsafeRawBufferPointer) -> [UInt8]? {
        guard let plaintext = open(ciphertext, associated: associated, nonce: nonce) else { return nil }
        nonce &+= 1
        return plaintext
    }

    /// Writes ciphertext and tag, 16 bytes more than the plaintext, for which `output` must have room.
    func seal(
        _ plaintext: UnsafeRawBufferPointer, associated: UnsafeRawBufferPointer, nonce: UInt64,
        to output: UnsafeMutableRawBufferPointer
    ) {
        key.withBytes { key in
            withNonce(nonce) { nonce in
                _ = crypto_aead_chacha20poly1305_ietf_encrypt(
                    output.octets, nil, plaintext.octets, UInt64(plaintext.count), associated.octets,
                    UInt64(associated.count), nil, nonce, key.octets)
            }
        }
    }

    /// The plaintext under a counter of the caller's choice; nil when the tag is missing or does not match.
    func open(
        _ ciphertext: UnsafeRawBufferPointer, associated: UnsafeRawBufferPointer, nonce: UInt64
    ) -> [UInt8]? {
        let size = ciphertext.count - NoiseLimits.tagSize
        guard size >= 0 else { return nil }
        var isAuthentic = false
        let plaintext = [UInt8](unsafeUninitializedCapacity: size) { output, count in
            let output = UnsafeMutableRawBufferPointer(output)
            isAuthentic = key.withBytes { key in
                withNonce(nonce) { nonce in
                    crypto_aead_chacha20poly1305_ietf_decrypt(
                        output.octets, nil, nil, ciphertext.octets, UInt64(ciphertext.count), associated.octets,
                        UInt64(associated.count), nonce, key.octets) == 0
                }
            }
            count = isAuthentic ? size : 0
        }
        return isAuthentic ? plaintext : nil
    }

    /// Four zero bytes, then the counter in little-endian order (chapter 02 §3.2).
    private func withNonce<R>(_ nonce: UInt64, _ body: (UnsafePointer<UInt8>) -> R) -> R {
        let low = UInt32(truncatingIfNeeded: nonce).littleEndian
        let high = UInt32(truncatingIfNeeded: nonce >> 32).littleEndian
        return withUnsafeBytes(of: (UInt32(0), low, high)) { body($0.octets) }
    }
}

extension UnsafeRawBufferPointer {
    static var none: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}
