import Basics
import Wire

/// Who a packet is attributed to (chapter 03 B3 rules 1 to 3). Looks at header fields only. Rules 4 and 5, the clock
/// and its one exception, are `SyncAcceptance`.
public enum IngressGuard {
    public enum Attribution: Equatable, Sendable {
        case accepted(ingressPeer: PeerID)
        /// Rule 1: our own packet comes back, and not as an answer to a sync request.
        case selfLoopback
        /// Rule 2a: a sync request in another's name.
        case senderMismatch
    }

    /// Rules 1 to 3.
    /// - Parameter boundPeer: the peer the link is bound to.
    @inlinable
    public static func attribute(
        sender: PeerID, type: MessageType, ttl: UInt8, isSyncResponse: Bool, me: PeerID, boundPeer: PeerID?
    ) -> Attribution {
        if sender == me, !(isSyncResponse && ttl == 0) { return .selfLoopback }
        guard let boundPeer, boundPeer != sender else { return .accepted(ingressPeer: sender) }
        if type == .requestSync { return .senderMismatch }
        // A verified announce may rebind the link, so it counts as its sender's already.
        if type == .announce, ttl == Packet.originTTL { return .accepted(ingressPeer: sender) }
        return .accepted(ingressPeer: boundPeer)
    }
}

extension WallTime {
    /// Past-only staleness, as the handlers apply it (chapter 03 B3, end).
    public func isOlder(thanMilliseconds limit: UInt64, at now: WallTime) -> Bool {
        now > self && now.milliseconds - milliseconds > limit
    }
}
