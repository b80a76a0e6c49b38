import Basics
import Crypto
import Wire

enum CryptoBenchmarks {
    static var all: [Benchmark] { [announceVerify, messageVerify, noiseHandshake, noiseTransport, mailSeal] }

    private static func bareVerify(_ bytes: [UInt8]) -> Work {
        let frame = try? Frame(bytes)
        return BareLibraries.verify(
            frame?.signature ?? [], over: frame?.signingInput() ?? [], under: Samples.identity.signing.publicKey.bytes)
    }

    private static var announceVerify: Benchmark {
        Benchmark("announce-verify", "received announce to verified announce; beside Ed25519 verification") {
            let bytes = Samples.announce
            return Trial(bare: bareVerify(bytes)) { count in
                for _ in 0..<count {
                    guard let frame = try? Frame(bytes),
                        let claim = try? ClaimedAnnounce(frame, local: .broadcast, at: Samples.wallTime)
                    else { return }
                    consume(try? VerifiedAnnounce(verifying: claim, against: PeerPins()))
                }
            }
        }
    }

    private static var messageVerify: Benchmark {
        Benchmark("message-verify", "received public message to verified packet; beside Ed25519 verification") {
            let bytes = Samples.message
            let key = Samples.identity.signing.publicKey
            return Trial(bare: bareVerify(bytes)) { count in
                for _ in 0..<count {
                    guard let frame = try? Frame(bytes) else { return }
                    consume(VerifiedFrame(verifying: frame, under: key))
                }
            }
        }
    }

    private static var noiseHandshake: Benchmark {
        Benchmark("noise-handshake", "XX handshake, both sides; beside its X25519 and ChaCha20-Poly1305 operations") {
            var random = SeededRandom(seed: 21)
            let initiator = NoiseStaticKey.generate(using: &random)
            let responder = NoiseStaticKey.generate(using: &random)
            return Trial(bare: BareLibraries.noiseHandshake()) { count in
                for _ in 0..<count {
                    var one = NoiseHandshake(.initiator, staticKey: initiator, ephemeral: .generate(using: &random))
                    var other = NoiseHandshake(.responder, staticKey: responder, ephemeral: .generate(using: &random))
                    guard (try? other.read(one.write())) != nil, (try? one.read(other.write())) != nil,
                        (try? other.read(one.write())) != nil
                    else { return }
                    consume((one.transport(), other.transport()))
                }
            }
        }
    }

    private static var noiseTransport: Benchmark {
        Benchmark("noise-transport", "200 bytes encrypted and decrypted in a session; beside bare ChaCha20-Poly1305") {
            var random = SeededRandom(seed: 22)
            var one = NoiseHandshake(
                .initiator, staticKey: .generate(using: &random), ephemeral: .generate(using: &random))
            var other = NoiseHandshake(
                .responder, staticKey: .generate(using: &random), ephemeral: .generate(using: &random))
            consume(try? other.read(one.write()))
            consume(try? one.read(other.write()))
            consume(try? other.read(one.write()))
            var sender = one.transport()
            var receiver = other.transport()
            let plaintext = random.bytes(200)
            return Trial(bare: BareLibraries.sealAndOpen(size: plaintext.count)) { count in
                for _ in 0..<count {
                    guard let message = try? sender?.encrypt(plaintext) else { return }
                    consume(try? receiver?.decrypt(message))
                }
            }
        }
    }

    private static var mailSeal: Benchmark {
        Benchmark("mail-seal-open", "a message sealed and opened; beside its X25519 and ChaCha20-Poly1305 operations") {
            var random = SeededRandom(seed: 23)
            let sender = NoiseStaticKey.generate(using: &random)
            let recipient = NoiseStaticKey.generate(using: &random)
            let payload = random.bytes(46)
            return Trial(bare: BareLibraries.noiseSeal(size: payload.count)) { count in
                for _ in 0..<count {
                    let envelope = SealedMail.seal(
                        payload, to: recipient.publicKey, from: sender, at: Samples.wallTime, using: &random)
                    consume(envelope.flatMap { SealedMail.open($0, with: recipient) }?.payload)
                }
            }
        }
    }
}
