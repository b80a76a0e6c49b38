import Wire

/// Who opened a handshake.
public enum NoiseRole: Sendable {
    case initiator
    case responder
}

/// The handshakes in use (chapter 02 §3.1); there is no negotiation between them.
public enum NoisePattern: Sendable {
    /// Both parties authenticate each other in three messages: sessions.
    case xx
    /// One message to a key known beforehand, its sender authenticated: sealed mail.
    case x

    enum Token {
        case e, s, ee, es, se, ss
    }

    var protocolName: String {
        switch self {
        case .xx: "Noise_XX_25519_ChaChaPoly_SHA256"
        case .x: "Noise_X_25519_ChaChaPoly_SHA256"
        }
    }

    /// In turns, the initiator's first.
    var messages: [[Token]] {
        switch self {
        case .xx: NoisePattern.xxMessages
        case .x: NoisePattern.xMessages
        }
    }

    /// The responder's static key is known before the first message and part of the hash.
    var hasKnownResponder: Bool { self == .x }

    public var maximumMessageSize: Int {
        switch self {
        case .xx: NoiseLimits.handshakeMessage
        case .x: NoiseLimits.message
        }
    }

    private static let xxMessages: [[Token]] = [[.e], [.e, .ee, .s, .es], [.s, .se]]
    private static let xMessages: [[Token]] = [[.e, .es, .s, .ss]]
}
