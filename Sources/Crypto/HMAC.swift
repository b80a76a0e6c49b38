import Basics
import Clibsodium

/// HMAC-SHA256 (RFC 2104).
public enum HMACSHA256 {
    public static let size = 32

    public static func code(of message: [UInt8], key: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: size)
        code.withUnsafeMutableBytes { code in
            key.withUnsafeBytes { key in message.withUnsafeBytes { write(of: $0, key: key, to: code) } }
        }
        return code
    }

    /// The code as a secret, for keys and chaining values.
    public static func secret(of message: [UInt8], key: UnsafeRawBufferPointer) -> SecretBytes {
        SecretBytes(count: size) { code in message.withUnsafeBytes { write(of: $0, key: key, to: code) } }
    }

    /// `code` must have room for 32 bytes.
    static func write(
        of message: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer, to code: UnsafeMutableRawBufferPointer
    ) {
        var state = crypto_auth_hmacsha256_state()
        defer { sodium_memzero(&state, MemoryLayout.size(ofValue: state)) }
        crypto_auth_hmacsha256_init(&state, key.octets, key.count)
        crypto_auth_hmacsha256_update(&state, message.octets, UInt64(message.count))
        crypto_auth_hmacsha256_final(&state, code.octets)
    }
}

/// HKDF with SHA-256 (RFC 5869).
public enum HKDFSHA256 {
    /// At most 255 blocks (RFC 5869 §2.3).
    public static let maximumSize = 255 * HMACSHA256.size

    /// Extract and expand to `count` bytes, bounded by RFC 5869 to 8160.
    public static func derive(
        _ input: SecretBytes, salt: [UInt8] = [], info: [UInt8], count: Int = 32
    ) -> SecretBytes {
        let pseudorandomKey = SecretBytes(count: HMACSHA256.size) { key in
            salt.withUnsafeBytes { salt in input.withBytes { HMACSHA256.write(of: $0, key: salt, to: key) } }
        }
        return pseudorandomKey.withBytes { key in
            SecretBytes(count: min(count, maximumSize)) { output in expand(key: key, info: info, to: output) }
        }
    }

    /// Two keys of 32 bytes with empty info: the key derivation of the Noise specification §4.3.
    static func pair(of input: UnsafeRawBufferPointer, salt: SecretBytes) -> (SecretBytes, SecretBytes) {
        let pseudorandomKey = SecretBytes(count: HMACSHA256.size) { key in
            salt.withBytes { HMACSHA256.write(of: input, key: $0, to: key) }
        }
        return pseudorandomKey.withBytes { key in
            let first = HMACSHA256.secret(of: [1], key: key)
            let message = SecretBytes(count: HMACSHA256.size + 1) { message in
                first.withBytes { message.copyMemory(from: $0) }
                message[HMACSHA256.size] = 2
            }
            let second = SecretBytes(count: HMACSHA256.size) { code in
                message.withBytes { HMACSHA256.write(of: $0, key: key, to: code) }
            }
            return (first, second)
        }
    }

    private static func expand(
        key: UnsafeRawBufferPointer, info: [UInt8], to output: UnsafeMutableRawBufferPointer
    ) {
        var block = SecretBytes(copying: [])
        var written = 0
        while written < output.count {
            let counter = UInt8(truncatingIfNeeded: written / HMACSHA256.size + 1)
            let message = SecretBytes(count: block.count + info.count + 1) { message in
                block.withBytes { message.copyMemory(from: $0) }
                UnsafeMutableRawBufferPointer(rebasing: message[block.count...]).copyBytes(from: info + [counter])
            }
            block = SecretBytes(count: HMACSHA256.size) { code in
                message.withBytes { HMACSHA256.write(of: $0, key: key, to: code) }
            }
            block.withBytes { block in
                let part = UnsafeRawBufferPointer(rebasing: block.prefix(output.count - written))
                UnsafeMutableRawBufferPointer(rebasing: output[written...]).copyMemory(from: part)
                written += part.count
            }
        }
    }
}

extension SHA256 {
    /// SHA-256 over a secret followed by public bytes, as a secret.
    static func secret(of first: UnsafeRawBufferPointer, then second: [UInt8]) -> SecretBytes {
        var state = crypto_hash_sha256_state()
        defer { sodium_memzero(&state, MemoryLayout.size(ofValue: state)) }
        crypto_hash_sha256_init(&state)
        crypto_hash_sha256_update(&state, first.octets, UInt64(first.count))
        crypto_hash_sha256_update(&state, second, UInt64(second.count))
        return SecretBytes(count: digestSize) { crypto_hash_sha256_final(&state, $0.octets) }
    }
}
