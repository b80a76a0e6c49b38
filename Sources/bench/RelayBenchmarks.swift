import Basics
import Nostr

/// What relays make the box do.
enum RelayBenchmarks {
    static var all: [Benchmark] { [freshEvent, duplicateEvent] }

    /// A client with one subscription at each relay's socket, all connected.
    struct Connected {
        let client: NostrClient
        private(set) var sockets: [NostrSocketID] = []
        var now = Now(monotonic: .zero, wall: WallTime(milliseconds: 1_750_000_300_000))

        init(relays: Int, subscriptions: Int) {
            let urls = (0..<relays).compactMap { NostrRelayURL("wss://relay\($0).example.com") }
            client = NostrClient(defaultRelays: urls, random: SeededRandom(seed: 9))
            client.setGate(.open, at: now)
            for index in 0..<subscriptions {
                let cell = Geohash.encode(latitude: Double(index), longitude: Double(index), length: 6)
                let filter = NostrFilter(
                    kinds: [20_000, 20_001], tags: ["g": index == 0 ? ["u33dc0"] : [cell]], since: 1_749_990_000,
                    limit: 200)
                client.subscribe(index == 0 ? "geo-u33dc0" : "geo-\(cell)", filter, to: .defaultSet, at: now)
            }
            while let effect = client.nextEffect() {
                if case .dial(let socket) = effect { sockets.append(socket) }
            }
            for socket in sockets { client.relayOpened(socket, at: now) }
            drain()
        }

        func drain() {
            while let effect = client.nextEffect() { consume(effect) }
        }
    }

    private static func frames(_ events: [VerifiedEvent]) -> [[UInt8]] {
        events.map { Array("[\"EVENT\",\"geo-u33dc0\",".utf8) + $0.json() + [UInt8(ascii: "]")] }
    }

    private static var freshEvent: Benchmark {
        Benchmark("relay-event", "a relay's frame with a new event, to its delivery; beside BIP-340 verification") {
            // More than the client remembers, so that each is new when its turn comes again.
            let events = NostrBenchmarks.events(4_500)
            let frames = frames(events)
            let signatures = NostrBenchmarks.signatures(of: Array(events.prefix(256)))
            var connected = Connected(relays: 1, subscriptions: 1)
            let socket = connected.sockets[0]
            var next = 0
            return Trial(bare: BareLibraries.schnorrVerify(signatures)) { count in
                for _ in 0..<count {
                    // As fast as the relay's budget for signature checks lets through.
                    connected.now = connected.now.advanced(by: .milliseconds(84))
                    connected.client.received(frames[next], on: socket, at: connected.now)
                    next = (next + 1) % frames.count
                    connected.drain()
                }
            }
        }
    }

    private static var duplicateEvent: Benchmark {
        Benchmark("relay-duplicate", "a relay's frame with an event that came before") {
            let frame = frames(NostrBenchmarks.events(1))[0]
            var connected = Connected(relays: 1, subscriptions: 1)
            let socket = connected.sockets[0]
            connected.client.received(frame, on: socket, at: connected.now)
            connected.drain()
            return Trial(countsAllocations: true) { count in
                for _ in 0..<count {
                    connected.now = connected.now.advanced(by: .milliseconds(16))
                    connected.client.received(frame, on: socket, at: connected.now)
                }
                connected.drain()
            }
        }
    }
}
