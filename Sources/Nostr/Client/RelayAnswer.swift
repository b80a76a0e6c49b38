/// What a relay said about an event or a subscription, by the machine-readable prefix of NIP-01. The text behind the
/// prefix is a stranger's and is not kept.
public enum RelayAnswer: String, CaseIterable, Sendable {
    case accepted
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
    /// No prefix, or none known.
    case other

    init(prefixOf message: JSONString?) {
        let prefixes = RelayAnswer.allCases.filter { $0 != .accepted && $0 != .other }
        self =
            prefixes.first { answer in
                message?.bytes.starts(with: "\(answer.rawValue):".utf8) ?? false
            } ?? .other
    }

    /// A relay that has the event already is as good as one that takes it, whatever its flag says.
    public var isSuccess: Bool { self == .accepted || self == .duplicate }
}
