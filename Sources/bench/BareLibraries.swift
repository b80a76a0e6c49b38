import Clibsodium
import Csecp256k1
import Czlib

/// The library calls that the benchmarks are measured against, with nothing around them.
enum BareLibraries {
    /// Ed25519 verification of one signature.
    static func verify(_ signature: [UInt8], over message: [UInt8], under key: [UInt8]) -> Work {
        { count in
            for _ in 0..<count {
                consume(crypto_sign_verify_detached(signature, message, UInt64(message.count), key))
            }
        }
    }

    /// BIP-340 verification of the given signatures in turn, each with its key parsed as it must be.
    static func schnorrVerify(_ items: [(signature: [UInt8], digest: [UInt8], key: [UInt8])]) -> Work {
        guard let context = secp256k1_context_create(UInt32(SECP256K1_CONTEXT_NONE)) else { return { _ in } }
        var next = 0
        return { count in
            for _ in 0..<count {
                let item = items[next]
                next = (next + 1) % items.count
                var key = secp256k1_xonly_pubkey()
                consume(secp256k1_xonly_pubkey_parse(context, &key, item.key))
                consume(secp256k1_schnorrsig_verify(context, item.signature, item.digest, 32, &key))
            }
        }
    }

    /// BIP-340 signing with a key made ready before.
    static func schnorrSign(secret: [UInt8]) -> Work {
        guard let context = secp256k1_context_create(UInt32(SECP256K1_CONTEXT_NONE)) else { return { _ in } }
        var pair = secp256k1_keypair()
        consume(secp256k1_keypair_create(context, &pair, secret))
        let digest = [UInt8](repeating: 7, count: 32)
        let auxiliary = [UInt8](repeating: 9, count: 32)
        var signature = [UInt8](repeating: 0, count: 64)
        return { count in
            for _ in 0..<count {
                consume(secp256k1_schnorrsig_sign32(context, &signature, digest, &pair, auxiliary))
            }
        }
    }

    /// Raw DEFLATE decoding with one stream used again and again.
    static func inflate(_ deflated: [UInt8], size: Int) -> Work {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        consume(inflateInit2_(stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)))
        var input = deflated
        var output = [UInt8](repeating: 0, count: size)
        return { count in
            for _ in 0..<count {
                input.withUnsafeMutableBufferPointer { input in
                    output.withUnsafeMutableBufferPointer { output in
                        inflateReset(stream)
                        stream.pointee.next_in = input.baseAddress
                        stream.pointee.avail_in = UInt32(input.count)
                        stream.pointee.next_out = output.baseAddress
                        stream.pointee.avail_out = UInt32(output.count)
                        consume(Czlib.inflate(stream, Z_FINISH))
                    }
                }
            }
        }
    }

    /// SHA-256 of `count` identifiers of 16 bytes.
    static func hash(identifiers: [[UInt8]]) -> Work {
        var digest = [UInt8](repeating: 0, count: 32)
        return { count in
            for _ in 0..<count {
                for identifier in identifiers {
                    consume(crypto_hash_sha256(&digest, identifier, UInt64(identifier.count)))
                }
            }
        }
    }
}
