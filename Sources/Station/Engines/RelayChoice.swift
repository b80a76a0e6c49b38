import Nostr

/// Which relays carry what (chapter 05 §4.3).
struct RelayChoice: Equatable {
    /// The default set.
    let defaults: [NostrRelayURL]
    /// From which phones and gateways choose the same relays of a place; `nil` where the operator's own relays carry
    /// everything, as in a network apart.
    let directory: GeoRelayDirectory?

    /// The default set in the order in which one copy of a letter is left there: built-in relays and the operator's own
    /// in turn, each at random, so that whichever the addressee's devices ask have it after a few copies.
    static func letterOrder(
        _ defaults: [NostrRelayURL], using random: inout some RandomNumberGenerator
    ) -> [NostrRelayURL] {
        let builtIn = defaults.filter { RelaySet.builtIn.contains($0) }.shuffled(using: &random)
        let own = defaults.filter { !RelaySet.builtIn.contains($0) }.shuffled(using: &random)
        return (0..<max(builtIn.count, own.count)).flatMap { turn in
            [builtIn, own].compactMap { $0.indices.contains(turn) ? $0[turn] : nil }
        }
    }

    /// The relays of a place. None when the directory knows none: publishing where nobody looks is silent loss.
    func relays(of geohash: String) -> [NostrRelayURL] { directory?.closest(to: geohash) ?? defaults }
}
