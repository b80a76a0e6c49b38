import Basics
import Wire

extension Messenger {
    /// Messages the person wrote that are not known to have arrived.
    public var undelivered: Int { outbox.unsettled }

    /// Writes to somebody, in as many messages as it takes. What cannot go now goes when there is a session.
    public func say(_ text: String, to peer: PeerID, at now: Now) throws(MessengerRefusal) {
        guard people[peer] != nil || sessions[peer] != nil || mailPath(to: peer).isWorthWaiting || canSeal(to: peer)
        else { throw .unknownPeer }
        guard !trust.isBlocked(peer) else { throw .blocked }
        let pieces = MessageText.pieces(text)
        guard pieces.count <= MessengerLimits.partsPerText else { throw .tooLong }
        let first = lastNumber + 1
        for piece in pieces {
            lastNumber += 1
            show(.outgoing(number: lastNumber, to: peer, text: piece))
            queue(piece, number: lastNumber, for: peer, at: now)
        }
        flush(peer, at: now)
        for entry in outbox.entries(for: peer) where entry.state == .sending && (entry.number ?? 0) >= first {
            report(entry, to: peer, .sending)
        }
        leaveWithOthers(peer, at: now)
    }

    /// A control message: of interest to the peer's program only.
    func notify(_ peer: PeerID, _ text: String, at now: Now) {
        queue(text, number: nil, for: peer, at: now)
        flush(peer, at: now)
    }

    private func queue(_ text: String, number: Int?, for peer: PeerID, at now: Now) {
        let entry = Outbox.Entry(
            messageID: MessageText.messageID(using: &random), content: text, number: number, created: now.monotonic,
            writtenAt: isClockGood ? now.wall : nil, recipient: key(of: peer))
        if let displaced = outbox.add(entry, for: peer) {
            report(displaced.entry, to: displaced.peer, .failed(.displaced))
        }
        armSweep(at: now)
    }

    /// Hands over what the session has not had yet, or asks for a session.
    func flush(_ peer: PeerID, at now: Now) {
        guard outbox.hasUnsent(for: peer) else { return }
        guard sessions[peer] != nil else {
            if people[peer] != nil { emit(.openSession(peer)) } else if !mail(to: peer) { tellToWait(for: peer) }
            return
        }
        outbox.update(peer) { entry in
            guard !entry.isSettled, !entry.isInFlight else { return true }
            guard let payload = takeAttempt(&entry, to: peer) else { return false }
            emit(.send(payload, to: peer))
            if entry.state.mayBecome(.sent) {
                entry.state = .sent
                report(entry, to: peer, .sent)
            }
            return true
        }
    }

    /// The message once more, counted as on its way; nil when it was sent as often as it may be, which ends it.
    func takeAttempt(_ entry: inout Outbox.Entry, to peer: PeerID) -> NoisePayload? {
        guard entry.attempts < MessengerLimits.sendAttempts,
            let body = PrivateMessage(messageID: entry.messageID, content: entry.content).encoded()
        else {
            report(entry, to: peer, .failed(.unanswered))
            return nil
        }
        entry.attempts += 1
        entry.isInFlight = true
        return NoisePayload(type: .privateMessage, body: body)
    }

    /// A payload handed over came back unsent.
    public func undeliverable(_ payload: NoisePayload, to peer: PeerID, at now: Now) {
        if payload.type == .delivered || payload.type == .readReceipt {
            guard let messageID = payload.receiptMessageID else { return }
            sessions[peer] = nil
            return oweAgain(messageID, to: peer, at: now)
        }
        guard payload.type == .privateMessage, let message = PrivateMessage(body: payload.body) else { return }
        outbox.update(peer) { entry in
            if entry.messageID == message.messageID, entry.isInFlight {
                entry.isInFlight = false
                entry.attempts -= 1
            }
            return true
        }
        sessions[peer] = nil
        if outbox.hasUnsent(for: peer), !mail(to: peer) { tellToWait(for: peer) }
        leaveWithOthers(peer, at: now)
    }

    /// A receipt counts only from whom the message was sent to: message IDs are not unique beyond that.
    func acknowledge(_ messageID: String, by peer: PeerID, _ state: DeliveryState) {
        var isKnown = false
        outbox.update(peer) { entry in
            guard entry.messageID == messageID else { return true }
            isKnown = true
            guard entry.state.mayBecome(state) else { return true }
            entry.state = state
            report(entry, to: peer, state)
            // Kept after delivery for the receipt that says it was read; control messages are not read.
            return state != .read && entry.number != nil
        }
        if !isKnown { drops.count(.unknownReceipt) }
    }

    func report(_ entry: Outbox.Entry, to peer: PeerID, _ state: DeliveryState) {
        if case .failed = state, entry.isSettled { return }
        if let number = entry.number { show(.delivery(number: number, to: peer, state)) }
    }

    func send(_ payload: NoisePayload, to peer: PeerID) { emit(.send(payload, to: peer)) }
}
