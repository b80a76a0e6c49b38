import Basics
import Crypto
import Nostr
import Wire

/// Kind-1401 drops: what is carried goes to the relays, and what lies there for neighbours is fetched (chapter 06 §5).
extension Courier {
    public static let subscriptionID = "bridge-courier-drops"

    // MARK: Out

    /// Builds and hands over the drops that are due. Each is signed by a key of its own that nobody keeps.
    func publishDue(at now: Now) {
        guard isUsingRelays else { return }
        for mail in schedule.due(among: store.envelopes, at: now) {
            guard let event = drop(of: mail.envelope, at: now.wall) else { continue }
            emit(.publish(event, schedule.begin(mail.id)))
        }
        // One that is due while others are under way is looked at again when one of them ends.
        retryAt = schedule.nextRetry(at: now.monotonic)
    }

    private func drop(of envelope: CourierEnvelope, at wall: WallTime) -> VerifiedEvent? {
        Courier.drop(of: envelope, at: wall, using: &random)
    }

    /// Whether a relay confirmed the copy.
    public func published(_ attempt: DropAttempt, isConfirmed: Bool, at now: Now) {
        guard schedule.ended(attempt, isConfirmed: isConfirmed, at: now.monotonic) else { return }
        outcomes.count(isConfirmed ? .dropConfirmed : .dropFailed)
        if isConfirmed { record(store.published(attempt.mail, at: now.wall)) }
        publishDue(at: now)
    }

    // MARK: In

    /// A verified event under one of our subscriptions, in the order of chapter 06 §5.6.
    public func relayEvent(_ event: VerifiedEvent, at now: Now) {
        guard isUsingRelays else { return outcomes.count(.switchedOff) }
        guard !memory.contains(event.id, at: now.wall) else { return outcomes.count(.dropRepeated) }
        let envelope: CourierEnvelope
        do throws(CourierOutcome) {
            envelope = try Courier.envelope(in: event.event, at: now.wall)
        } catch {
            return outcomes.count(error)
        }
        guard !memory.contains(MailID(envelope), at: now.wall) else {
            outcomes.count(.dropRepeated)
            return remember(memory.insert(event.id, at: now.wall))
        }
        if isOwn(envelope, at: now.wall) {
            outcomes.count(.own)
            return emit(.open(envelope, drop: event.id))
        }
        guard let addressee = watch.addressee(of: envelope.recipientTag, in: &tags, at: now.wall) else {
            // Not remembered: whoever it is for may come yet.
            return outcomes.count(.dropForNobody)
        }
        undelivered.add(envelope, for: addressee.key, from: event.id)
        // In its turn with whatever else there is for the peer: anybody can leave any number of drops for anybody.
        visit(addressee.peer, addressee.key, isCourier: false, at: now)
    }

    /// What relays keep for a subscription has come. Where that was as much as one answer holds, the older is asked
    /// for, under a subscription of its own that ends with the answer.
    public func loaded(_ subscription: String, _ extent: StoredExtent, at now: Now) {
        guard isUsingRelays, configuration.policy.readsAllDrops else { return }
        let since = Courier.firstSecond(at: now.wall)
        if pages.loaded(subscription, extent, since: since) { emit(.unsubscribe(id: subscription)) }
        readOn(at: now)
        if pages.isBehind { outcomes.count(.dropsUnread) }
    }

    private func readOn(at now: Now) {
        while let (page, subscription, until) = pages.take(at: now.monotonic) {
            emit(.subscribe(id: page, Courier.filter(subscribed[subscription] ?? [], at: now.wall, until: until)))
        }
    }

    private func endPages(of subscription: String) {
        if let page = pages.ended(subscription) { emit(.unsubscribe(id: page)) }
    }

    // MARK: Subscriptions

    /// Recomputes what is asked for, follows the UTC day, and publishes what is due (chapter 06 §5.5).
    func refresh(at now: Now) {
        lastRefresh = now.monotonic
        refreshDue = nil
        _ = watch.prune(at: now.monotonic)
        clean(at: now)
        schedule.keep { store[$0] != nil }
        subscribe(at: now.wall)
        publishDue(at: now)
    }

    /// At the first cause at once, and once more for all that follow within a minute.
    func refreshSoon(at now: Now) {
        guard isUsingRelays else { return }
        if let last = lastAnnounced, now.monotonic - last < CourierLimits.refreshSpacing {
            refreshDue = refreshDue ?? last + CourierLimits.refreshSpacing
        } else {
            lastAnnounced = now.monotonic
            refresh(at: now)
        }
    }

    private func subscribe(at wall: WallTime) {
        var wanted: [String: [String]] = [:]
        for (number, tags) in watch.tagGroups(from: &tags, at: wall).enumerated() where !tags.isEmpty {
            wanted[number == 0 ? Courier.subscriptionID : "\(Courier.subscriptionID)-\(number + 1)"] = tags
        }
        for id in subscribed.keys.sorted() where wanted[id] != subscribed[id] {
            endPages(of: id)
            emit(.unsubscribe(id: id))
        }
        for (id, tags) in wanted.sorted(by: { $0.key < $1.key }) where subscribed[id] != tags {
            pages.began(id)
            emit(.subscribe(id: id, Courier.filter(tags, at: wall)))
        }
        subscribed = wanted
    }

    /// Closes what is open; what was being published fails.
    func stopUsingRelays() {
        for id in subscribed.keys.sorted() {
            endPages(of: id)
            emit(.unsubscribe(id: id))
        }
        subscribed = [:]
        schedule.cancel()
        lastRefresh = nil
        lastAnnounced = nil
        refreshDue = nil
        retryAt = nil
    }

    // MARK: Time

    var relayDeadline: Instant? {
        [refreshDue, nextRegularRefresh, retryAt, pages.nextDeadline].compactMap { $0 }.min()
    }

    func relayTimeout(at now: Now) {
        if let due = refreshDue, due <= now.monotonic {
            lastAnnounced = now.monotonic
            refresh(at: now)
        } else if let due = nextRegularRefresh, due <= now.monotonic {
            refresh(at: now)
        }
        readOn(at: now)
        publishDue(at: now)
    }

    private var nextRegularRefresh: Instant? {
        lastRefresh.map { $0 + CourierLimits.refreshInterval }
    }
}
