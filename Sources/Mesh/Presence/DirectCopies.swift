import Basics
import Crypto
import Wire

extension MeshNode {
    /// An announce goes out on every link, and a relay may be faster than the author: links are bound before duplicates
    /// are dropped (chapter 03 B2 step 2, A11.1). The copy passes the checks of a first one, and does nothing else:
    /// it rebinds no link, since with a copy somebody who replays it has all the time in the world (A11.2).
    /// - Parameter bound: whom the link is bound to.
    /// - Returns: true when somebody became a neighbour by it.
    func bindCopy(_ view: FrameView, on link: LinkID, of bound: PeerID?) -> Bool {
        guard view.type == .announce, view.ttl == Packet.originTTL else { return false }
        let sender = view.senderID
        // What was taken from the announce that this one is a copy of still stands.
        guard bound == nil || bound == sender, let peer = registry[sender], peer.announcedAt == view.timestamp else {
            return false
        }
        guard bound == nil else {
            linkTable.bind(link, to: sender)
            return false
        }
        guard linkTable.admitPacket(on: link, at: now.monotonic) else {
            drops.count(.linkBudget)
            return false
        }
        let frame = Frame(view)
        do {
            _ = try verify(announce: frame, peer, at: isClockTrusted ? now.wall : peer.announcedAt)
        } catch {
            drops.count(MeshDrop(error))
            return false
        }
        linkTable.bind(link, to: sender)
        guard registry.setConnected(true, sender) else { return false }
        refreshOwnClaim()
        if let snapshot = registry.snapshot(sender, at: now.monotonic) { emit(.peerConnected(snapshot)) }
        tellFeatures(
            .announced(
                Announcement(
                    peer: sender, link: link, looksDirect: true, isNew: false, becameConnected: true, frame: frame)))
        return true
    }
}
