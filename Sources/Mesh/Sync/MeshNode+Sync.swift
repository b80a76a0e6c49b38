import Basics
import Wire

extension MeshNode {
    /// Whether wall time is good enough to date our packets and to judge ages by. Until it is, nothing of ours goes
    /// out, nothing is asked for, answered, kept or let go of, and an archive handed over waits; what others say is
    /// heard and relayed whatever its time (chapter 03 A13.7, chapter 04 T14). Whoever steps the clock takes trust
    /// back first.
    public func setClockTrusted(_ isTrusted: Bool, at now: Now) {
        self.now = now
        guard isTrusted != isClockTrusted else { return }
        gate.isClockTrusted = isTrusted
        gate.syncRequests.removeAll()
        gossip.restoreWhenClockIsTrusted(in: self)
        board.restoreWhenClockIsTrusted(in: self)
        if isTrusted, isRunning { announcer.announceSoon(in: self) }
    }

    /// What `MeshEffect.archive` had written before the restart, in any order. Call it once, after `restore(_:)` of
    /// identities, so that signatures can be checked again, and before `start`.
    public func restoreHistory(_ records: [HistoryRecord], at now: Now) {
        self.now = now
        gossip.restore(records, in: self)
    }

    /// Public messages held for neighbours that missed them.
    public var historyCount: Int { gossip.store.messages.count }

    /// The operator blocked a sender: its messages are served no more (chapter 04 §9.5).
    public func dropHistory(of sender: PeerID, at now: Now) {
        self.now = now
        gossip.removeMessages(of: sender, in: self)
    }

    /// One frame of a sync answer. It waits behind everything live in the link's queue.
    func write(answer frame: Frame, to link: LinkID) {
        count(.syncFramesServed)
        write(frame.bytes, to: link, priority: .low)
    }
}
