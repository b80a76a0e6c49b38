import Clibsodium

/// An authenticated cipher of libsodium: 32-byte key, the 16-byte tag appended to the ciphertext.
public protocol AuthenticatedCipher {
    static var nonceSize: Int { get }
    static var encrypt: SodiumEncryption { get }
    static var decrypt: SodiumDecryption { get }
}

/// ChaCha20-Poly1305 (RFC 8439): its 12-byte nonce is too short to be random and must come from a counter.
public enum ChaChaPoly: AuthenticatedCipher {
    public static let nonceSize = 12
    public static var encrypt: SodiumEncryption { crypto_aead_chacha20poly1305_ietf_encrypt }
    public static var decrypt: SodiumDecryption { crypto_aead_chacha20poly1305_ietf_decrypt }
}

/// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03): its 24-byte nonce is long enough to be random.
public enum XChaChaPoly: AuthenticatedCipher {
    public static let nonceSize = 24
    public static var encrypt: SodiumEncryption { crypto_aead_xchacha20poly1305_ietf_encrypt }
    public static var decrypt: SodiumDecryption { crypto_aead_xchacha20poly1305_ietf_decrypt }
}

extension AuthenticatedCipher {
    public static var tagSize: Int { 16 }

    /// `nil` when key or nonce have another size.
    public static func seal(
        _ plaintext: [UInt8], key: SecretBytes, nonce: [UInt8], associated: [UInt8] = []
    ) -> [UInt8]? {
        run(key, nonce, outputSize: plaintext.count + tagSize) { output, key in
            encrypt(
                output, nil, plaintext, UInt64(plaintext.count), associated, UInt64(associated.count), nil, nonce, key)
        }
    }

    /// `nil` when the tag does not match, or key or nonce have another size.
    public static func open(
        _ ciphertext: [UInt8], key: SecretBytes, nonce: [UInt8], associated: [UInt8] = []
    ) -> [UInt8]? {
        run(key, nonce, outputSize: ciphertext.count - tagSize) { output, key in
            decrypt(
                output, nil, nil, ciphertext, UInt64(ciphertext.count), associated, UInt64(associated.count), nonce,
                key)
        }
    }

    /// The output of `cipher`; `nil` when it fails, a size is wrong or there is no room for a tag.
    private static func run(
        _ key: SecretBytes, _ nonce: [UInt8], outputSize: Int,
        _ cipher: (UnsafeMutablePointer<UInt8>, UnsafePointer<UInt8>) -> Int32
    ) -> [UInt8]? {
        guard key.count == 32, nonce.count == nonceSize, outputSize >= 0 else { return nil }
        _ = Sodium.isStarted
        var output = [UInt8](repeating: 0, count: outputSize)
        let result = output.withUnsafeMutableBytes { output in key.withBytes { cipher(output.octets, $0.octets) } }
        return result == 0 ? output : nil
    }
}

/// Ciphertext and its length, message and its length, associated data and its length, unused, nonce, key. No C function
/// type: which arguments may be null differs between versions of the library.
public typealias SodiumEncryption = (
    UnsafeMutablePointer<UInt8>, UnsafeMutablePointer<UInt64>?, UnsafePointer<UInt8>?, UInt64,
    UnsafePointer<UInt8>?, UInt64, UnsafePointer<UInt8>?, UnsafePointer<UInt8>, UnsafePointer<UInt8>
) -> Int32

/// Message and its length, unused, ciphertext and its length, associated data and its length, nonce, key.
public typealias SodiumDecryption = (
    UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<UInt64>?, UnsafeMutablePointer<UInt8>?, UnsafePointer<UInt8>,
    UInt64, UnsafePointer<UInt8>?, UInt64, UnsafePointer<UInt8>, UnsafePointer<UInt8>
) -> Int32
