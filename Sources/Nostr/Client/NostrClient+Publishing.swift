import Basics

extension NostrClient {
    /// A process before this one may have ended a moment ago, and what it published in its last second counts with what
    /// this one does. Call it at the start.
    public func followEarlierProcess(at now: Now) {
        for _ in 0..<NostrLimits.publishesPerSecond { _ = pace.take(at: now.monotonic) }
    }

    /// Sends the event to each relay, now or when it connects; nobody is told what became of it (chapter 05 §6.4).
    public func publish(_ event: VerifiedEvent, to relays: [NostrRelayURL], at now: Now) {
        guard gate != .closed else { return drops.count(.publicationGateClosed) }
        var owed: [NostrRelayURL: Bool] = [:]
        for connection in relays.compactMap({ admit($0, at: now) }) {
            connection.usedAt = now.monotonic
            owed[connection.url] = connection.isOpen
        }
        guard !owed.isEmpty else { return drops.count(.publicationWithoutRelay) }
        guard enqueue(event, owedTo: owed, confirmation: nil) else { return }
        for connection in connections where owed[connection.url] != nil {
            dialIfWanted(connection, at: now)
            pump(connection, at: now)
        }
    }

    /// Keeps the relays connected for a while, dialling those that are not: for what is to be published confirmed soon.
    public func hold(_ relays: [NostrRelayURL], at now: Now) {
        for connection in relays.compactMap({ admit($0, at: now) }) {
            connection.heldUntil = now.monotonic + NostrLimits.hold
            dialIfWanted(connection, at: now)
        }
    }

    /// Sends the event to those of the relays that are connected and reports once, in `published`, whether any took it
    /// within 10 s. Nothing is queued for the others (chapter 05 §6.8).
    public func publishConfirmed(_ event: VerifiedEvent, to relays: [NostrRelayURL], at now: Now) -> PublicationID {
        let id = PublicationID(number: nextNumber())
        if let older = confirmations.supersede(event.id) { finish(older) }
        let connected = relays.filter { connection($0)?.isOpen ?? false }
        guard gate == .open, !connected.isEmpty else {
            finish((id, .failed(.notConnected)))
            return id
        }
        guard confirmations.count < NostrLimits.confirmations else {
            finish((id, .failed(.busy)))
            return id
        }
        let owed = Dictionary(connected.map { ($0, true) }, uniquingKeysWith: { $1 })
        guard enqueue(event, owedTo: owed, confirmation: id) else {
            finish((id, .failed(.rejected)))
            return id
        }
        confirmations.begin(id, event: event.id, relays: connected, at: now.monotonic)
        for connection in connections where owed[connection.url] != nil { pump(connection, at: now) }
        return id
    }

    /// Like `publishConfirmed`, but over new connections that carry nothing else: for what must not be linkable to this
    /// box's other traffic. At most four relays; connected or not makes no difference.
    public func publishIsolated(_ event: VerifiedEvent, to relays: [NostrRelayURL], at now: Now) -> PublicationID {
        let id = PublicationID(number: nextNumber())
        let usable = isolatedTargets(among: relays, at: now)
        let frame = ClientFrame.event(event.json())
        guard gate == .open, !usable.isEmpty else {
            finish((id, .failed(.notConnected)))
            return id
        }
        guard isolated.count + usable.count <= NostrLimits.isolatedSockets else {
            finish((id, .failed(.busy)))
            return id
        }
        guard frame.count <= NostrLimits.messageBytes else {
            drops.count(.publicationOversized)
            finish((id, .failed(.rejected)))
            return id
        }
        for url in usable {
            let socket = NostrSocketID(relay: url, generation: nextGeneration(), isolation: id)
            emit(isolated.begin(id, event: event.id, frame: frame, socket: socket, at: now.monotonic))
        }
        return id
    }

    /// Whether an isolated publication to these relays would find connections free; if not, whoever has some queues up
    /// until one of those under way is over.
    public func hasRoomForIsolated(to relays: [NostrRelayURL], at now: Now) -> Bool {
        isolated.count + isolatedTargets(among: relays, at: now).count <= NostrLimits.isolatedSockets
    }

    private func isolatedTargets(among relays: [NostrRelayURL], at now: Now) -> ArraySlice<NostrRelayURL> {
        relays.filter { url in
            isPermitted(url) && !(connection(url)?.isFailed(at: now.monotonic) ?? false)
        }.prefix(NostrLimits.isolatedRelays)
    }

    /// Writes isolated publications that are connected, as fast as the pace allows.
    func pumpIsolated(at now: Now) {
        isolatedDueAt = nil
        while let next = isolated.nextToWrite {
            if !next.isBegun {
                let due = pace.available(at: now.monotonic)
                guard due <= now.monotonic else {
                    isolatedDueAt = due
                    return
                }
                _ = pace.take(at: now.monotonic)
            }
            activity.count(.eventSent)
            emit(isolated.write(next.socket, at: now.monotonic))
        }
    }

    func receivedIsolated(_ message: [UInt8], on socket: NostrSocketID, at now: Now) {
        if let answer = isolated.answer(in: message, from: socket) {
            answers.count(answer)
            connection(socket.relay)?.note(answer, at: now)
            emit(
                answer.isSuccess
                    ? isolated.accepted(on: socket, at: now.monotonic) : isolated.ended(socket, isClosed: false))
        } else if isolated.isChattering(socket) {
            emit(isolated.ended(socket, isClosed: false))
        }
    }

    private func enqueue(
        _ event: VerifiedEvent, owedTo relays: [NostrRelayURL: Bool], confirmation: PublicationID?
    ) -> Bool {
        let frame = ClientFrame.event(event.json())
        guard frame.count <= NostrLimits.messageBytes else {
            drops.count(.publicationOversized)
            return false
        }
        let entry = PendingEvents.Entry(
            number: nextNumber(), event: event.id, frame: frame, isEphemeral: event.event.isEphemeral,
            work: event.proofOfWork,
            createdAt: event.event.createdAt, confirmation: confirmation, owed: relays)
        drops.count(.publicationOverflow, UInt64(pending.append(entry)))
        return true
    }

    /// Writes what the relay is owed, oldest first, as fast as its pace allows.
    func pump(_ connection: RelayConnection, at now: Now) {
        connection.publishDueAt = nil
        guard connection.isOpen else { return }
        while let entry = pending.first(owedTo: connection.url) {
            if entry.owed[connection.url] == false, isTooOld(entry, at: now) {
                pending.settle(entry, with: connection.url)
                drops.count(.publicationTooOld)
                continue
            }
            guard isTaken(entry, by: connection.information) else {
                drops.count(.publicationBeyondRelay)
                pending.settle(entry, with: connection.url)
                if let id = entry.confirmation, let result = confirmations.declined(id, by: connection.url) {
                    finish(result)
                }
                continue
            }
            let relayDue = connection.pace.available(at: now.monotonic)
            let due = entry.isBegun ? relayDue : max(relayDue, pace.available(at: now.monotonic))
            guard due <= now.monotonic else {
                connection.publishDueAt = due
                return
            }
            connection.pace.take(at: now.monotonic)
            if !entry.isBegun {
                _ = pace.take(at: now.monotonic)
                pending.begin(entry)
            }
            connection.usedAt = now.monotonic
            connection.wrote(entry.event)
            pending.settle(entry, with: connection.url)
            if let id = entry.confirmation { confirmations.written(id, to: connection.url) }
            activity.count(.eventSent)
            emit(.send(entry.frame, on: connection.socket))
        }
    }

    /// Whether the relay takes such an event, by what it says of itself.
    private func isTaken(_ entry: PendingEvents.Entry, by relay: RelayInformation?) -> Bool {
        guard let relay else { return true }
        return relay.takes(messageBytes: entry.frame.count) && entry.work >= relay.minimumWork ?? 0
    }

    /// The work that the choosiest of these relays asks of an event, as far as they said; never more than we do.
    public func work(askedBy relays: [NostrRelayURL]) -> Int {
        min(relays.compactMap { connection($0)?.information?.minimumWork }.max() ?? 0, NostrLimits.offeredWork)
    }

    func isTooOld(_ entry: PendingEvents.Entry, at now: Now) -> Bool {
        guard entry.isEphemeral else { return false }
        let (age, overflows) = now.wall.unixSeconds.subtractingReportingOverflow(entry.createdAt)
        return overflows ? entry.createdAt < 0 : age > NostrLimits.ephemeralAge
    }

    func answered(_ event: JSONString, _ answer: RelayAnswer, by connection: RelayConnection, at now: Now) {
        // Some relays answer a malformed event without its id, and one may say OK to anything to look good. Such an
        // answer belongs to nobody; only a complaint in it is heard.
        let id = EventID(hexDigits: event.bytes)
        if let id, connection.authentication.isAnswer(id) {
            return authenticationAnswered(answer, by: connection, at: now)
        }
        if answer == .authRequired { authenticationDemanded(by: connection, at: now) }
        guard let id, connection.takeAnswer(to: id) else {
            if !answer.isSuccess {
                answers.count(answer)
                connection.complained(answer, at: now)
            }
            drops.count(.answerUnmatched)
            return bothered(by: connection, at: now)
        }
        answers.count(answer)
        connection.answered(answer, at: now)
        guard let result = confirmations.answered(id, answer, by: connection.url) else { return }
        finish(result)
    }
}
