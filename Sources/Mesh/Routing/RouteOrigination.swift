import Wire

/// Whether an outgoing packet gets a source route (chapter 03 B9.2). Asked in two halves, so that nothing is searched
/// for a packet that gets none.
public enum RouteOrigination {
    /// Ours, addressed to one peer that is no neighbour, and with hops to spend.
    public static func isCandidate(
        sender: PeerID, recipient: PeerID?, ttl: UInt8, me: PeerID, isRecipientConnected: Bool
    ) -> Bool {
        sender == me && recipient != nil && recipient != .broadcast && ttl > 1 && !isRecipientConnected
    }

    /// A path through at least one and at most four others.
    public static func isWorthwhile(_ hops: [PeerID]) -> Bool {
        !hops.isEmpty && hops.count <= MeshLimits.routeIntermediateHops
    }
}
