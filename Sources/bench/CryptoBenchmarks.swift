import Basics
import Crypto
import Wire

enum CryptoBenchmarks {
    static var all: [Benchmark] { [announceVerify, messageVerify] }

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
}
