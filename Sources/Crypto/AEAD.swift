import Clibsodium

/// ChaCha20-Poly1305 (RFC 8439): 32-byte key, 12-byte nonce, the 16-byte tag appended to the ciphertext.
public enum ChaChaPoly {
    public static let nonceSize = 12
    public static let tagSize = 16

    /// `nil` when key or nonce have another size.
    public static func seal(
        _ plaintext: [UInt8], key: SecretBytes, nonce: [UInt8], associated: [UInt8] = []
    ) -> [UInt8]? {
        guard nonce.count == nonceSize else { return nil }
        return withCipherKey(key, outputSize: plaintext.count + tagSize) { output, key in
            crypto_aead_chacha20poly1305_ietf_encrypt(
                output, nil, plaintext, UInt64(plaintext.count), associated, UInt64(associated.count), nil, nonce, key)
        }
    }

    /// `nil` when the tag does not match, or key or nonce have another size.
    public static func open(
        _ ciphertext: [UInt8], key: SecretBytes, nonce: [UInt8], associated: [UInt8] = []
    ) -> [UInt8]? {
        guard nonce.count == nonceSize else { return nil }
        return withCipherKey(key, outputSize: ciphertext.count - tagSize) { output, key in
            crypto_aead_chacha20poly1305_ietf_decrypt(
                output, nil, nil, ciphertext, UInt64(ciphertext.count), associated, UInt64(associated.count), nonce,
                key)
        }
    }
}

/// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03): as `ChaChaPoly` with a nonce of 24 bytes, long enough to be random.
public enum XChaChaPoly {
    public static let nonceSize = 24
    public static let tagSize = 16

    /// `nil` when key or nonce have another size.
    public static func seal(
        _ plaintext: [UInt8], key: SecretBytes, nonce: [UInt8], associated: [UInt8] = []
    ) -> [UInt8]? {
        guard nonce.count == nonceSize else { return nil }
        return withCipherKey(key, outputSize: plaintext.count + tagSize) { output, key in
            crypto_aead_xchacha20poly1305_ietf_encrypt(
                output, nil, plaintext, UInt64(plaintext.count), associated, UInt64(associated.count), nil, nonce, key)
        }
    }

    /// `nil` when the tag does not match, or key or nonce have another size.
    public static func open(
        _ ciphertext: [UInt8], key: SecretBytes, nonce: [UInt8], associated: [UInt8] = []
    ) -> [UInt8]? {
        guard nonce.count == nonceSize else { return nil }
        return withCipherKey(key, outputSize: ciphertext.count - tagSize) { output, key in
            crypto_aead_xchacha20poly1305_ietf_decrypt(
                output, nil, nil, ciphertext, UInt64(ciphertext.count), associated, UInt64(associated.count), nonce,
                key)
        }
    }
}

/// The output of `cipher`; `nil` when it fails, the key has not 32 bytes or there is no room for a tag.
private func withCipherKey(
    _ key: SecretBytes, outputSize: Int, _ cipher: (UnsafeMutablePointer<UInt8>, UnsafePointer<UInt8>) -> Int32
) -> [UInt8]? {
    guard key.count == 32, outputSize >= 0 else { return nil }
    _ = Sodium.isStarted
    var output = [UInt8](repeating: 0, count: outputSize)
    let result = output.withUnsafeMutableBytes { output in key.withBytes { cipher(output.octets, $0.octets) } }
    return result == 0 ? output : nil
}
