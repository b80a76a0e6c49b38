/// The payload of a Nostr carrier, type 0x28: one signed Nostr event on its way through the mesh (chapter 01 §9.6).
/// Nothing in it is authenticated by the mesh, and neither the geohash alphabet nor the event is checked here.
public struct NostrCarrier: Hashable, Sendable {
    public enum Direction: UInt8, CaseIterable, Sendable {
        /// Directed and signed by the depositor.
        case toGateway = 1
        /// Broadcast, unsigned.
        case fromGateway = 2
        /// Directed and signed by the depositor.
        case toBridge = 3
        /// Broadcast, unsigned.
        case fromBridge = 4
    }

    /// Bytes of the geohash.
    public static let geohashSizes = 1...12
    /// Bytes of the event JSON.
    public static let eventSizes = 1...16_384

    public var direction: Direction
    /// The channel's geohash, or the bridge's rendezvous cell.
    public var geohash: String
    /// The complete event as a JSON object.
    public var event: [UInt8]

    public init(direction: Direction, geohash: String, event: [UInt8]) {
        self.direction = direction
        self.geohash = geohash
        self.event = event
    }

    private enum Field {
        static let direction: UInt8 = 0x01
        static let geohash: UInt8 = 0x02
        static let event: UInt8 = 0x03
    }

    public init?(payload: [UInt8]) {
        var direction: Direction?
        var geohash: String?
        var event: [UInt8]?
        let isWellFormed = TLVFormat.tlv16.read(payload) { type, value in
            switch type {
            case Field.direction:
                guard let known = value.integer(UInt8.self).flatMap(Direction.init) else { return false }
                direction = known
            case Field.geohash:
                guard NostrCarrier.geohashSizes.contains(value.count), let text = value.text else { return false }
                geohash = text
            case Field.event:
                guard NostrCarrier.eventSizes.contains(value.count) else { return false }
                event = [UInt8](value)
            default: break
            }
            return true
        }
        guard isWellFormed, let direction, let geohash, let event else { return nil }
        self.init(direction: direction, geohash: geohash, event: event)
    }

    /// `nil` when geohash or event is outside its size limits.
    public func encoded() -> [UInt8]? {
        guard NostrCarrier.geohashSizes.contains(geohash.utf8.count), NostrCarrier.eventSizes.contains(event.count)
        else { return nil }
        var writer = TLVWriter(.tlv16)
        writer.append(Field.direction, bigEndian: direction.rawValue)
        writer.append(Field.geohash, geohash.utf8)
        writer.append(Field.event, event)
        return writer.encoded
    }
}
