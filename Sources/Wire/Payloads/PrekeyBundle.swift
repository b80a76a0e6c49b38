import Basics

/// One-time keys that others seal mail to, type 0x24 (chapter 01 §9.5). Believe one only when both this signature and
/// the packet's verify under the owner's announced key.
public struct PrekeyBundle: Hashable, Sendable {
    public struct Prekey: Hashable, Sendable {
        public var id: UInt32
        /// X25519, 32 bytes.
        public var publicKey: [UInt8]

        public init(id: UInt32, publicKey: [UInt8]) {
            self.id = id
            self.publicKey = publicKey
        }
    }

    /// Prekeys in one bundle.
    public static let counts = 1...8

    private static let keySize = 32
    private static let signatureSize = 64
    private static let prekeySize = 4 + keySize

    /// Static key of the owner, 32 bytes; the packet's sender must be its peer ID.
    public var noisePublicKey: [UInt8]
    /// 1 to 8 with different IDs.
    public var prekeys: [Prekey]
    /// A newer bundle replaces an older one of the same owner.
    public var generatedAt: WallTime
    /// Ed25519 over `signedBytes`, 64 bytes.
    public var signature: [UInt8]

    public init(noisePublicKey: [UInt8], prekeys: [Prekey], generatedAt: WallTime, signature: [UInt8]) {
        self.noisePublicKey = noisePublicKey
        self.prekeys = prekeys
        self.generatedAt = generatedAt
        self.signature = signature
    }

    private enum Field {
        static let noisePublicKey: UInt8 = 0x01
        static let prekeys: UInt8 = 0x02
        static let generatedAt: UInt8 = 0x03
        static let signature: UInt8 = 0x04
    }

    public init?(payload: [UInt8]) {
        var noisePublicKey: [UInt8]?
        var prekeys: [Prekey]?
        var generatedAt: UInt64?
        var signature: [UInt8]?
        let isWellFormed = TLVFormat.tlv16.read(payload) { type, value in
            switch type {
            case Field.noisePublicKey:
                noisePublicKey = value.bytes(Self.keySize)
                return noisePublicKey != nil
            case Field.prekeys:
                prekeys = Self.prekeys(value)
                return prekeys != nil
            case Field.generatedAt:
                generatedAt = value.integer()
                return generatedAt != nil
            case Field.signature:
                signature = value.bytes(Self.signatureSize)
                return signature != nil
            default: return true
            }
        }
        guard isWellFormed, let noisePublicKey, let prekeys, let generatedAt, let signature else { return nil }
        self.init(
            noisePublicKey: noisePublicKey, prekeys: prekeys, generatedAt: WallTime(milliseconds: generatedAt),
            signature: signature)
    }

    /// `nil` when a size or count is wrong or an ID repeats.
    public func encoded() -> [UInt8]? {
        guard hasValidKeys, signature.count == Self.signatureSize else { return nil }
        var writer = TLVWriter(.tlv16)
        writer.append(Field.noisePublicKey, noisePublicKey)
        writer.append(Field.prekeys, prekeyBytes)
        writer.append(Field.generatedAt, bigEndian: generatedAt.milliseconds)
        writer.append(Field.signature, signature)
        return writer.encoded
    }

    /// What the owner signs; `nil` when a size or count is wrong or an ID repeats.
    public var signedBytes: [UInt8]? {
        guard hasValidKeys else { return nil }
        var bytes = [UInt8]()
        bytes.append(length8: "bitchat-prekey-bundle-v1".utf8)
        bytes.append(contentsOf: noisePublicKey)
        bytes.append(UInt8(prekeys.count))
        bytes.append(contentsOf: prekeyBytes)
        bytes.append(bigEndian: generatedAt.milliseconds)
        return bytes
    }

    private var hasValidKeys: Bool {
        noisePublicKey.count == Self.keySize && Self.counts.contains(prekeys.count)
            && prekeys.allSatisfy { $0.publicKey.count == Self.keySize } && Self.haveDistinctIDs(prekeys)
    }

    private var prekeyBytes: [UInt8] {
        var bytes = [UInt8]()
        for prekey in prekeys {
            bytes.append(bigEndian: prekey.id)
            bytes.append(contentsOf: prekey.publicKey)
        }
        return bytes
    }

    private static func prekeys(_ value: UnsafeRawBufferPointer) -> [Prekey]? {
        guard value.count % prekeySize == 0, counts.contains(value.count / prekeySize) else { return nil }
        var reader = ByteReader(value)
        var prekeys = [Prekey]()
        while let id = reader.readUInt32(), let publicKey = reader.readBytes(keySize) {
            prekeys.append(Prekey(id: id, publicKey: publicKey))
        }
        return haveDistinctIDs(prekeys) ? prekeys : nil
    }

    private static func haveDistinctIDs(_ prekeys: [Prekey]) -> Bool {
        Set(prekeys.map(\.id)).count == prekeys.count
    }
}
