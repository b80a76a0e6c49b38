/// The kinds of message inside a Noise session, and in embedded packets (chapter 01 §10).
public enum NoisePayloadType: UInt8, CaseIterable, Sendable {
    case privateMessage = 0x01
    case readReceipt = 0x02
    case delivered = 0x03
    case groupInvite = 0x06
    case groupKeyUpdate = 0x07
    case voiceFrame = 0x08
    case verifyChallenge = 0x10
    case verifyResponse = 0x11
    case vouchBatch = 0x12
    case privateFile = 0x20
    case authenticatedPeerState = 0x21

    /// What pre-release builds sent for `privateFile`; understood, never emitted.
    static let privateFileAlias: UInt8 = 0x09
}

/// A typed plaintext: one type byte, then the body (chapter 01 §10).
public struct NoisePayload: Hashable, Sendable {
    public var type: NoisePayloadType
    public var body: [UInt8]

    public init(type: NoisePayloadType, body: [UInt8]) {
        self.type = type
        self.body = body
    }

    /// `nil` for an empty plaintext and for an unknown type, both to be dropped silently.
    public init?(payload: [UInt8]) {
        guard let first = payload.first else { return nil }
        let known = first == NoisePayloadType.privateFileAlias ? .privateFile : NoisePayloadType(rawValue: first)
        guard let known else { return nil }
        self.init(type: known, body: [UInt8](payload.dropFirst()))
    }

    public func encoded() -> [UInt8] { [type.rawValue] + body }

    /// Says that the message was read: the body is its ID, as it stands.
    public static func readReceipt(messageID: String) -> NoisePayload {
        NoisePayload(type: .readReceipt, body: Array(messageID.utf8))
    }

    /// Says that the message arrived: the body is its ID, as it stands.
    public static func delivered(messageID: String) -> NoisePayload {
        NoisePayload(type: .delivered, body: Array(messageID.utf8))
    }

    /// The message a receipt speaks of; `nil` for other types and for invalid UTF-8.
    public var receiptMessageID: String? {
        switch type {
        case .readReceipt, .delivered: String(validating: body, as: UTF8.self)
        default: nil
        }
    }
}

/// The body of a private message (chapter 01 §10.1). The form cannot be extended: an unknown field rejects it.
public struct PrivateMessage: Hashable, Sendable {
    /// Bytes of either text; a longer content has to go as several messages.
    public static let maximumTextSize = 255

    /// An opaque, case-sensitive text; a UUID from the clients.
    public var messageID: String
    public var content: String

    public init(messageID: String, content: String) {
        self.messageID = messageID
        self.content = content
    }

    private enum Field {
        static let messageID: UInt8 = 0x00
        static let content: UInt8 = 0x01
    }

    public init?(body: [UInt8]) {
        var messageID: String?
        var content: String?
        let isWellFormed = TLVFormat.lenientTLV8.read(body) { type, value in
            guard let text = value.text else { return false }
            switch type {
            case Field.messageID: messageID = text
            case Field.content: content = text
            default: return false
            }
            return true
        }
        guard isWellFormed, let messageID, let content else { return nil }
        self.init(messageID: messageID, content: content)
    }

    /// The body; `nil` when a text exceeds 255 bytes.
    public func encoded() -> [UInt8]? {
        var writer = TLVWriter(.lenientTLV8)
        writer.append(Field.messageID, messageID.utf8)
        writer.append(Field.content, content.utf8)
        return writer.encoded
    }
}

/// The body that proves capabilities and signing key inside a session (chapter 01 §10.2).
public struct AuthenticatedPeerState: Hashable, Sendable {
    private static let version: UInt8 = 0x01
    private static let keySize = 32

    public var capabilities: Capabilities
    /// Ed25519, 32 bytes.
    public var signingPublicKey: [UInt8]

    public init(capabilities: Capabilities, signingPublicKey: [UInt8]) {
        self.capabilities = capabilities
        self.signingPublicKey = signingPublicKey
    }

    private enum Field {
        static let capabilities: UInt8 = 0x01
        static let signingPublicKey: UInt8 = 0x02
    }

    public init?(body: [UInt8]) {
        guard body.first == Self.version else { return nil }
        var capabilities: Capabilities?
        var signingPublicKey: [UInt8]?
        let isWellFormed = TLVFormat.tlv8.read([UInt8](body.dropFirst())) { type, value in
            switch type {
            case Field.capabilities:
                guard capabilities == nil, let minimal = Capabilities(minimal: value) else { return false }
                capabilities = minimal
            case Field.signingPublicKey:
                guard signingPublicKey == nil, let key = value.bytes(Self.keySize) else { return false }
                signingPublicKey = key
            default: break
            }
            return true
        }
        guard isWellFormed, let capabilities, let signingPublicKey else { return nil }
        self.init(capabilities: capabilities, signingPublicKey: signingPublicKey)
    }

    /// The body; `nil` when the key is not 32 bytes.
    public func encoded() -> [UInt8]? {
        guard signingPublicKey.count == Self.keySize else { return nil }
        var writer = TLVWriter(.tlv8)
        writer.append(Field.capabilities, capabilities.encoded)
        writer.append(Field.signingPublicKey, signingPublicKey)
        return writer.encoded.map { [Self.version] + $0 }
    }
}
