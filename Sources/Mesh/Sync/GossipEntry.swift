import Basics
import Crypto
import Wire

/// One packet that gossip carries on: the frame byte for byte as it was received, and what lookups need of it.
public struct GossipEntry: Sendable {
    public let id: PacketID
    /// What the ID contributes to filters.
    public let hash: GCSHash
    public let type: MessageType
    public let sender: PeerID
    public let timestamp: WallTime
    /// Relayed frames are patched on a copy; signatures cover the compressed body, so nothing is ever re-encoded (T1).
    public internal(set) var frame: Frame
    /// The neighbour it was last heard from, and when: it is not echoed back at once.
    var heardFrom: PeerID?
    /// Who brought it first.
    let bringer: Bringer
    /// The stream a fragment belongs to; nil for anything else. Found once: a fragment may have to be inflated for it.
    let fragmentStream: FragmentStreamID?
    var heardAt: Instant
    /// Of an announce: since when one of its sender has been held without a break.
    var presentSince: Instant

    /// `nil` when the body does not inflate.
    /// - Parameter bringer: by default the neighbour it was heard from, and else us.
    public init?(
        _ frame: Frame, heardFrom: PeerID? = nil, bringer: Bringer? = nil, memory: FrameMemory? = nil, at now: Instant
    ) {
        let identifiers = memory.map { $0.identifiers(of: frame) } ?? FrameIdentifiers(frame)
        guard let identifiers else { return nil }
        id = identifiers.id
        hash = identifiers.hash
        type = frame.type
        sender = frame.senderID
        timestamp = frame.timestamp
        self.frame = frame
        self.heardFrom = heardFrom
        self.bringer = bringer ?? heardFrom.map { .neighbour($0) } ?? .us
        fragmentStream =
            frame.type == .fragment
            ? frame.withView { $0.withPayload { FragmentHeader(payload: $0)?.streamID } } ?? nil : nil
        heardAt = now
        presentSince = now
    }

    /// What goes out as an answer: the received bytes with TTL 0 and the RSR flag (§7.2).
    func answer(flagged: Bool = true) -> Frame {
        var frame = frame
        frame.setTTL(0)
        frame.setSyncResponse(flagged)
        return frame
    }
}

/// What a filter says about one packet.
struct SyncCandidate: Comparable {
    let timestamp: WallTime
    let id: PacketID
    /// Follows from the ID.
    let hash: GCSHash

    init(timestamp: WallTime, id: PacketID, hash: GCSHash) {
        self.timestamp = timestamp
        self.id = id
        self.hash = hash
    }

    init(_ entry: GossipEntry) { self.init(timestamp: entry.timestamp, id: entry.id, hash: entry.hash) }

    static func == (a: SyncCandidate, b: SyncCandidate) -> Bool { a.timestamp == b.timestamp && a.id == b.id }
    static func < (a: SyncCandidate, b: SyncCandidate) -> Bool { (a.timestamp, a.id) < (b.timestamp, b.id) }
}
