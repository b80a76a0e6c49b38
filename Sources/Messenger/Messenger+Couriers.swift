import Basics
import Crypto
import Wire

/// Messages for people who are away: left with couriers and at relays, and taken from them (chapter 06 §5.3, §6.8, §7).
extension Messenger {
    // MARK: Out

    /// The key mail to somebody would be sealed to.
    func key(of peer: PeerID) -> NoisePublicKey? { people[peer]?.noiseKey ?? trust.record(of: peer)?.noiseKey }

    func canSeal(to peer: PeerID) -> Bool { desk != nil && key(of: peer) != nil }

    /// Whether nothing reaches the peer soon: neither a session over a link, nor the mesh, nor its account at relays
    /// (chapter 06 §7).
    private func needsOthers(_ peer: PeerID) -> Bool {
        if let person = people[peer] { return person.isConnected && sessions[peer] == nil }
        return mailPath(to: peer) != .usable
    }

    /// Leaves what waits for somebody at relays and with couriers, where nothing else would get it there soon.
    func leaveWithOthers(_ peer: PeerID, at now: Now) {
        guard desk != nil, isClockGood, outbox.hasUnsettled(for: peer), needsOthers(peer) else { return }
        leaveAtRelays(peer, at: now)
        findCouriers(for: peer, at: now)
    }

    /// Whether relays of the default set take drops.
    public func setDropRelays(_ relays: DropRelays, at now: Now) {
        guard relays != ownDrops.relays else { return }
        for (ticket, envelope) in ownDrops.set(relays) { emit(.drop(envelope, ticket)) }
        guard relays == .connected else { return }
        for peer in outbox.peers { leaveWithOthers(peer, at: now) }
    }

    private func leaveAtRelays(_ peer: PeerID, at now: Now) {
        outbox.update(peer) { entry in
            guard !entry.isSettled, entry.number != nil, let recipient = entry.recipient,
                let ticket = ownDrops.begin(messageID: entry.messageID, to: recipient, at: now.wall)
            else { return true }
            let envelope = seal(&entry, to: recipient, at: now)?.withCopies(1)
            guard let envelope, let size = envelope.encoded()?.count, size <= CourierEnvelope.maximumDropSize else {
                ownDrops.reject(ticket, at: now.wall)
                return true
            }
            if ownDrops.submit(ticket, envelope) { emit(.drop(envelope, ticket)) }
            return true
        }
    }

    /// Whether a drop is still to be made: its message has not arrived meanwhile, and the person still wants drops.
    public func isWanted(_ ticket: DropTicket) -> Bool { ownDrops.isActive(ticket) }

    /// What came of a drop: a relay confirmed it, or none did.
    public func dropped(_ ticket: DropTicket, isConfirmed: Bool, at now: Now) {
        guard let published = ownDrops.ended(ticket, isConfirmed: isConfirmed, at: now.wall) else { return }
        emit(.store(.drop(published)))
        carried(ticket.messageID, for: ticket.peer)
    }

    /// Offers what waits for somebody to neighbours who may carry it, up to three a message.
    func findCouriers(for peer: PeerID, at now: Now) {
        guard desk != nil, isClockGood, outbox.hasUnsettled(for: peer), needsOthers(peer) else { return }
        outbox.update(peer) { entry in
            guard !entry.isSettled, entry.number != nil, let recipient = entry.recipient else { return true }
            let couriers = CourierChoice.couriers(
                for: recipient, among: people.values, carriers: entry.couriers, trust: trust, using: &random)
            guard !couriers.isEmpty, let envelope = seal(&entry, to: recipient, at: now) else { return true }
            for courier in couriers {
                emit(
                    .deposit(
                        envelope, with: courier.peerID,
                        DepositTicket(peer: peer, messageID: entry.messageID, courier: courier.noiseKey)))
            }
            return true
        }
    }

    /// What came of a deposit: the courier's link took it whole, or did not.
    public func deposited(_ ticket: DepositTicket, isTaken: Bool, at now: Now) {
        guard isTaken else { return }
        outbox.update(ticket.peer) { entry in
            if entry.messageID == ticket.messageID, !entry.couriers.contains(ticket.courier),
                entry.couriers.count < MessengerLimits.couriersPerMessage
            {
                entry.couriers.append(ticket.courier)
            }
            return true
        }
        carried(ticket.messageID, for: ticket.peer)
    }

    private func carried(_ messageID: String, for peer: PeerID) {
        outbox.update(peer) { entry in
            guard entry.messageID == messageID, entry.state.mayBecome(.carried), !entry.isSettled else { return true }
            entry.state = .carried
            report(entry, to: peer, .carried)
            return true
        }
    }

    private func seal(_ entry: inout Outbox.Entry, to recipient: NoisePublicKey, at now: Now) -> CourierEnvelope? {
        if let sealed = entry.sealed, !sealed.isExpired(at: now.wall) { return sealed }
        let person = people[recipient.peerID]
        entry.sealed = desk?.seal(
            PrivateMessage(messageID: entry.messageID, content: entry.content), to: recipient,
            opensPrekeys: person.map { $0.capabilities?.contains(.prekeys) ?? false }, at: now)
        drainDesk(at: now)
        return entry.sealed
    }

    // MARK: In

    /// Opens an envelope that names this person by its tag, whoever brought it, when it is known what time it is.
    /// - Returns: whether it need not be brought again.
    @discardableResult
    public func take(_ envelope: CourierEnvelope, at now: Now) -> Bool {
        guard let desk else { return false }
        guard isClockGood else { return hold(envelope) }
        defer { drainDesk(at: now) }
        return desk.take(envelope, at: now) { trust.isBlocked($0.fingerprint) }
    }

    /// Keeps somebody's prekeys for sealing to.
    public func take(_ bundle: Verified<PrekeyBundle>, at now: Now) {
        desk?.take(bundle)
        drainDesk(at: now)
    }

    /// Offers prekeys from now on: only where neighbours are told so, and hear the bundle.
    public func startPrekeys(at now: Now) {
        offersPrekeys = true
        guard isClockGood else { return }
        desk?.start(at: now)
        drainDesk(at: now)
    }

    func announceToNeighbour(at now: Now) {
        desk?.announced(at: now)
        drainDesk(at: now)
    }

    func drainDesk(at now: Now) {
        while let effect = desk?.nextEffect() {
            switch effect {
            case .storePrekeys(let snapshot): emit(.store(.prekeys(snapshot)))
            case .storeBundle(let record): emit(.store(.bundle(record)))
            case .discardBundle(let owner): emit(.forgetBundle(of: owner))
            case .publish(let bundle): emit(.publish(bundle))
            case .letter(let letter): read(letter, at: now)
            }
        }
    }

    private func read(_ letter: Mailbox.Letter, at now: Now) {
        let peer = letter.sender.peerID
        let fingerprint = letter.sender.fingerprint
        let message = letter.message
        guard receive(message.messageID, from: peer, owesReceipt: true, at: now) else { return drops.count(.repeated) }
        if let notice = FavoriteNotice(content: message.content) {
            take(notice, from: peer, fingerprint)
        } else {
            show(.message(from: peer, isVerified: trust.isVerified(fingerprint), text: message.content))
        }
        if sessions[peer] != nil {
            payReceipts(to: peer, at: now)
        } else if people[peer] != nil {
            emit(.openSession(peer))
        }
    }

    // MARK: Receipts

    /// Remembers a message that came in.
    /// - Returns: false for one that came before, in this run or an earlier one.
    func receive(_ messageID: String, from peer: PeerID, owesReceipt: Bool, at now: Now) -> Bool {
        let message = ReceivedMessage(sender: peer, messageID: messageID, at: now.wall, owesReceipt: owesReceipt)
        guard received.insert(message.name) else { return false }
        emit(.store(.received(message)))
        if owesReceipt {
            owed.owe(message)
            armSweep(at: now)
        }
        return true
    }

    /// Tells the writer of mail that it arrived and was read: only through a session, which proves that it is the
    /// writer (chapter 06 §7).
    func payReceipts(to peer: PeerID, at now: Now) {
        guard sessions[peer] != nil else { return }
        for message in owed.pay(peer, at: now.monotonic) {
            send(.delivered(messageID: message.messageID), to: peer)
            send(.readReceipt(messageID: message.messageID), to: peer)
        }
    }

    /// A receipt came back unsent.
    func oweAgain(_ messageID: String, to peer: PeerID, at now: Now) {
        guard !trust.isBlocked(peer) else { return }
        let message = ReceivedMessage(sender: peer, messageID: messageID, at: now.wall, owesReceipt: true)
        owed.owe(message)
        emit(.store(.received(message)))
        armSweep(at: now)
    }

    func settleReceipts(at now: Now) {
        for message in owed.settle(at: now.monotonic) {
            emit(
                .store(
                    .received(
                        ReceivedMessage(
                            sender: message.sender, messageID: message.messageID, at: message.at, owesReceipt: false))))
        }
    }

    // MARK: Across restarts

    /// Takes back what an earlier run kept. Call it before anything else.
    public func restore(_ memory: MessengerMemory, at now: Now) {
        for message in memory.received.sorted(by: { $0.at < $1.at }) where received.insert(message.name) {
            if message.owesReceipt, !trust.isBlocked(message.sender) { owed.owe(message) }
        }
        ownDrops.restore(memory.drops)
        for message in memory.messages {
            if let prekey = message.sealed?.prekeyID {
                desk?.noteAssigned(prekey, of: message.recipient, to: message.messageID)
            }
        }
        for (peer, entry) in outbox.restore(memory.messages, at: now) { report(entry, to: peer, .failed(.displaced)) }
        lastNumber = max(lastNumber, outbox.highestNumber)
        heldMail = Array(memory.held.map { $0.withCopies(1) }.prefix(MessengerLimits.heldMail))
        armSweep(at: now)
        guard isClockGood else { return }
        isClockGood = false
        setClock(isGood: true, at: now)
    }
}
