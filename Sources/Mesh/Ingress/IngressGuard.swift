import Basics
import Wire

/// Who a packet is attributed to, and whether it may enter at all (chapter 03 B3). Looks at header fields only.
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

    public enum Timeliness: Equatable, Sendable {
        /// Near our clock.
        case live
        /// An answer to a sync request of ours, of any age.
        case syncAnswer
        case refused
    }

    /// Rules 4 and 5. A flagged packet needs an open sync request and no clock test; everything else must be near our
    /// clock. An old packet with TTL 0 from a peer we asked is taken as an answer too, since Android's carry no flag.
    @inlinable
    public static func timeliness(
        timestamp: WallTime, type: MessageType, ttl: UInt8, isSyncResponse: Bool, hasOpenRequest: Bool, now: WallTime
    ) -> Timeliness {
        if isSyncResponse { return hasOpenRequest ? .syncAnswer : .refused }
        if timestamp.distance(to: now) <= MeshLimits.timestampSkewMilliseconds { return .live }
        return ttl == 0 && hasOpenRequest && type != .requestSync ? .syncAnswer : .refused
    }
}

extension WallTime {
    /// Past-only staleness, as the handlers apply it (chapter 03 B3, end).
    public func isOlder(thanMilliseconds limit: UInt64, at now: WallTime) -> Bool {
        now > self && now.milliseconds - milliseconds > limit
    }
}

/// When each peer was last asked for a sync (chapter 03 B3 rule 4): answers are welcome for 30 s.
public struct SyncRequestLog: Sendable {
    private var asked: [PeerID: Instant] = [:]

    public init() {}

    public mutating func noteRequest(to peer: PeerID, at now: Instant) {
        if asked.count >= MeshLimits.syncRequestCapacity { prune(at: now) }
        guard asked[peer] != nil || asked.count < MeshLimits.syncRequestCapacity else { return }
        asked[peer] = now
    }

    @inlinable public func isOpen(for peer: PeerID, at now: Instant) -> Bool {
        guard let last = lastRequest(to: peer) else { return false }
        return now - last <= MeshLimits.syncAnswerWindow
    }

    @usableFromInline func lastRequest(to peer: PeerID) -> Instant? { asked.isEmpty ? nil : asked[peer] }

    public mutating func prune(at now: Instant) {
        asked = asked.filter { now - $0.value <= MeshLimits.syncAnswerWindow }
    }

    public mutating func removeAll() { asked.removeAll() }
}
