/// The payload of an announce, type 0x01 (chapter 01 §9.1). Decoding judges neither the key lengths nor the claim: that
/// is the acceptance check's work.
public struct Announce: Hashable, Sendable {
    /// More neighbours are not emitted.
    public static let maximumNeighbors = 10
    /// Bytes; a longer or empty cell is not emitted, a longer one not read.
    public static let maximumGeohashSize = 12

    /// At most 255 bytes.
    public var nickname: String
    public var noisePublicKey: [UInt8]
    public var signingPublicKey: [UInt8]
    /// Peers the sender has links to; `nil` when the field is absent, never empty after decoding.
    public var directNeighbors: [PeerID]?
    /// `nil` when the field is absent, which is not the same as the empty set.
    public var capabilities: Capabilities?
    /// Rendezvous cell of the bridge; emit only together with capability `bridge`.
    public var bridgeGeohash: String?

    public init(
        nickname: String, noisePublicKey: [UInt8], signingPublicKey: [UInt8], directNeighbors: [PeerID]? = nil,
        capabilities: Capabilities? = nil, bridgeGeohash: String? = nil
    ) {
        self.nickname = nickname
        self.noisePublicKey = noisePublicKey
        self.signingPublicKey = signingPublicKey
        self.directNeighbors = directNeighbors
        self.capabilities = capabilities
        self.bridgeGeohash = bridgeGeohash
    }

    private enum Field {
        static let nickname: UInt8 = 0x01
        static let noisePublicKey: UInt8 = 0x02
        static let signingPublicKey: UInt8 = 0x03
        static let directNeighbors: UInt8 = 0x04
        static let capabilities: UInt8 = 0x05
        static let bridgeGeohash: UInt8 = 0x06
    }

    public init?(payload: [UInt8]) {
        var nickname: String?
        var noisePublicKey: [UInt8]?
        var signingPublicKey: [UInt8]?
        var directNeighbors: [PeerID]?
        var capabilities: Capabilities?
        var bridgeGeohash: String?
        let isWellFormed = TLVFormat.lenientTLV8.read(payload) { type, value in
            switch type {
            case Field.nickname:
                guard let text = value.text else { return false }
                nickname = text
            case Field.noisePublicKey: noisePublicKey = [UInt8](value)
            case Field.signingPublicKey: signingPublicKey = [UInt8](value)
            case Field.directNeighbors: directNeighbors = Announce.neighbors(value) ?? directNeighbors
            case Field.capabilities: capabilities = Capabilities(littleEndian: value)
            case Field.bridgeGeohash:
                if value.count <= Announce.maximumGeohashSize { bridgeGeohash = value.text ?? bridgeGeohash }
            default: break
            }
            return true
        }
        guard isWellFormed, let nickname, let noisePublicKey, let signingPublicKey else { return nil }
        self.init(
            nickname: nickname, noisePublicKey: noisePublicKey, signingPublicKey: signingPublicKey,
            directNeighbors: directNeighbors, capabilities: capabilities, bridgeGeohash: bridgeGeohash)
    }

    /// `nil` when nickname or a key exceeds 255 bytes.
    public func encoded() -> [UInt8]? {
        var writer = TLVWriter(.lenientTLV8)
        writer.append(Field.nickname, nickname.utf8)
        writer.append(Field.noisePublicKey, noisePublicKey)
        writer.append(Field.signingPublicKey, signingPublicKey)
        if let directNeighbors, !directNeighbors.isEmpty {
            let kept = directNeighbors.prefix(Announce.maximumNeighbors)
            writer.append(Field.directNeighbors, kept.flatMap(\.bytes))
        }
        if let capabilities { writer.append(Field.capabilities, capabilities.encoded) }
        if let bridgeGeohash, (1...Announce.maximumGeohashSize).contains(bridgeGeohash.utf8.count) {
            writer.append(Field.bridgeGeohash, bridgeGeohash.utf8)
        }
        return writer.encoded
    }

    private static func neighbors(_ value: UnsafeRawBufferPointer) -> [PeerID]? {
        guard !value.isEmpty, value.count % PeerID.size == 0 else { return nil }
        return stride(from: 0, to: value.count, by: PeerID.size).compactMap { PeerID(value[$0..<$0 + PeerID.size]) }
    }
}
