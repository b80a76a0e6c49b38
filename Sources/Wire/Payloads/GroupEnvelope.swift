import Basics

/// Sizes shared by the group structures (chapter 01 §9.12).
enum GroupSize {
    static let id = 16
    static let nonce = 12
    static let key = 32
    static let fingerprint = 32
    static let signature = 64
}

/// A sealed group message, type 0x25 (chapter 01 §9.12). Nodes outside the group carry it unopened.
public struct GroupEnvelope: Hashable, Sendable {
    /// 16 bytes.
    public var groupID: [UInt8]
    /// Names the key it is sealed with.
    public var epoch: UInt32
    /// 12 random bytes.
    public var nonce: [UInt8]
    /// ChaCha20-Poly1305 ciphertext and tag, not empty.
    public var ciphertext: [UInt8]

    public init(groupID: [UInt8], epoch: UInt32, nonce: [UInt8], ciphertext: [UInt8]) {
        self.groupID = groupID
        self.epoch = epoch
        self.nonce = nonce
        self.ciphertext = ciphertext
    }

    private enum Field {
        static let groupID: UInt8 = 0x01
        static let epoch: UInt8 = 0x02
        static let nonce: UInt8 = 0x03
        static let ciphertext: UInt8 = 0x04
    }

    public init?(payload: [UInt8]) {
        var groupID: [UInt8]?
        var epoch: UInt32?
        var nonce: [UInt8]?
        var ciphertext: [UInt8]?
        let isWellFormed = TLVFormat.tlv16.read(payload) { type, value in
            switch type {
            case Field.groupID: groupID = value.bytes(GroupSize.id) ?? groupID
            case Field.epoch: epoch = value.integer()
            case Field.nonce: nonce = value.bytes(GroupSize.nonce) ?? nonce
            case Field.ciphertext: ciphertext = value.isEmpty ? ciphertext : [UInt8](value)
            default: break
            }
            return true
        }
        guard isWellFormed, let groupID, let epoch, let nonce, let ciphertext else { return nil }
        self.init(groupID: groupID, epoch: epoch, nonce: nonce, ciphertext: ciphertext)
    }

    /// `nil` when a field has a wrong size.
    public func encoded() -> [UInt8]? {
        guard groupID.count == GroupSize.id, nonce.count == GroupSize.nonce, !ciphertext.isEmpty else { return nil }
        var writer = TLVWriter(.tlv16)
        writer.append(Field.groupID, groupID)
        writer.append(Field.epoch, bigEndian: epoch)
        writer.append(Field.nonce, nonce)
        writer.append(Field.ciphertext, ciphertext)
        return writer.encoded
    }

    /// What the tag covers besides the ciphertext.
    public var additionalData: [UInt8] {
        var bytes = groupID
        bytes.append(bigEndian: epoch)
        return bytes
    }
}

/// The plaintext inside a `GroupEnvelope` (chapter 01 §9.12).
public struct GroupMessage: Hashable, Sendable {
    /// Not empty; an upper-case UUID from the clients.
    public var messageID: String
    /// Ed25519, 32 bytes; must be one of the roster.
    public var senderSigningKey: [UInt8]
    public var senderNickname: String
    public var timestamp: WallTime
    public var content: String
    /// Ed25519 over `signedBytes(groupID:epoch:)`, 64 bytes.
    public var signature: [UInt8]

    public init(
        messageID: String, senderSigningKey: [UInt8], senderNickname: String, timestamp: WallTime, content: String,
        signature: [UInt8]
    ) {
        self.messageID = messageID
        self.senderSigningKey = senderSigningKey
        self.senderNickname = senderNickname
        self.timestamp = timestamp
        self.content = content
        self.signature = signature
    }

    private enum Field {
        static let messageID: UInt8 = 0x01
        static let senderSigningKey: UInt8 = 0x02
        static let senderNickname: UInt8 = 0x03
        static let timestamp: UInt8 = 0x04
        static let content: UInt8 = 0x05
        static let signature: UInt8 = 0x06
    }

    public init?(plaintext: [UInt8]) {
        var messageID: String?
        var senderSigningKey: [UInt8]?
        var senderNickname: String?
        var timestamp: UInt64?
        var content: String?
        var signature: [UInt8]?
        let isWellFormed = TLVFormat.tlv16.read(plaintext) { type, value in
            switch type {
            case Field.messageID: messageID = value.text
            case Field.senderSigningKey: senderSigningKey = value.bytes(GroupSize.key) ?? senderSigningKey
            case Field.senderNickname: senderNickname = value.text
            case Field.timestamp: timestamp = value.integer() ?? timestamp
            case Field.content: content = value.text
            case Field.signature: signature = value.bytes(GroupSize.signature) ?? signature
            default: break
            }
            return true
        }
        guard
            isWellFormed, let messageID, !messageID.isEmpty, let senderSigningKey, let senderNickname, let timestamp,
            let content, let signature
        else { return nil }
        self.init(
            messageID: messageID, senderSigningKey: senderSigningKey, senderNickname: senderNickname,
            timestamp: WallTime(milliseconds: timestamp), content: content, signature: signature)
    }

    /// `nil` when a field has a wrong size or a text exceeds 65,535 bytes.
    public func encoded() -> [UInt8]? {
        guard
            !messageID.isEmpty, senderSigningKey.count == GroupSize.key, signature.count == GroupSize.signature
        else { return nil }
        var writer = TLVWriter(.tlv16)
        writer.append(Field.messageID, messageID.utf8)
        writer.append(Field.senderSigningKey, senderSigningKey)
        writer.append(Field.senderNickname, senderNickname.utf8)
        writer.append(Field.timestamp, bigEndian: timestamp.milliseconds)
        writer.append(Field.content, content.utf8)
        writer.append(Field.signature, signature)
        return writer.encoded
    }

    /// What the sender signs, without length prefixes.
    public func signedBytes(groupID: [UInt8], epoch: UInt32) -> [UInt8] {
        var bytes = Array("bitchat-group-msg-v1".utf8)
        bytes.append(contentsOf: groupID)
        bytes.append(bigEndian: epoch)
        bytes.append(contentsOf: messageID.utf8)
        bytes.append(bigEndian: timestamp.milliseconds)
        bytes.append(contentsOf: content.utf8)
        return bytes
    }
}
