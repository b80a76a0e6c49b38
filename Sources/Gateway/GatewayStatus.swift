import Basics

/// What the gateway is doing, for `status`. Names channels and people: show it to the operator, write it nowhere
/// (chapter 06 §13).
public struct GatewayStatus: Sendable {
    public struct Use: Hashable, Sendable {
        public let used: Int
        public let limit: Int
    }

    public struct Service: Hashable, Sendable {
        /// Deposits waiting for a relay.
        public let queuedDeposits: Use
        /// Carriers waiting for airtime.
        public let pendingDownlinks: Use
        /// Carriers and bytes of the last 60 s.
        public let carriers: Use
        public let bytes: Use

        init(queuedDeposits: Int, pendingDownlinks: Int, budget: AirtimeBudget, at now: Instant) {
            let used = budget.used(at: now)
            self.queuedDeposits = Use(used: queuedDeposits, limit: GatewayLimits.queuedDeposits)
            self.pendingDownlinks = Use(used: pendingDownlinks, limit: GatewayLimits.pendingDownlinks)
            carriers = Use(used: used.carriers, limit: budget.carriers)
            bytes = Use(used: used.bytes, limit: budget.bytes)
        }
    }

    public let isOn: Bool
    public let isClockTrusted: Bool
    public let relayConnected: Bool
    public let advertisement: GatewayAdvertisement
    public let channels: Service
    public let bridge: Service
    public let followedChannels: [String]
    /// People across the bridge, most recent first.
    public let participants: [Participants.Participant]
}
