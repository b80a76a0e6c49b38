import Basics

/// Which packets gossip keeps, and for how long (chapter 04 §2, §9).
public struct GossipPolicy: Sendable {
    /// Bounds of a family that is kept in order of arrival.
    public struct Family: Sendable {
        /// Frames held; 0 for a family that is not carried.
        public var capacity: Int
        public var bytes: Int
        /// Milliseconds by the packet's own timestamp.
        public var maxAge: UInt64
        /// Frames one sender ID may hold, where the sender is not authenticated.
        public var senderShare: Int?
        /// What has to go is the oldest arrival of the neighbour that brought most, not the oldest of all: a flood on
        /// one link, however many names sign it, pushes out what it brought itself.
        public var sparesSmallBringers = false
        /// IDs remembered after their frames are gone, and for how many milliseconds from their timestamp.
        public var remembered: Int
        public var rememberedFor: UInt64
    }

    public var announces: Int?
    public var messages: Family
    public var fragments: Family
    public var files: Family
    public var groupMessages: Family
    public var prekeyOwners = SyncLimits.prekeyOwners
    /// T11: refuse packets dated ahead of our clock, where the reference keeps them for ever.
    public var refusesFuture: Bool

    /// The policy of gateways: the carrier policies of chapter 04 §2 and §9.
    public static let gateway = GossipPolicy(
        announces: SyncLimits.announces,
        messages: Family(
            capacity: SyncLimits.messages, bytes: SyncLimits.messageBytes,
            maxAge: SyncLimits.messageMaxAgeMilliseconds, senderShare: nil, sparesSmallBringers: true,
            remembered: SyncLimits.rememberedMessages,
            rememberedFor: SyncLimits.messageMaxAgeMilliseconds + SyncLimits.rememberedSlackMilliseconds),
        fragments: Family(
            capacity: SyncLimits.fragments, bytes: SyncLimits.fragmentBytes,
            maxAge: SyncLimits.fragmentMaxAgeMilliseconds,
            senderShare: SyncLimits.fragments / SyncLimits.unsignedShare, sparesSmallBringers: true,
            remembered: SyncLimits.rememberedFragments, rememberedFor: SyncLimits.fragmentMaxAgeMilliseconds),
        files: Family(
            capacity: 0, bytes: 0, maxAge: SyncLimits.fileMaxAgeMilliseconds, senderShare: nil, remembered: 0,
            rememberedFor: 0),
        groupMessages: Family(
            capacity: SyncLimits.groupMessages, bytes: SyncLimits.groupMessageBytes,
            maxAge: SyncLimits.groupMessageMaxAgeMilliseconds,
            senderShare: SyncLimits.groupMessages / SyncLimits.unsignedShare, sparesSmallBringers: true,
            remembered: SyncLimits.rememberedGroupMessages,
            rememberedFor: SyncLimits.groupMessageMaxAgeMilliseconds),
        refusesFuture: true)

    /// The policy of phones: limits on counts and ages only.
    public static let reference = GossipPolicy(
        announces: nil,
        messages: .reference(SyncLimits.messages, maxAge: SyncLimits.messageMaxAgeMilliseconds),
        fragments: .reference(SyncLimits.fragments, maxAge: SyncLimits.fragmentMaxAgeMilliseconds),
        files: .reference(SyncLimits.referenceFiles, maxAge: SyncLimits.fileMaxAgeMilliseconds),
        groupMessages: .reference(SyncLimits.groupMessages, maxAge: SyncLimits.groupMessageMaxAgeMilliseconds),
        refusesFuture: false)
}

extension GossipPolicy.Family {
    fileprivate static func reference(_ capacity: Int, maxAge: UInt64) -> GossipPolicy.Family {
        GossipPolicy.Family(
            capacity: capacity, bytes: .max, maxAge: maxAge, senderShare: nil, remembered: 0, rememberedFor: maxAge)
    }
}

extension WallTime {
    /// The oldest timestamp that is at most `age` milliseconds old; the epoch when that lies before it.
    func cutoff(age: UInt64) -> WallTime {
        WallTime(milliseconds: milliseconds > age ? milliseconds - age : 0)
    }

    func isBeyond(_ now: WallTime, byMilliseconds limit: UInt64) -> Bool {
        self > now && milliseconds - now.milliseconds > limit
    }
}
