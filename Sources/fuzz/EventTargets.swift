import Nostr

extension FuzzTarget {
    static let events = [
        FuzzTarget("nostr-event", decode: { try? NostrEvent(json: $0) }, encode: { $0.json() }),
        FuzzTarget("relay-url") { buffer in
            guard let url = NostrRelayURL(String(decoding: buffer, as: UTF8.self)) else { return }
            require(NostrRelayURL(url.text) == url, "a relay address is its text")
        },
        FuzzTarget("relay-information") { buffer in _ = RelayInformation(json: [UInt8](buffer)) },
        FuzzTarget("geo-relay-directory") { buffer in _ = try? GeoRelayDirectory(csv: [UInt8](buffer)) },
    ]
}
