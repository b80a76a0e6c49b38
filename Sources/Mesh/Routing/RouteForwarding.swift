import Wire

/// What to do with a received packet on account of its source route (chapter 03 B9.3). Forwarders neither verify nor
/// alter the route.
public enum RouteForwarding: Equatable, Sendable {
    /// Send a copy with this TTL to this peer, and do not flood.
    case forward(to: PeerID, ttl: UInt8)
    /// Neither forward nor flood.
    case suppress
    /// The flood decision applies.
    case flood

    public static func decide(
        type: MessageType, ttl: UInt8, recipient: PeerID?, route: [PeerID], me: PeerID,
        isConnected: (PeerID) -> Bool
    ) -> RouteForwarding {
        if type == .requestSync || recipient == me { return .suppress }
        guard let first = route.first else { return .flood }
        if ttl <= 1 { return .suppress }
        let next: PeerID?
        if let position = route.firstIndex(of: me) {
            next = position == route.count - 1 ? recipient : route[position + 1]
        } else {
            next = first
        }
        guard let next, isConnected(next) else { return .flood }
        return .forward(to: next, ttl: ttl - 1)
    }
}
