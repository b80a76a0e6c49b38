import Basics
import Wire

/// One party of a Noise handshake (Noise specification §5.3), without time or transport.
///
/// A message that is refused leaves it as it was: writing and reading work on a copy that takes effect whole. Whether
/// to give the attempt up then is the caller's decision; a peer that retries begins anew anyway (chapter 02 §3.3).
public struct NoiseHandshake: Secret {
    public let role: NoiseRole
    /// The other party's static key, once a message proved it, or as given for a one-way seal.
    public private(set) var remoteStatic: NoisePublicKey?

    private let pattern: NoisePattern
    private let staticKey: NoiseStaticKey
    private let ephemeral: NoiseStaticKey?
    private var remoteEphemeral: NoisePublicKey?
    private var symmetric: NoiseSymmetricState
    private var messagesDone = 0

    /// A party of an XX handshake.
    /// - Parameter ephemeral: fresh, never used before.
    public init(
        _ role: NoiseRole, staticKey: NoiseStaticKey, ephemeral: NoiseStaticKey, prologue: [UInt8] = []
    ) {
        self.init(.xx, role, staticKey: staticKey, ephemeral: ephemeral, responder: nil, prologue: prologue)
    }

    /// The sealing party of the one-way X pattern; nil when the recipient's key is refused (chapter 02 §1.3).
    public init?(
        sealingTo recipient: NoisePublicKey, staticKey: NoiseStaticKey, ephemeral: NoiseStaticKey, prologue: [UInt8]
    ) {
        guard recipient.isAcceptable else { return nil }
        self.init(.x, .initiator, staticKey: staticKey, ephemeral: ephemeral, responder: recipient, prologue: prologue)
        remoteStatic = recipient
    }

    /// The opening party of the one-way X pattern.
    /// - Parameter key: the key the message was sealed to: the static one, or a one-time prekey.
    public init(openingWith key: NoiseStaticKey, prologue: [UInt8]) {
        self.init(.x, .responder, staticKey: key, ephemeral: nil, responder: key.publicKey, prologue: prologue)
    }

    private init(
        _ pattern: NoisePattern, _ role: NoiseRole, staticKey: NoiseStaticKey, ephemeral: NoiseStaticKey?,
        responder: NoisePublicKey?, prologue: [UInt8]
    ) {
        self.pattern = pattern
        self.role = role
        self.staticKey = staticKey
        self.ephemeral = ephemeral
        symmetric = NoiseSymmetricState(protocolName: pattern.protocolName)
        prologue.withUnsafeBytes { symmetric.mixHash($0) }
        if pattern.hasKnownResponder { responder?.withUnsafeBytes { symmetric.mixHash($0) } }
    }

    public var isFinished: Bool { messagesDone == pattern.messages.count }
    /// The hash over all messages so far; when finished, the same on both sides and unique to the handshake.
    public var handshakeHash: Bytes32 { symmetric.handshakeHash }

    /// Our next message.
    public mutating func write(_ payload: [UInt8] = []) throws(NoiseRejection) -> [UInt8] {
        var attempt = self
        let message = try payload.withOctets { (payload) throws(NoiseRejection) in try attempt.compose(payload) }
        self = attempt
        return message
    }

    /// Takes the other party's next message.
    /// - Returns: its payload.
    public mutating func read(_ message: [UInt8]) throws(NoiseRejection) -> [UInt8] {
        var attempt = self
        let payload = try message.withOctets { (message) throws(NoiseRejection) in try attempt.parse(message) }
        self = attempt
        return payload
    }

    /// The keys for what follows; nil before the handshake is finished.
    public func transport() -> NoiseTransport? {
        split().map { NoiseTransport(sending: $0.sending, receiving: $0.receiving, handshakeHash: handshakeHash) }
    }

    func split() -> (sending: NoiseCipherState, receiving: NoiseCipherState)? {
        guard isFinished else { return nil }
        let ciphers = symmetric.split()
        return role == .initiator ? (ciphers.initiator, ciphers.responder) : (ciphers.responder, ciphers.initiator)
    }

    // MARK: Messages

    private var isOurTurn: Bool { (messagesDone % 2 == 0) == (role == .initiator) }

    private mutating func compose(_ payload: UnsafeRawBufferPointer) throws(NoiseRejection) -> [UInt8] {
        guard !isFinished, isOurTurn, let ephemeral else { throw .outOfTurn }
        var message: [UInt8] = []
        for token in pattern.messages[messagesDone] {
            switch token {
            case .e:
                message += ephemeral.publicKey.bytes
                ephemeral.publicKey.withUnsafeBytes { symmetric.mixHash($0) }
            case .s: message += staticKey.publicKey.withUnsafeBytes { symmetric.encryptAndHash($0) }
            case .ee, .es, .se, .ss: try agree(token)
            }
        }
        message += symmetric.encryptAndHash(payload)
        guard message.count <= pattern.maximumMessageSize else { throw .tooLong }
        messagesDone += 1
        return message
    }

    private mutating func parse(_ message: UnsafeRawBufferPointer) throws(NoiseRejection) -> [UInt8] {
        guard !isFinished, !isOurTurn else { throw .outOfTurn }
        guard message.count <= pattern.maximumMessageSize else { throw .tooLong }
        var reader = ByteReader(message)
        for token in pattern.messages[messagesDone] {
            switch token {
            case .e:
                guard let bytes = reader.readView(NoiseStaticKey.size) else { throw .truncated }
                remoteEphemeral = try accepted(bytes)
                symmetric.mixHash(bytes)
            case .s:
                let size = NoiseStaticKey.size + (symmetric.hasKey ? NoiseLimits.tagSize : 0)
                guard let bytes = reader.readView(size) else { throw .truncated }
                remoteStatic = try accepted(symmetric.decryptAndHash(bytes))
            case .ee, .es, .se, .ss: try agree(token)
            }
        }
        guard let rest = reader.readView(reader.remaining) else { throw .truncated }
        let payload = try symmetric.decryptAndHash(rest)
        messagesDone += 1
        return payload
    }

    private func accepted(_ bytes: some Collection<UInt8>) throws(NoiseRejection) -> NoisePublicKey {
        guard let key = NoisePublicKey(bytes), key.isAcceptable else { throw .refusedKey }
        return key
    }

    /// A token's first letter is the initiator's key, its second the responder's.
    private mutating func agree(_ token: NoisePattern.Token) throws(NoiseRejection) {
        let usesOwnEphemeral: Bool
        let usesTheirEphemeral: Bool
        switch token {
        case .ee: (usesOwnEphemeral, usesTheirEphemeral) = (true, true)
        case .es: (usesOwnEphemeral, usesTheirEphemeral) = (role == .initiator, role == .responder)
        case .se: (usesOwnEphemeral, usesTheirEphemeral) = (role == .responder, role == .initiator)
        case .ss, .e, .s: (usesOwnEphemeral, usesTheirEphemeral) = (false, false)
        }
        guard let own = usesOwnEphemeral ? ephemeral : staticKey,
            let theirs = usesTheirEphemeral ? remoteEphemeral : remoteStatic
        else { throw .outOfTurn }
        guard let secret = own.sharedSecret(with: theirs) else { throw .refusedKey }
        symmetric.mixKey(secret)
    }
}
