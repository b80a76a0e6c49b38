/// The draft of an announce with rotating IDs, type 0x2c (chapter 01 §13). Nothing emits or consumes it yet: a node
/// relays it as it would an unknown type.
public struct AnnounceV2: Hashable, Sendable {
    /// 8 recognition tags of 8 bytes.
    public static let tagBlockSize = 64
    /// Bytes.
    public static let maximumGeohashSize = 12

    /// Hours since the Unix epoch.
    public var epoch: UInt32
    /// Recognition tags in random order, unused slots random; 64 bytes.
    public var tagBlock: [UInt8]
    public var capabilities: Capabilities?
    public var bridgeGeohash: String?

    public init(
        epoch: UInt32, tagBlock: [UInt8], capabilities: Capabilities? = nil, bridgeGeohash: String? = nil
    ) {
        self.epoch = epoch
        self.tagBlock = tagBlock
        self.capabilities = capabilities
        self.bridgeGeohash = bridgeGeohash
    }

    private enum Field {
        static let epoch: UInt8 = 0x01
        static let tagBlock: UInt8 = 0x02
        static let capabilities: UInt8 = 0x03
        static let bridgeGeohash: UInt8 = 0x04
    }

    public init?(payload: [UInt8]) {
        var epoch: UInt32?
        var tagBlock: [UInt8]?
        var capabilities: Capabilities?
        var bridgeGeohash: String?
        let isWellFormed = TLVFormat.tlv8.read(payload) { type, value in
            switch type {
            case Field.epoch:
                epoch = value.integer()
                return epoch != nil
            case Field.tagBlock:
                tagBlock = value.bytes(Self.tagBlockSize)
                return tagBlock != nil
            case Field.capabilities:
                capabilities = Capabilities(minimal: value)
                return capabilities != nil
            case Field.bridgeGeohash:
                bridgeGeohash = value.count <= Self.maximumGeohashSize ? value.text : nil
                return bridgeGeohash != nil
            default: return true
            }
        }
        guard isWellFormed, let epoch, let tagBlock else { return nil }
        self.init(epoch: epoch, tagBlock: tagBlock, capabilities: capabilities, bridgeGeohash: bridgeGeohash)
    }

    /// An empty geohash is left out. `nil` when the tag block is not 64 bytes or the geohash exceeds 12.
    public func encoded() -> [UInt8]? {
        guard tagBlock.count == Self.tagBlockSize, (bridgeGeohash?.utf8.count ?? 0) <= Self.maximumGeohashSize
        else { return nil }
        var writer = TLVWriter(.tlv8)
        writer.append(Field.epoch, bigEndian: epoch)
        writer.append(Field.tagBlock, tagBlock)
        if let capabilities { writer.append(Field.capabilities, capabilities.encoded) }
        if let bridgeGeohash, !bridgeGeohash.isEmpty {
            writer.append(Field.bridgeGeohash, bridgeGeohash.utf8)
        }
        return writer.encoded
    }
}
