import Basics
import Crypto
import Wire

/// Looks at announces that are refused for their time alone. Each costs a signature check, so they have a budget.
struct AnnouncedTimes {
    private var budget = TokenBucket(
        capacity: MeshLimits.witnessedAnnounceBurst, perSecond: MeshLimits.witnessedAnnouncesPerSecond)

    mutating func admit(at now: Instant) -> Bool { budget.take(at: now) }
}

extension MeshNode {
    /// An announce too far from our clock. Its time is told, since the wrong clock may be ours; it has no other effect.
    func witness(_ view: FrameView, on link: LinkID) {
        guard view.type == .announce, !view.isSyncResponse, view.ttl > 0,
            linkTable.admitPacket(on: link, at: now.monotonic),
            announcedTimes.admit(at: now.monotonic)
        else { return }
        let frame = Frame(view)
        let verified = try? verify(announce: frame, registry[frame.senderID], at: frame.timestamp)
        if let verified { tellTime(of: verified, on: link) }
    }

    func tellTime(of announce: VerifiedAnnounce, on link: LinkID) {
        emit(.timeHeard(announce.frame.timestamp, from: announce.frame.senderID, on: link))
    }
}
