import Basics
import Crypto
import Wire

/// Why mail with our tag is not shown, in the order of the checks (chapter 02 §7.5 step 3).
public enum EnvelopeRefusal: String, CaseIterable, Sendable {
    case expired
    case otherAddressee = "other-addressee"
    /// Sealed to a prekey we never had, or used more than two days ago.
    case unknownPrekey = "unknown-prekey"
    case undecryptable
    /// Opened, but no private message.
    case otherPayload = "other-payload"
    case repeated
    case blockedSender = "blocked-sender"
}

/// Mail sealed for us: opens it, once.
public struct Mailbox {
    public struct Opening: Sendable {
        public let result: Result
        /// The prekeys changed: store their snapshot before anything else is done, and then publish.
        public let consumption: OwnPrekeys.Consumption?

        /// Whether it need not be fetched again. Mail that does not open may yet: a key may come back with a backup.
        public var isHandled: Bool {
            switch result {
            case .letter, .dropped(.otherPayload), .dropped(.repeated), .dropped(.blockedSender): true
            case .dropped: false
            }
        }

        /// Whether it does not open now, and may later: only a key is missing.
        var isWaitingForKey: Bool { if case .dropped(.unknownPrekey) = result { true } else { false } }
    }

    public enum Result: Sendable {
        case letter(Letter)
        case dropped(EnvelopeRefusal)
    }

    /// A message and who sealed it.
    public struct Letter: Hashable, Sendable {
        public let sender: NoisePublicKey
        public let message: PrivateMessage
    }

    private let identity: NoiseStaticKey
    private var opened = BoundedSet<String>(capacity: MessengerLimits.openedMail)

    public init(identity: NoiseStaticKey) { self.identity = identity }

    /// Whether the tag names us today, yesterday or tomorrow.
    public func isForUs(_ envelope: CourierEnvelope, at now: WallTime) -> Bool {
        CourierTag.candidates(for: identity.publicKey, at: now).contains(envelope.recipientTag)
    }

    /// Opens an envelope that came in any way: packet signature and sender are irrelevant.
    public mutating func open(
        _ envelope: CourierEnvelope, prekeys: inout OwnPrekeys, at now: WallTime,
        isBlocked: (NoisePublicKey) -> Bool, using random: inout some RandomNumberGenerator
    ) -> Opening {
        var consumption: OwnPrekeys.Consumption?
        func drop(_ why: EnvelopeRefusal) -> Opening { Opening(result: .dropped(why), consumption: consumption) }
        guard !envelope.isExpired(at: now) else { return drop(.expired) }
        guard isForUs(envelope, at: now) else { return drop(.otherAddressee) }
        let key = envelope.prekeyID.map { prekeys.key($0, at: now) } ?? identity
        guard let key else { return drop(.unknownPrekey) }
        guard let (sender, payload) = SealedMail.open(envelope, with: key) else { return drop(.undecryptable) }
        if let id = envelope.prekeyID { consumption = prekeys.consume(id, at: now, using: &random) }
        // The alias of chapter 02 §6.8 is no private message either, so the first byte alone decides.
        guard payload.first == NoisePayloadType.privateMessage.rawValue,
            let message = PrivateMessage(body: Array(payload.dropFirst()))
        else { return drop(.otherPayload) }
        guard opened.insert(message.messageID) else { return drop(.repeated) }
        guard !isBlocked(sender) else { return drop(.blockedSender) }
        return Opening(result: .letter(Letter(sender: sender, message: message)), consumption: consumption)
    }
}
