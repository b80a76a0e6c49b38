import Nostr

/// Which relays carry what (chapter 05 §4.3).
struct RelayChoice: Equatable {
    /// The default set.
    let defaults: [NostrRelayURL]
    /// From which phones and gateways choose the same relays of a place; `nil` where the operator's own relays carry
    /// everything, as in a network apart.
    let directory: GeoRelayDirectory?

    /// The relays of a place. None when the directory knows none: publishing where nobody looks is silent loss.
    func relays(of geohash: String) -> [NostrRelayURL] { directory?.closest(to: geohash) ?? defaults }
}
