/// What a relay said about an event or a subscription, by the machine-readable prefix of NIP-01. The text behind the
/// prefix is a stranger's and is not kept.
public enum RelayAnswer: String, CaseIterable, Sendable {
    case accepted
    /// Accepted before.
    case duplicate
    case blocked
    case rateLimited = "rate-limited"
    case invalid
    case pow
    case restricted
    case authRequired = "auth-required"
    case muted = "mute"
    case unsupported
    case error
    /// No prefix, none known, or one that the flag contradicts.
    case other

    init(prefixOf message: JSONString?) {
        let prefixes = RelayAnswer.allCases.filter { $0 != .accepted && $0 != .other }
        self =
            prefixes.first { answer in
                message?.bytes.starts(with: "\(answer.rawValue):".utf8) ?? false
            } ?? .other
    }

    /// What it means behind the flag of an accepted event: only whether the relay had it already counts.
    var ofAccepted: RelayAnswer { self == .duplicate ? .duplicate : .accepted }

    /// What it means behind the flag of a refused event. NIP-01 has a relay accept what it has already: one that
    /// refuses it need not have it (chapter 05 §6.8).
    var ofRefused: RelayAnswer { self == .duplicate ? .other : self }

    /// A relay that has the event already is as good as one that takes it.
    public var isSuccess: Bool { self == .accepted || self == .duplicate }
}
