import Basics

/// Asks a peer to prove that it holds the signing key of a scanned code: the body of Noise payload 0x10 (chapter 01
/// §10.3).
public struct VerificationChallenge: Hashable, Sendable {
    /// The challenged peer's Noise static key in 64 hex digits, to be compared without regard to case.
    public var noiseKeyHex: String
    /// 16 random bytes from the clients.
    public var nonce: [UInt8]

    public init(noiseKeyHex: String, nonce: [UInt8]) {
        self.noiseKeyHex = noiseKeyHex
        self.nonce = nonce
    }

    /// The fields in their order and no other; bytes after them are ignored.
    public init?(body: [UInt8]) {
        guard let fields = VerificationFields.read(2, from: body) else { return nil }
        guard let noiseKeyHex = String(validating: fields[0], as: UTF8.self) else { return nil }
        self.init(noiseKeyHex: noiseKeyHex, nonce: fields[1])
    }

    /// The body; `nil` when a field exceeds 255 bytes.
    public func encoded() -> [UInt8]? { VerificationFields.write([Array(noiseKeyHex.utf8), nonce]) }
}

/// The answer: the challenge's fields with a signature, the body of Noise payload 0x11 (chapter 01 §10.3).
public struct VerificationResponse: Hashable, Sendable {
    public var noiseKeyHex: String
    public var nonce: [UInt8]
    /// Ed25519 over `signedBytes`, 64 bytes in a valid one.
    public var signature: [UInt8]

    public init(noiseKeyHex: String, nonce: [UInt8], signature: [UInt8]) {
        self.noiseKeyHex = noiseKeyHex
        self.nonce = nonce
        self.signature = signature
    }

    /// The fields in their order and no other; bytes after them are ignored.
    public init?(body: [UInt8]) {
        guard let fields = VerificationFields.read(3, from: body) else { return nil }
        guard let noiseKeyHex = String(validating: fields[0], as: UTF8.self) else { return nil }
        self.init(noiseKeyHex: noiseKeyHex, nonce: fields[1], signature: fields[2])
    }

    /// The body; `nil` when a field exceeds 255 bytes.
    public func encoded() -> [UInt8]? { VerificationFields.write([Array(noiseKeyHex.utf8), nonce, signature]) }

    /// What the challenged peer signs.
    public var signedBytes: [UInt8] {
        var bytes = Array("bitchat-verify-resp-v1".utf8)
        bytes.append(length8: noiseKeyHex.utf8)
        bytes.append(contentsOf: nonce)
        return bytes
    }
}

/// Fields 1, 2, 3 … in TLV8, each exactly once and in this order.
private enum VerificationFields {
    /// Exactly `count` values, or `nil`.
    static func read(_ count: UInt8, from body: [UInt8]) -> [[UInt8]]? {
        body.withUnsafeBytes {
            var reader = ByteReader($0)
            var values = [[UInt8]]()
            for type in 1...count {
                guard reader.readUInt8() == type, let length = reader.readUInt8() else { return nil }
                guard let value = reader.readBytes(Int(length)) else { return nil }
                values.append(value)
            }
            return values
        }
    }

    static func write(_ values: [[UInt8]]) -> [UInt8]? {
        var writer = TLVWriter(.tlv8)
        for (index, value) in values.enumerated() { writer.append(UInt8(index + 1), value) }
        return writer.encoded
    }
}
