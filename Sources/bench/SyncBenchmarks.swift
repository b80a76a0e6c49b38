import Basics
import Crypto
import Mesh
import Wire

enum SyncBenchmarks {
    static var all: [Benchmark] {
        [1_000, 10_000, 100_000].map(insertion) + [request, answer, emptyAnswer]
    }

    private static let now = Now(monotonic: .zero, wall: Samples.wallTime)

    /// Signed public messages. Each differs from the one before by its timestamp, which goes back and
    /// forth, as when live traffic and history come in together.
    private struct Messages {
        private var bytes = Samples.message
        private var number: UInt64 = 0

        mutating func next() -> Frame? {
            number += 1
            let step = number / 2 % 10_000_000
            let back = number % 2 == 0 ? 21_000_000 - step : step
            let stamp = Samples.wallTime.milliseconds - back
            for byte in 0..<8 { bytes[3 + byte] = UInt8(truncatingIfNeeded: stamp >> UInt64(56 - 8 * byte)) }
            return try? Frame(bytes)
        }
    }

    /// A store that holds `count` messages and is full.
    private static func fullStore(_ count: Int) -> (GossipStore, Messages) {
        var policy = GossipPolicy.gateway
        policy.messages.capacity = count
        policy.messages.bytes = .max
        var store = GossipStore(policy)
        var messages = Messages()
        for _ in 0..<count { messages.next().map { _ = store.insert($0, at: now) } }
        return (store, messages)
    }

    private static func insertion(_ count: Int) -> Benchmark {
        Benchmark(
            "gossip-insert-\(count / 1_000)k", "take one more message into a full history of \(count), indexes and all"
        ) {
            var (store, messages) = fullStore(count)
            return Trial { count in
                for _ in 0..<count { messages.next().map { consume(store.insert($0, at: now)) } }
            }
        }
    }

    private static var request: Benchmark {
        Benchmark("sync-request", "name the newest of 1,000 held messages in a filter of 400 bytes") {
            let inventory = SyncInventory(store: fullStore(1_000).0)
            return Trial { count in
                for _ in 0..<count {
                    consume(SyncRequestBuilder.request(for: .message, inventory, at: now.wall).encoded())
                }
            }
        }
    }

    private static var answer: Benchmark {
        Benchmark("sync-answer", "choose what of 1,000 held messages a newcomer is to be sent") {
            let inventory = SyncInventory(store: fullStore(1_000).0)
            let request = RequestSync(
                filter: GCSFilter(parameter: 7, modulus: 1, data: []), types: .message)
            return Trial { count in
                for _ in 0..<count { consume(SyncAnswer.entries(for: request, inventory, at: now.wall).count) }
            }
        }
    }

    private static var emptyAnswer: Benchmark {
        Benchmark("sync-answer-none", "find that a neighbour with the same 1,000 messages misses none of them") {
            let inventory = SyncInventory(store: fullStore(1_000).0)
            let request = SyncRequestBuilder.request(for: .message, inventory, at: now.wall)
            return Trial { count in
                for _ in 0..<count { consume(SyncAnswer.entries(for: request, inventory, at: now.wall).count) }
            }
        }
    }
}
