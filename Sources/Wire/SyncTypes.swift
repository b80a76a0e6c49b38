/// A set of message types as REQUEST_SYNC names it (chapter 01 §9.8, chapter 04 §5.3). Unassigned bits are dropped.
public struct SyncTypes: OptionSet, Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue & 0x7ff }

    public static let announce = SyncTypes(rawValue: 1 << 0)
    public static let message = SyncTypes(rawValue: 1 << 1)
    /// Assigned, but nothing is ever served for it; so are the handshake, the encrypted and the request bits.
    public static let leave = SyncTypes(rawValue: 1 << 2)
    public static let noiseHandshake = SyncTypes(rawValue: 1 << 3)
    public static let noiseEncrypted = SyncTypes(rawValue: 1 << 4)
    public static let fragment = SyncTypes(rawValue: 1 << 5)
    public static let requestSync = SyncTypes(rawValue: 1 << 6)
    public static let fileTransfer = SyncTypes(rawValue: 1 << 7)
    public static let boardPost = SyncTypes(rawValue: 1 << 8)
    public static let prekeyBundle = SyncTypes(rawValue: 1 << 9)
    public static let groupMessage = SyncTypes(rawValue: 1 << 10)

    /// What a request without a type field asks for.
    public static let unspecified: SyncTypes = [.announce, .message]

    /// In bit order.
    private static let assigned: [MessageType] = [
        .announce, .message, .leave, .noiseHandshake, .noiseEncrypted, .fragment, .requestSync, .fileTransfer,
        .boardPost, .prekeyBundle, .groupMessage,
    ]

    /// The bit of one type; empty for types without one.
    public init(_ type: MessageType) {
        self.init(rawValue: SyncTypes.assigned.firstIndex(of: type).map { 1 << UInt64($0) } ?? 0)
    }

    /// 1 to 8 little-endian bytes; `nil` for any other number.
    public init?(wire bytes: some Collection<UInt8>) {
        guard !bytes.isEmpty, bytes.count <= 8 else { return nil }
        self.init(rawValue: bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) })
    }

    public func contains(_ type: MessageType) -> Bool { !isDisjoint(with: SyncTypes(type)) }

    /// In bit order.
    public var messageTypes: [MessageType] { SyncTypes.assigned.filter { contains($0) } }

    /// Little-endian without trailing zero bytes; `nil` for the empty set, which has no wire form.
    public var wire: [UInt8]? {
        guard !isEmpty else { return nil }
        return rawValue > 0xff ? [UInt8(rawValue & 0xff), UInt8(rawValue >> 8)] : [UInt8(rawValue)]
    }
}
