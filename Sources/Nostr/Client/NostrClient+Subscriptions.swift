import Basics

/// Subscriptions are durable: what is wanted is kept per id and sent to every target relay whenever that relay is
/// connected, including relays that were down or failed when it was asked for (chapter 05 §6.5).
extension NostrClient {
    /// Asks the target relays for events. The same request again changes nothing; another one under the same id takes
    /// the old one's place, on the wire at most once a second.
    ///
    /// - Parameters:
    ///   - id: 1–64 bytes.
    ///   - movesSince: whether replays after long connections may move `since` up (chapter 05 §18.8). By default for
    ///     ephemeral kinds only.
    /// - Returns: false when refused: id too long or too many subscriptions.
    @discardableResult
    public func subscribe(
        _ id: String, _ filter: NostrFilter, to targets: RelayTargets, movesSince: Bool? = nil, at now: Now
    ) -> Bool {
        followClock(now)
        let old = subscriptions.first { $0.id == id }
        guard (1...NostrLimits.subscriptionIDBytes).contains(id.utf8.count), !filter.mixesPrivateKinds,
            old != nil || subscriptions.count < NostrLimits.subscriptions
        else {
            drops.count(.subscriptionRefused)
            return false
        }
        if let old, old.isSame(filter, targets) { return true }
        let isEphemeral = filter.kinds?.allSatisfy { EventKind.isEphemeral($0) } ?? false
        let relays = self.relays(of: targets)
        let usable = relays.filter { url in
            isPermitted(url) && !(connection(url)?.isFailed(at: now.monotonic) ?? false)
        }
        let subscription = Subscription(
            number: nextNumber(), id: id, filter: filter, targets: targets, movesSince: movesSince ?? isEphemeral,
            dueAt: dueTime(after: old, at: now.monotonic), load: InitialLoad(relays: usable, at: now.monotonic),
            at: now.wall)
        subscriptions.removeAll { $0.id == id }
        subscriptions.append(subscription)
        if let old { replace(old, at: relays, at: now.monotonic) }
        refresh(at: now)
        for connection in connections { sendRequests(to: connection, at: now) }
        reportLoads(at: now.monotonic)
        return true
    }

    /// A request that has been sendable is followed by the next of its id a second later; one that has not gives its
    /// place in time away.
    private func dueTime(after old: Subscription?, at now: Instant) -> Instant {
        guard let old else { return now }
        return old.dueAt > now ? old.dueAt : max(now, old.dueAt + NostrLimits.repeatGuard)
    }

    /// Forgets the subscription, then tells the relays.
    public func unsubscribe(_ id: String, at now: Now) {
        guard let index = subscriptions.firstIndex(where: { $0.id == id }) else { return }
        let subscription = subscriptions.remove(at: index)
        for connection in connections { withdraw(subscription, from: connection, at: now.monotonic) }
    }

    /// Ids of all subscriptions, in the order they were made.
    public var subscriptionIDs: [String] { subscriptions.map(\.id) }

    func relays(of targets: RelayTargets) -> [NostrRelayURL] {
        switch targets {
        case .defaultSet: defaultRelays
        case .listed(let relays): relays
        }
    }

    func isSubscribed(_ url: NostrRelayURL) -> Bool {
        subscriptions.contains { relays(of: $0.targets).contains(url) }
    }

    /// Gives every relay a request for each subscription meant for it.
    func assignRequests() {
        for subscription in subscriptions {
            let relays = relays(of: subscription.targets)
            for connection in connections
            where connection.requests[subscription.number] == nil && relays.contains(connection.url) {
                connection.requests[subscription.number] = RelayRequest(dueAt: subscription.dueAt)
            }
        }
    }

    /// Sends every REQ that is due at this relay.
    func sendRequests(to connection: RelayConnection, at now: Now) {
        guard connection.isOpen else { return }
        for number in connection.dueRequests(at: now.monotonic) {
            guard let index = subscriptions.firstIndex(where: { $0.number == number }) else { continue }
            connection.usedAt = now.monotonic
            subscriptions[index].load.sent(to: connection.url)
            activity.count(.requestSent)
            let filter = subscriptions[index].filter(at: now.wall, limit: connection.information?.maximumLimit)
            connection.requests[number]?.activate(limit: filter.limit, at: now.monotonic)
            let frame = ClientFrame.request(subscriptions[index].id, filter)
            emit(.send(frame, on: connection.socket))
        }
    }

    /// A REQ under a used id replaces the old one at the relay by itself; only relays no longer meant need a CLOSE.
    private func replace(_ old: Subscription, at relays: [NostrRelayURL], at now: Instant) {
        for connection in connections {
            if relays.contains(connection.url) {
                _ = connection.endRequest(old.number, id: old.id, at: now)
            } else {
                withdraw(old, from: connection, at: now)
            }
        }
    }

    private func withdraw(_ subscription: Subscription, from connection: RelayConnection, at now: Instant) {
        guard connection.endRequest(subscription.number, id: subscription.id, at: now) else { return }
        emit(.send(ClientFrame.close(subscription.id), on: connection.socket))
    }

    /// After a change of the default set: ends subscriptions at relays they are no longer meant for.
    func withdrawUntargetedRequests(at now: Instant) {
        for subscription in subscriptions {
            let relays = relays(of: subscription.targets)
            for connection in connections where !relays.contains(connection.url) {
                withdraw(subscription, from: connection, at: now)
            }
        }
    }

    /// A clock that was set back leaves every `since` in the future, where no event is: moves them with it and asks
    /// anew. One that was set forward only makes requests look back further than they need.
    func followClock(_ now: Now) {
        let offset = Int64(clamping: now.wall.milliseconds) - now.monotonic.nanoseconds / 1_000_000
        defer { clockOffset = offset }
        guard let clockOffset, offset < clockOffset - NostrLimits.clockStep else { return }
        activity.count(.clockStepped)
        for index in subscriptions.indices {
            subscriptions[index].shift(bySeconds: (offset - clockOffset) / 1_000)
            for connection in connections {
                connection.renewRequest(
                    subscriptions[index].number, id: subscriptions[index].id, at: now.monotonic)
            }
        }
        for connection in connections { sendRequests(to: connection, at: now) }
    }

    /// Tells of every initial load that is over, and of what came later.
    func reportLoads(at now: Instant) {
        for index in subscriptions.indices {
            let number = subscriptions[index].number
            let extent = subscriptions[index].load.takeReport(at: now) { connection($0)?.requests[number]?.answer }
            if let extent { emit(.endOfStored(subscription: subscriptions[index].id, extent)) }
        }
    }
}

extension NostrFilter {
    /// Whether one REQ asks for private mail (kinds 4 and 1059) and for anything else. Relays that guard mail refuse
    /// the whole REQ, or leave the mail out silently.
    var mixesPrivateKinds: Bool {
        let privateKinds = [4, EventKind.privateEnvelope]
        guard let kinds else { return false }
        return kinds.contains { privateKinds.contains($0) } && kinds.contains { !privateKinds.contains($0) }
    }
}
