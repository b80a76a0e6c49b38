import Wire

/// Why a group envelope does not open. In the order of the checks (chapter 01 §9.12).
public enum GroupMessageRejection: String, CaseIterable, Error, Sendable {
    case decryptionFailed = "decryption-failed"
    case malformedPayload = "malformed-payload"
    case badSenderSignature = "bad-sender-signature"
}

/// A group message that opened under the group's key and is signed with the sender's key inside. That this key stands
/// in the roster is left to check.
public struct OpenedGroupMessage: Hashable, Sendable {
    public let message: GroupMessage
    public let sender: SigningPublicKey

    public init(_ envelope: GroupEnvelope, key: SecretBytes) throws(GroupMessageRejection) {
        guard
            let plaintext = ChaChaPoly.open(
                envelope.ciphertext, key: key, nonce: envelope.nonce, associated: envelope.additionalData)
        else { throw .decryptionFailed }
        guard let message = GroupMessage(plaintext: plaintext),
            let sender = SigningPublicKey(message.senderSigningKey)
        else { throw .malformedPayload }
        let signedBytes = message.signedBytes(groupID: envelope.groupID, epoch: envelope.epoch)
        guard sender.verify(message.signature, over: signedBytes) else { throw .badSenderSignature }
        self.message = message
        self.sender = sender
    }
}

extension GroupMessage {
    /// Seals a signed message for the group; `nil` when it cannot be encoded, or key or nonce have a wrong size.
    ///
    /// - Parameter nonce: 12 bytes, never used twice under one key.
    public func sealed(groupID: [UInt8], epoch: UInt32, key: SecretBytes, nonce: [UInt8]) -> GroupEnvelope? {
        var envelope = GroupEnvelope(groupID: groupID, epoch: epoch, nonce: nonce, ciphertext: [])
        guard let plaintext = encoded(),
            let ciphertext = ChaChaPoly.seal(plaintext, key: key, nonce: nonce, associated: envelope.additionalData)
        else { return nil }
        envelope.ciphertext = ciphertext
        return envelope
    }
}
