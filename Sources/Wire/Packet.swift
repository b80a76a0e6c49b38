import Basics

/// The parsed outer packet (chapter 01 §2), as an originator fills it in or a handler reads it. What a node forwards or
/// archives is the received `Frame`, never a re-encoding of this.
public struct Packet: Hashable, Sendable {
    /// 1 or 2.
    public var version: UInt8
    public var type: MessageType
    public var ttl: UInt8
    public var timestamp: WallTime
    public var senderID: PeerID
    /// `nil` and `.broadcast` both mean everybody; emit `nil` (chapter 01 §7.1).
    public var recipientID: PeerID?
    /// Intermediate hops in travel order; version 2 only, at most 255.
    public var route: [PeerID]
    /// Uncompressed payload.
    public var payload: [UInt8]
    /// 64 bytes when present.
    public var signature: [UInt8]?
    /// Answers a REQUEST_SYNC ("RSR", flag 0x10).
    public var isSyncResponse: Bool

    public init(
        version: UInt8 = 1, type: MessageType, ttl: UInt8 = Packet.originTTL, timestamp: WallTime, senderID: PeerID,
        recipientID: PeerID? = nil, route: [PeerID] = [], payload: [UInt8] = [], signature: [UInt8]? = nil,
        isSyncResponse: Bool = false
    ) {
        self.version = version
        self.type = type
        self.ttl = ttl
        self.timestamp = timestamp
        self.senderID = senderID
        self.recipientID = recipientID
        self.route = route
        self.payload = payload
        self.signature = signature
        self.isSyncResponse = isSyncResponse
    }

    /// TTL of everything except REQUEST_SYNC and sync responses, which use 0 (chapter 03 B1).
    public static let originTTL: UInt8 = 7

    /// No recipient, or the all-`ff` one.
    public var isBroadcast: Bool { recipientID == nil || recipientID == .broadcast }
}
