import Basics
import Wire

/// The node's view of the mesh for source routing: topology and the health of routes (chapter 03 B9).
final class SourceRoutes {
    private(set) var topology = TopologyTracker()
    private var health = RouteHealth()

    func claim(_ neighbours: [PeerID], by node: PeerID, at now: Instant) {
        topology.claim(neighbours, by: node, at: now)
    }

    func claimOwn(_ neighbours: [PeerID], by me: PeerID, at now: Instant) {
        topology.claimOwn(neighbours, by: me, at: now)
    }

    /// A packet by `author` arrived that it has just sent.
    func noteHeard(_ author: PeerID) { health.confirm(author) }

    func noteVersion(_ version: UInt8, of node: PeerID, at now: Instant) {
        topology.noteVersion(version, of: node, at: now)
    }

    /// The hops to attach to a packet of ours, if it is to be routed at all.
    func route(
        for packet: Packet, me: PeerID, isRecipientConnected: Bool, at now: Instant
    ) -> [PeerID]? {
        guard let recipient = packet.recipientID,
            RouteOrigination.isCandidate(
                sender: packet.senderID, recipient: recipient, ttl: packet.ttl, me: me,
                isRecipientConnected: isRecipientConnected),
            health.mayRoute(to: recipient, at: now),
            let hops = topology.route(from: me, to: recipient, at: now), RouteOrigination.isWorthwhile(hops)
        else { return nil }
        return hops
    }

    func noteRoutedSend(to recipient: PeerID, at now: Instant) {
        health.noteRoutedSend(to: recipient, at: now)
    }

    func prune(at now: Instant) {
        topology.prune(at: now)
        health.prune(at: now)
    }

    func remove(_ node: PeerID) { topology.remove(node) }
}
