import Basics

/// Frames from relays, in each relay's order, the relays taking turns (chapter 05 §6.7).
extension NostrClient {
    /// Processes a bounded number of frames. What is left over makes `nextDeadline` due at once, so that other work of
    /// the loop comes in between.
    func processInbound(at now: Now) {
        var frames = NostrLimits.framesPerTurn
        var bytes = NostrLimits.bytesPerTurn
        var verifications = NostrLimits.verificationsPerTurn
        var idleRelays = 0
        while frames > 0, bytes > 0, verifications > 0, !connections.isEmpty, idleRelays < connections.count {
            nextTurn = (nextTurn + 1) % connections.count
            let connection = connections[nextTurn]
            guard let message = connection.inbound.first, connection.inboundReadyAt <= now.monotonic else {
                idleRelays += 1
                continue
            }
            idleRelays = 0
            frames -= 1
            bytes -= message.count
            let outcome = message.withUnsafeBytes { process($0, from: connection, at: now) }
            if outcome == .verified { verifications -= 1 }
            if outcome == .overBudget {
                connection.inboundReadyAt = connection.verification.available(at: now.monotonic)
            } else {
                connection.inbound.removeFirst()
            }
        }
        for connection in connections {
            if let reads = connection.inbound.readingChange() { emit(.setReading(reads, on: connection.socket)) }
        }
        reportLoads(at: now.monotonic)
    }

    private enum FrameOutcome {
        case done
        /// A signature was checked.
        case verified
        /// The relay has used its verification budget up: the frame has to wait.
        case overBudget
    }

    private func process(_ message: UnsafeRawBufferPointer, from relay: RelayConnection, at now: Now) -> FrameOutcome {
        activity.count(.frameReceived)
        guard message.count <= NostrLimits.messageBytes else { return nuisance(.frameOversized, of: relay, at: now) }
        if let glance = EventGlance(message), let original = subscription(ofCopy: glance, from: relay) {
            count(glance.createdAt, under: original, from: relay)
            return nothingNew(.eventDuplicate, from: relay, at: now)
        }
        guard message.isValidUTF8 else { return nuisance(.frameInvalidUTF8, of: relay, at: now) }
        guard let frame = try? RelayFrame.parse(message) else { return nuisance(.frameMalformed, of: relay, at: now) }
        switch frame {
        case .event(let id, let createdAt, let event):
            return process(event, madeAt: createdAt, subscription: id, from: relay, at: now)
        case .ok(let event, let answer): answered(event, answer, by: relay, at: now)
        case .endOfStored(let id): endOfStored(id, from: relay, at: now)
        case .closed(let id, let answer): closed(id, answer, by: relay, at: now)
        case .notice: return nuisance(.notice, of: relay, at: now)
        case .auth(let challenge): challenged(challenge, by: relay, at: now)
        case .unknown: return nuisance(.frameUnknown, of: relay, at: now)
        }
        return .done
    }

    private func process(
        _ parsed: Result<EventLayout, NostrEventRejection>, madeAt createdAt: Int64?, subscription id: JSONString,
        from relay: RelayConnection, at now: Now
    ) -> FrameOutcome {
        guard let (index, subscription) = activeSubscription(id, at: relay) else {
            drops.count(.eventUnrequested)
            if !wasLatelyRequested(id, at: relay, now) { violation(of: relay, at: now) }
            return .done
        }
        let layout: EventLayout
        switch parsed {
        case .success(let event): layout = event
        case .failure(.missingMember): return nuisance(.eventMalformed, of: relay, at: now)
        case .failure:
            // Relays have limits of their own, and anybody can leave there what is beyond ours.
            count(createdAt, under: index, from: relay)
            return nothingNew(.eventBeyondLimits, from: relay, at: now)
        }
        guard let eventID = layout.eventID else { return nuisance(.eventIDInvalid, of: relay, at: now) }
        let key = RecentEvents.Key(subscription: subscription.number, event: eventID)
        guard !recent.contains(key) else {
            count(createdAt, under: index, from: relay)
            return nothingNew(.eventDuplicate, from: relay, at: now)
        }

        let event = NostrEvent(layout)
        guard subscription.filter.selects(event) else { return outsideFilter(of: subscription, from: relay, at: now) }
        guard subscription.filter.isInPeriod(event.createdAt) else {
            return nothingNew(.eventOutsidePeriod, from: relay, at: now)
        }
        if let expiration = event.expiration, expiration <= now.wall.unixSeconds {
            count(createdAt, under: index, from: relay)
            return nothingNew(.eventExpired, from: relay, at: now)
        }
        guard relay.verification.take(at: now.monotonic) else { return .overBudget }
        count(createdAt, under: index, from: relay)
        activity.count(.signatureChecked)
        guard let verified = VerifiedEvent(verifying: event) else {
            drops.count(.eventSignatureInvalid)
            violation(of: relay, at: now)
            return .verified
        }
        recent.record(key)
        relay.delivered(at: now)
        activity.count(.eventDelivered)
        emit(.event(verified, subscription: subscription.id))
        return .verified
    }

    /// The subscription under which an event of that id was delivered, if it is in force at the relay. Only what was
    /// verified is remembered, so a forged copy shadows nothing here either.
    private func subscription(ofCopy glance: EventGlance, from relay: RelayConnection) -> Int? {
        guard let index = subscriptions.indices.first(where: { subscriptions[$0].isCalled(glance.subscription) })
        else { return nil }
        let number = subscriptions[index].number
        guard relay.requests[number]?.isActive ?? false,
            recent.contains(RecentEvents.Key(subscription: number, event: glance.event))
        else { return nil }
        return index
    }

    /// The event is part of what the relay has for the subscription, whatever becomes of it.
    private func count(_ createdAt: Int64?, under index: Int, from relay: RelayConnection) {
        relay.requests[subscriptions[index].number]?.received(createdAt, under: subscriptions[index].filter)
    }

    /// No fault of a relay's, but a flood of it is.
    private func nothingNew(_ reason: NostrDrop, from relay: RelayConnection, at now: Now) -> FrameOutcome {
        if relay.conduct.broughtNothingNew(at: now.monotonic) { leave(relay, at: now) }
        return drop(reason)
    }

    private func outsideFilter(
        of subscription: Subscription, from relay: RelayConnection, at now: Now
    ) -> FrameOutcome {
        drops.count(.eventOutsideFilter)
        if relay.mayBeLate(subscription.number, id: subscription.id, at: now.monotonic) { return .done }
        violation(of: relay, at: now)
        return .done
    }

    private func violation(of relay: RelayConnection, at now: Now) {
        if relay.conduct.violated() { leave(relay, at: now) }
    }

    private func nuisance(_ reason: NostrDrop, of relay: RelayConnection, at now: Now) -> FrameOutcome {
        bothered(by: relay, at: now)
        return drop(reason)
    }

    func bothered(by relay: RelayConnection, at now: Now) {
        if relay.conduct.bothered(at: now.monotonic) { leave(relay, at: now) }
    }

    private func leave(_ relay: RelayConnection, at now: Now) {
        disconnect(relay, .misbehaving, closing: CloseCode.policyViolation, at: now)
    }

    private func endOfStored(_ id: JSONString, from relay: RelayConnection, at now: Now) {
        guard let (index, subscription) = activeSubscription(id, at: relay),
            relay.requests[subscription.number]?.isLoading ?? false
        else {
            drops.count(.endOfStoredUnmatched)
            return bothered(by: relay, at: now)
        }
        relay.reachedEnd(of: subscription.number, id: subscription.id)
        subscriptions[index].lastEndOfStored = now.wall.unixSeconds
        subscriptions[index].load.ended(relay.url, with: relay.requests[subscription.number]?.answer)
    }

    private func closed(_ id: JSONString, _ answer: RelayAnswer, by relay: RelayConnection, at now: Now) {
        guard let (index, subscription) = activeSubscription(id, at: relay) else {
            drops.count(.closedUnmatched)
            return bothered(by: relay, at: now)
        }
        relay.refusedRequest(subscription.number, id: subscription.id, answer, at: now.monotonic)
        subscriptions[index].load.ended(relay.url)
        if answer == .authRequired { authenticationDemanded(by: relay, at: now) }
    }

    private func wasLatelyRequested(_ id: JSONString, at relay: RelayConnection, _ now: Now) -> Bool {
        id.utf8Count <= NostrLimits.subscriptionIDBytes && relay.mayBeLate(id.text, at: now.monotonic)
    }

    /// The subscription of this id if a REQ for it is in force at this relay.
    private func activeSubscription(
        _ id: JSONString, at relay: RelayConnection
    ) -> (index: Int, subscription: Subscription)? {
        guard id.utf8Count <= NostrLimits.subscriptionIDBytes else { return nil }
        let text = id.text
        guard let index = subscriptions.firstIndex(where: { $0.id.hasSameBytes(as: text) }),
            relay.requests[subscriptions[index].number]?.isActive ?? false
        else { return nil }
        return (index, subscriptions[index])
    }

    private func drop(_ reason: NostrDrop) -> FrameOutcome {
        drops.count(reason)
        return .done
    }
}
