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

    /// What an XX handshake takes of X25519 and ChaCha20-Poly1305, both sides together: two ephemeral keys, six
    /// agreements, and four short texts sealed and opened.
    static func noiseHandshake() -> Work {
        let scalar = [UInt8](repeating: 9, count: 32)
        var point = [UInt8](repeating: 0, count: 32)
        var shared = [UInt8](repeating: 0, count: 32)
        let statics = sealAndOpen(size: 32)
        let payloads = sealAndOpen(size: 0)
        return { count in
            for _ in 0..<count {
                for _ in 0..<2 { consume(crypto_scalarmult_curve25519_base(&point, scalar)) }
                for _ in 0..<6 { consume(crypto_scalarmult_curve25519(&shared, scalar, point)) }
                statics(2)
                payloads(2)
            }
        }
    }

    /// What a one-way seal takes of X25519 and ChaCha20-Poly1305, sealed and opened: an ephemeral key, four agreements,
    /// and a key and a payload sealed and opened.
    static func noiseSeal(size: Int) -> Work {
        let scalar = [UInt8](repeating: 9, count: 32)
        var point = [UInt8](repeating: 0, count: 32)
        var shared = [UInt8](repeating: 0, count: 32)
        let key = sealAndOpen(size: 32)
        let payload = sealAndOpen(size: size)
        return { count in
            for _ in 0..<count {
                consume(crypto_scalarmult_curve25519_base(&point, scalar))
                for _ in 0..<4 { consume(crypto_scalarmult_curve25519(&shared, scalar, point)) }
                key(1)
                payload(1)
            }
        }
    }

    /// ChaCha20-Poly1305 there and back, with the buffers made ready before.
    static func sealAndOpen(size: Int) -> Work {
        let key = [UInt8](repeating: 7, count: 32)
        let nonce = [UInt8](repeating: 0, count: 12)
        let plaintext = [UInt8](repeating: 1, count: size)
        var sealed = [UInt8](repeating: 0, count: size + 16)
        var opened = [UInt8](repeating: 0, count: size + 1)
        return { count in
            for _ in 0..<count {
                consume(
                    crypto_aead_chacha20poly1305_ietf_encrypt(
                        &sealed, nil, plaintext, UInt64(size), nil, 0, nil, nonce, key))
                consume(
                    crypto_aead_chacha20poly1305_ietf_decrypt(
                        &opened, nil, nil, sealed, UInt64(sealed.count), nil, 0, nonce, key))
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
