import Basics
import Wire

extension MeshNode {
    /// A link can carry frames both ways: we subscribed (outgoing), or the neighbour did (incoming). While the node is
    /// stopped, or full, the link is closed at once.
    /// - Parameters:
    ///   - frameLimit: min(ATT MTU − 3, 512).
    ///   - neighbour: any stable number for the remote address, so that reconnecting does not draw an announce each
    ///     time (chapter 03 A9); nil when unknown.
    public func linkUp(_ link: LinkID, role: LinkRole, frameLimit: Int, neighbour: UInt64? = nil, at now: Now) {
        self.now = now
        guard isRunning, linkTable.add(link, role: role, frameLimit: frameLimit, at: now.monotonic) else {
            emit(.disconnect(link))
            return
        }
        announcer.linkUp(role, neighbour: neighbour, in: self)
        tellFeatures(.linkUp(link))
    }

    /// The link's usable frame size changed.
    public func linkChanged(_ link: LinkID, frameLimit: Int, at now: Now) {
        self.now = now
        linkTable.setFrameLimit(frameLimit, of: link)
    }

    /// The link ended. Nothing happens for links the node asked to close.
    public func linkDown(_ link: LinkID, at now: Now) {
        self.now = now
        endLink(link)
    }

    /// Takes the link out; the peer at its end is disconnected when that was its last one (chapter 03 A11.6).
    func endLink(_ id: LinkID) {
        guard let link = linkTable.remove(id) else { return }
        tellFeatures(.linkDown(id, peer: link.peer))
        guard let peer = link.peer, !linkTable.hasDirectLink(to: peer) else { return }
        if registry.setConnected(false, peer) {
            refreshOwnClaim()
            announceDisconnection(of: peer)
        }
    }

    /// Closes links that the table has already removed, so that no peer counts as disconnected.
    func closeRetired(_ links: [LinkID]) {
        for link in links {
            tellFeatures(.linkDown(link, peer: nil))
            emit(.disconnect(link))
        }
    }
}
