import Clibsodium

/// SipHash-2-4 with a 128-bit result, through libsodium: a fast keyed hash for tables that outsiders fill.
public enum SipHash128 {
    public struct Key: Sendable {
        let first: UInt64
        let second: UInt64

        public init(using random: inout some RandomNumberGenerator) {
            first = random.next()
            second = random.next()
        }
    }

    public struct Digest: Hashable, Sendable {
        public let first: UInt64
        public let second: UInt64
    }

    public static func hash(_ bytes: UnsafeRawBufferPointer, under key: Key) -> Digest {
        var digest = (UInt64(0), UInt64(0))
        var keyWords = (key.first, key.second)
        withUnsafeMutablePointer(to: &digest) { digest in
            withUnsafeMutablePointer(to: &keyWords) { keyWords in
                digest.withMemoryRebound(to: UInt8.self, capacity: 16) { output in
                    keyWords.withMemoryRebound(to: UInt8.self, capacity: 16) { key in
                        _ = crypto_shorthash_siphashx24(
                            output, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(bytes.count), key)
                    }
                }
            }
        }
        return Digest(first: digest.0, second: digest.1)
    }
}
