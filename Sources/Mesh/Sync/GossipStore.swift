import Basics
import Crypto
import Wire

/// Recent broadcast packets, kept to be offered to neighbours that missed them (chapter 04 §2). What may enter was
/// checked by the handler of its type; the store refuses only what is directed or not fresh.
///
/// Presence loss takes an author's announce and fragments; messages and group messages stay their full six hours, since
/// the box is what carries them across a partition (§9.4, gateway policy).
public struct GossipStore {
    public enum Outcome: Equatable, Sendable {
        case stored
        case replaced
        case refused(Refusal)
    }

    public enum Refusal: Equatable, Sendable {
        case directed
        case stale
        /// Dated ahead of our clock.
        case future
        /// Of a type that is never carried, a family switched off, undecodable, or larger than anybody makes it.
        case notCarried
        /// Held before and let go of.
        case remembered
        /// A bundle not newer than the one held, or of one owner too many.
        case outranked
    }

    let policy: GossipPolicy
    /// Our own announce does not fall to the announce cap or go stale.
    let me: PeerID?
    private(set) var announces = GossipShelf()
    private(set) var messages: GossipFamily
    private(set) var fragments: GossipFamily
    private(set) var files: GossipFamily
    private(set) var groupMessages: GossipFamily
    private(set) var prekeys = GossipShelf()

    /// - Parameter tracksMessages: whether somebody takes message changes for an archive.
    public init(_ policy: GossipPolicy = .gateway, me: PeerID? = nil, tracksMessages: Bool = false) {
        self.policy = policy
        self.me = me
        messages = GossipFamily(policy.messages, tracksChanges: tracksMessages)
        fragments = GossipFamily(policy.fragments)
        files = GossipFamily(policy.files)
        groupMessages = GossipFamily(policy.groupMessages)
    }

    /// The types a request of ours may name, the board apart.
    var carriedTypes: SyncTypes {
        var types: SyncTypes = [.announce, .prekeyBundle]
        if policy.messages.capacity > 0 { types.insert(.message) }
        if policy.fragments.capacity > 0 { types.insert(.fragment) }
        if policy.files.capacity > 0 { types.insert(.fileTransfer) }
        if policy.groupMessages.capacity > 0 { types.insert(.groupMessage) }
        return types
    }

    public var count: Int {
        announces.count + messages.count + fragments.count + files.count + groupMessages.count + prekeys.count
    }
    public var bytes: Int { messages.bytes + fragments.bytes + files.bytes + groupMessages.bytes }
    /// IDs forgotten for want of room before their time.
    var earlyEvictions: UInt64 {
        messages.horizon.earlyEvictions &+ fragments.horizon.earlyEvictions &+ groupMessages.horizon.earlyEvictions
    }

    // MARK: Coming

    @discardableResult
    public mutating func insert(
        _ frame: Frame, heardFrom: PeerID? = nil, bringer: Bringer? = nil, memory: FrameMemory? = nil, at now: Now
    ) -> Outcome {
        guard frame.isBroadcast else { return .refused(.directed) }
        let type = frame.type
        guard let maxAge = maxAge(of: type) else { return .refused(.notCarried) }
        let timestamp = frame.timestamp
        if policy.refusesFuture, timestamp.isBeyond(now.wall, byMilliseconds: MeshLimits.timestampSkewMilliseconds) {
            return .refused(.future)
        }
        guard timestamp >= now.wall.cutoff(age: maxAge) else { return .refused(.stale) }
        guard
            let entry = GossipEntry(
                frame, heardFrom: heardFrom, bringer: bringer, memory: memory, at: now.monotonic)
        else { return .refused(.notCarried) }
        switch type {
        case .announce: return put(announce: entry)
        case .message: return Outcome(messages.insert(entry))
        case .fragment: return Outcome(fragments.insert(entry))
        case .fileTransfer: return Outcome(files.insert(entry))
        case .groupMessage: return Outcome(groupMessages.insert(entry))
        case .prekeyBundle: return put(prekeys: entry)
        default: return .refused(.notCarried)
        }
    }

    /// Milliseconds; an announce that is stale on arrival is not stored either.
    private func maxAge(of type: MessageType) -> UInt64? {
        switch type {
        case .announce: SyncLimits.announceStaleMilliseconds
        case .message: policy.messages.maxAge
        case .fragment: policy.fragments.maxAge
        case .fileTransfer: policy.files.maxAge
        case .groupMessage: policy.groupMessages.maxAge
        case .prekeyBundle: SyncLimits.prekeyMaxAgeMilliseconds
        default: nil
        }
    }

    /// The latest arrival replaces, also with an older timestamp (T7).
    private mutating func put(announce entry: GossipEntry) -> Outcome {
        guard entry.frame.bytes.count <= SyncLimits.stateFrameBytes else { return .refused(.notCarried) }
        if announces.replace(entry, for: entry.sender) { return .replaced }
        if let capacity = policy.announces { announces.makeRoom(capacity: capacity, sparing: me) }
        announces.put(entry, for: entry.sender)
        return .stored
    }

    /// One slot for each owner, who is named inside; a newer packet replaces, and nothing but age makes room.
    private mutating func put(prekeys entry: GossipEntry) -> Outcome {
        guard entry.frame.bytes.count <= SyncLimits.stateFrameBytes,
            let bundle = entry.frame.payload().flatMap({ PrekeyBundle(payload: $0) }),
            let owner = NoisePublicKey(bundle.noisePublicKey)?.peerID
        else { return .refused(.notCarried) }
        if let held = prekeys[owner] {
            guard entry.timestamp > held.timestamp else { return .refused(.outranked) }
            prekeys.put(entry, for: owner)
            return .replaced
        }
        guard prekeys.count < policy.prekeyOwners else { return .refused(.outranked) }
        prekeys.put(entry, for: owner)
        return .stored
    }

    // MARK: Archive

    /// A message from the archive, checked.
    mutating func restore(message entry: GossipEntry, arrival: UInt64) {
        _ = messages.insert(entry, restored: arrival)
    }

    /// A message from the archive that is remembered without its frame.
    mutating func remember(message id: PacketID, _ timestamp: WallTime) { messages.remember(id, timestamp) }

    /// What the archive holds under this ID is of no use.
    mutating func noteLost(message id: PacketID) { messages.noteLost(id) }

    mutating func takeMessageChanges() -> PacketChanges? { messages.takeChanges() }

    // MARK: Going

    /// Drops what is not fresh any more (§9.1). Cheap when nothing is.
    public mutating func expire(at now: WallTime) {
        messages.expire(at: now)
        fragments.expire(at: now)
        files.expire(at: now)
        groupMessages.expire(at: now)
        prekeys.expire(before: now.cutoff(age: SyncLimits.prekeyMaxAgeMilliseconds))
    }

    /// §9.3, without the purge of the author's messages that the reference ties to it.
    mutating func dropStaleAnnounces(at now: WallTime) {
        announces.expire(before: now.cutoff(age: SyncLimits.announceStaleMilliseconds), sparing: me)
    }

    /// A peer left, fell silent or rotated its identity: nothing that says it is here may be served any more.
    mutating func forgetPresence(of peer: PeerID) {
        guard peer != me else { return }
        announces.remove(peer)
        fragments.letGo(ofAllFrom: peer)
    }

    /// The operator blocked a sender (§9.5).
    mutating func removeMessages(of sender: PeerID) { messages.letGo(ofAllFrom: sender) }

    // MARK: Finding

    func entry(_ type: MessageType, _ id: PacketID) -> GossipEntry? {
        switch type {
        case .announce: announces.entry(id)
        case .message: messages[id]
        case .fragment: fragments[id]
        case .fileTransfer: files[id]
        case .groupMessage: groupMessages[id]
        case .prekeyBundle: prekeys.entry(id)
        default: nil
        }
    }
}

extension GossipStore.Outcome {
    init(_ insertion: GossipFamily.Insertion) {
        switch insertion {
        case .added: self = .stored
        case .replaced: self = .replaced
        case .remembered: self = .refused(.remembered)
        case .refused: self = .refused(.notCarried)
        }
    }
}
