/// Why an operator's relay is not added; checked in this order (chapter 05 §4.2).
public enum RelaySetError: Error, Hashable, Sendable {
    case malformed
    case alreadyPresent
    case limitReached
}

/// The default relays: those built in, then the operator's own (chapter 05 §4.2).
public struct RelaySet: Hashable, Sendable {
    public static let builtIn: [NostrRelayURL] = [
        "wss://relay.damus.io", "wss://nos.lol", "wss://relay.primal.net", "wss://offchain.pub",
    ].compactMap { NostrRelayURL($0) }

    /// Most relays of the operator's own.
    public static let maximumCustom = 8

    /// In the order they were added.
    public private(set) var custom: [NostrRelayURL] = []
    public let builtIn: [NostrRelayURL]
    public let policy: RelayURLPolicy

    /// - Parameter custom: as stored; entries that are malformed, not permitted, repeated or too many are dropped.
    public init(
        custom: [String] = [], builtIn: [NostrRelayURL] = RelaySet.builtIn, policy: RelayURLPolicy = RelayURLPolicy()
    ) {
        self.builtIn = builtIn
        self.policy = policy
        for text in custom { try? add(text) }
    }

    /// The default set, without repetitions.
    public var all: [NostrRelayURL] { builtIn + custom }

    /// Adds a relay given in any spelling; `wss://` may be left out.
    public mutating func add(_ text: String) throws(RelaySetError) {
        guard let url = NostrRelayURL(text, defaultScheme: "wss"), policy.permits(url) else { throw .malformed }
        guard !all.contains(url) else { throw .alreadyPresent }
        guard custom.count < RelaySet.maximumCustom else { throw .limitReached }
        custom.append(url)
    }
}
