import Basics
import Wire

extension MeshNode {
    /// The 5 s tick, in the order of chapter 03 B17.
    func maintain() {
        reconcilePeers()
        refreshOwnClaim()
        routes.prune(at: now.monotonic)
        closeAnonymousLinks()
        tellFeatures(.tick(cycle: maintenance.cycle))
        if maintenance.isCleanup {
            gate.expire(at: now.monotonic)
            drops.count(.spoolExpired, UInt64(spool.prune(at: now.monotonic)))
        }
        if maintenance.isFlush { flushSpool() }
    }

    private func reconcilePeers() {
        let lost = registry.reconcile(at: now.monotonic) { linkTable.hasDirectLink(to: $0) }
        for peer in lost.disconnected { announceDisconnection(of: peer) }
        for peer in lost.removed {
            emit(.peerRemoved(peer))
            tellFeatures(.removed(peer))
        }
    }

    func announceDisconnection(of peer: PeerID) {
        emit(.peerDisconnected(peer))
        tellFeatures(.disconnected(peer))
    }

    /// What we tell others, and our own route search, about our neighbours (chapter 03 B9.1).
    func refreshOwnClaim() { routes.claimOwn(registry.connected, by: me, at: now.monotonic) }

    /// A link on which nobody was ever bound holds a slot for nothing (chapter 03 A13.6).
    private func closeAnonymousLinks() {
        for link in linkTable.all where link.peer == nil && now.monotonic - link.upSince > MeshLimits.anonymousLinkLife
        {
            endLink(link.id)
            emit(.disconnect(link.id))
        }
    }
}
