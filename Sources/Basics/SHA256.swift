import Clibsodium

/// SHA-256 (FIPS 180-4) through libsodium.
public enum SHA256 {
    public static let digestSize = 32

    public static func hash(_ bytes: some Collection<UInt8>) -> [UInt8] {
        if let digest = bytes.withContiguousStorageIfAvailable({ hash(UnsafeRawBufferPointer($0)) }) { return digest }
        return Array(bytes).withUnsafeBytes { hash($0) }
    }

    public static func hash(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: digestSize)
        crypto_hash_sha256(&digest, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(bytes.count))
        return digest
    }

    /// Incremental hash over several pieces, without joining them first.
    public struct Stream {
        private var state = crypto_hash_sha256_state()

        public init() { crypto_hash_sha256_init(&state) }

        public mutating func update(_ bytes: UnsafeRawBufferPointer) {
            crypto_hash_sha256_update(
                &state, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(bytes.count))
        }

        public mutating func update(_ bytes: [UInt8]) { bytes.withUnsafeBytes { update($0) } }

        public mutating func update<T: FixedWidthInteger>(bigEndian value: T) {
            withUnsafeBytes(of: value.bigEndian) { update($0) }
        }

        /// Ends the hash; the stream must not be used afterwards.
        public mutating func finish() -> [UInt8] {
            finish { [UInt8]($0) }
        }

        /// As `finish()`, with the 32 digest bytes on the stack.
        public mutating func finish<R>(_ use: (UnsafeRawBufferPointer) -> R) -> R {
            var digest: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
            return withUnsafeMutablePointer(to: &digest) { digest in
                digest.withMemoryRebound(to: UInt8.self, capacity: digestSize) {
                    _ = crypto_hash_sha256_final(&state, $0)
                }
                return use(UnsafeRawBufferPointer(start: digest, count: digestSize))
            }
        }
    }
}
