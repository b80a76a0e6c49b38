import Basics
import Crypto
import Nostr

enum NostrBenchmarks {
    static var all: [Benchmark] { [eventVerify, eventSign] }

    /// Enough that no event is still in a near cache when its turn comes again.
    static func events(_ count: Int = 256) -> [VerifiedEvent] {
        var random = SeededRandom(seed: 5)
        return (0..<count).compactMap { index in
            VerifiedEvent.signed(
                kind: 20_000, tags: [["g", "u33dc0"], ["n", "anna"], ["t", "teleport"]],
                content: Samples.text(bytes: 140, seed: UInt64(index)), createdAt: 1_750_000_000 + Int64(index),
                key: Samples.nostrKey, using: &random)
        }
    }

    static func signatures(
        of events: [VerifiedEvent]
    ) -> [(signature: [UInt8], digest: [UInt8], key: [UInt8])] {
        events.map { event in
            (
                signature: event.event.sig.flatMap { Hex.decode($0) } ?? [], digest: event.id.bytes,
                key: event.author.bytes
            )
        }
    }

    private static var eventVerify: Benchmark {
        Benchmark("event-verify", "parse and verify a Nostr event not seen before; beside BIP-340 verification") {
            let events = events()
            let texts = events.map { $0.json() }
            let signatures = signatures(of: events)
            var next = 0
            return Trial(bare: BareLibraries.schnorrVerify(signatures)) { count in
                for _ in 0..<count {
                    let text = texts[next]
                    next = (next + 1) % texts.count
                    guard let event = try? NostrEvent(json: text) else { return }
                    consume(VerifiedEvent(verifying: event))
                }
            }
        }
    }

    private static var eventSign: Benchmark {
        Benchmark("event-sign", "build and sign a Nostr event; beside BIP-340 signing") {
            let secret = Samples.nostrKey.privateKey.withBytes { [UInt8]($0) }
            let content = Samples.text(bytes: 140, seed: 6)
            var random = SeededRandom(seed: 7)
            return Trial(bare: BareLibraries.schnorrSign(secret: secret)) { count in
                for _ in 0..<count {
                    let event = VerifiedEvent.signed(
                        kind: 20_000, tags: [["g", "u33dc0"], ["n", "anna"]], content: content,
                        createdAt: 1_750_000_000, key: Samples.nostrKey, using: &random)
                    consume(event)
                }
            }
        }
    }
}
