import Basics

extension NostrClient {
    /// Every known relay, in the order they came to be known.
    public func relays(at now: Now) -> [NostrRelayStatus] { connections.map { status(of: $0, at: now.monotonic) } }

    /// Whether any of `relays` is connected.
    public func isAnyConnected(of relays: [NostrRelayURL]) -> Bool {
        relays.contains { connection($0)?.isOpen ?? false }
    }

    /// Events that wait for a relay, of those nobody waits to hear of.
    public var queuedEvents: Int { pending.unconfirmedCount }

    private func status(of connection: RelayConnection, at now: Instant) -> NostrRelayStatus {
        let state: NostrRelayStatus.State
        switch connection.phase {
        case .open: state = .connected
        case .dialling: state = .dialling
        case .idle where connection.isFailed(at: now): state = .failed
        case .idle: state = connection.redialAt == nil ? .idle : .waiting
        }
        return NostrRelayStatus(
            url: connection.url, state: state, isWanted: isWanted(connection.url), attempts: connection.attempts,
            lastFailure: connection.lastFailure, redialAt: connection.redialAt,
            lastAccepted: connection.record.lastAccepted, lastEvent: connection.record.lastEvent,
            answers: connection.record.answers, failures: connection.record.failures,
            violations: connection.conduct.violations, pendingEvents: pending.count(owedTo: connection.url),
            information: connection.information, isAuthenticated: connection.authentication.isAccepted,
            subscriptions: subscriptions.compactMap { subscription in
                guard let request = connection.requests[subscription.number] else { return nil }
                return NostrRelayStatus.Subscription(
                    id: subscription.id, isActive: request.isActive, isLoading: request.isLoading,
                    lastRefusal: request.lastRefusal,
                    retryAt: request.lastRefusal != nil && !request.isActive ? request.dueAt : nil)
            })
    }
}
