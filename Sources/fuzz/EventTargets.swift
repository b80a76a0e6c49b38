import Basics
import Nostr

extension FuzzTarget {
    static let events = [
        FuzzTarget("nostr-event", decode: { try? NostrEvent(json: $0) }, encode: { $0.json() }),
        FuzzTarget("relay-url") { buffer in
            guard let url = NostrRelayURL(String(decoding: buffer, as: UTF8.self)) else { return }
            require(NostrRelayURL(url.text) == url, "a relay address is its text")
        },
        FuzzTarget("relay-frame") { buffer in
            guard let relay = NostrRelayURL("wss://relay.example") else { return }
            let now = Now(monotonic: .zero, wall: WallTime(milliseconds: 1_700_000_300_000))
            let client = NostrClient(defaultRelays: [relay], random: SeededRandom(seed: 1))
            client.setGate(.open, at: now)
            client.subscribe("s", NostrFilter(), to: .defaultSet, at: now)
            var delivered = 0
            var socket: NostrSocketID?
            func drain() {
                while let effect = client.nextEffect() {
                    switch effect {
                    case .dial(let dialled): socket = dialled
                    case .event: delivered += 1
                    default: break
                    }
                }
            }
            drain()
            guard let socket else { return }
            client.relayOpened(socket, at: now)
            for _ in 0..<2 { client.received([UInt8](buffer), on: socket, at: now) }
            drain()
            require(delivered <= 1, "an event is delivered once")
            require(
                client.drops[.eventDuplicate] == UInt64(delivered), "a copy is dropped, and nothing else for being one")
        },
        FuzzTarget("relay-information") { buffer in _ = RelayInformation(json: [UInt8](buffer)) },
        FuzzTarget("geo-relay-directory") { buffer in _ = try? GeoRelayDirectory(csv: [UInt8](buffer)) },
    ]
}
