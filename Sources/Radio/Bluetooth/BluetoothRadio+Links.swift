import Basics
import EventLoop
import Glibc
import Wire

extension BluetoothRadio: BluetoothLinkOwner {
    func linkConnected(_ link: BluetoothLink) {
        events.count(.connected)
        seat(link.adapter)?.port.connectionAttemptEnded(.connected)
    }

    func linkIsUp(_ link: BluetoothLink, id: LinkID) {
        links[id] = link
        events.count(link.role == .outgoing ? .outgoingUp : .incomingUp)
        if link.role == .outgoing { planner.succeeded(link.address) }
        delegate?.linkUp(
            id, role: link.role, frameLimit: link.frameLimit, neighbour: number(of: link.address))
    }

    func link(_ link: BluetoothLink, id: LinkID, changedTo frameLimit: Int) {
        delegate?.linkChanged(id, frameLimit: frameLimit)
    }

    func link(_ link: BluetoothLink, id: LinkID, received frame: UnsafeRawBufferPointer) {
        if let seat = seat(link.adapter) {
            seat.lastReceived = now
            seat.port.noteTraffic()
        }
        delegate?.linkReceived(frame, on: id)
    }

    func linkIsDown(_ link: BluetoothLink, id: LinkID) {
        links[id] = nil
        noteLinks()
        delegate?.linkDown(id)
    }

    func link(_ link: BluetoothLink, counted event: BluetoothEvent, _ count: Int) { events.count(event, UInt64(count)) }

    func linkEnded(_ link: BluetoothLink, _ end: LinkEnd) {
        guard let seat = seat(link.adapter), seat.connections[link.address] === link else { return link.close() }
        switch end {
        case .notConnected(let errno):
            remove(link, from: seat)
            attemptFailed(link.address, on: seat, errno: errno)
        case .timedOut:
            remove(link, from: seat)
            events.count(.connectTimedOut)
            planner.timedOut(link.address, at: now, using: &random)
            seat.port.connectionAttemptEnded(.timedOut)
        case .lost:
            remove(link, from: seat)
            events.count(.linkLost)
            noteEnd(of: link)
        case .failed(let failure):
            events.count(.linkGivenUp)
            failures.count(failure)
            if link.role == .outgoing, failure.isLasting {
                planner.leaveAlone(link.address, for: BluetoothLimits.ignoring, at: now)
            } else {
                noteEnd(of: link)
            }
            letGo(link, of: seat)
        case .stuck:
            events.count(.linkStuck)
            noteEnd(of: link)
            letGo(link, of: seat)
        }
        refresh()
    }

    /// An outgoing link that carried frames may have walked away; one that never did has failed.
    private func noteEnd(of link: BluetoothLink) {
        guard link.role == .outgoing else { return }
        if link.since != nil {
            planner.ended(link.address, at: now)
        } else {
            planner.failed(link.address, at: now, using: &random)
        }
    }

    func attemptFailed(_ address: BluetoothAddress, on seat: AdapterSeat, errno: Int32) {
        events.count(.connectFailed)
        planner.failed(address, at: now, using: &random)
        switch errno {
        case EMLINK, ENOMEM: limitRefused(on: seat)
        case EBUSY: suspectStaleLink(to: address, on: seat)
        default: break
        }
        seat.port.connectionAttemptEnded(.failed(errno: errno))
    }

    /// The kernel holds a link to a neighbour of which we know nothing: one that has just called us, or one left over,
    /// which is cancelled (chapter 03 A5).
    private func suspectStaleLink(to address: BluetoothAddress, on seat: AdapterSeat) {
        loop.schedule(after: BluetoothLimits.socketWait) { [weak self, weak seat] in
            guard let self, let seat, self.isRunning, seat.isUsable, !seat.busyAddresses.contains(address) else {
                return
            }
            self.events.count(.staleLinkEnded)
            seat.lingering[address] = self.now
            seat.port.disconnect(address)
        }
    }

    func limitRefused(on seat: AdapterSeat) {
        let before = seat.limit.current(at: now)
        seat.limit.refused(holding: seat.held, at: now)
        if seat.limit.current(at: now) < before { events.count(.limitLearned) }
    }
}

// MARK: Incoming links and supervision (chapter 03 A13.6)

extension BluetoothRadio {
    func listen(on seat: AdapterSeat) {
        guard let own = seat.address else { return }
        do {
            seat.listener = try sockets.listen(at: own) { [weak self, weak seat] socket, address in
                guard let self, let seat else { return socket.close() }
                self.accepted(socket, from: address, on: seat)
            }
        } catch {
            // Every tick tries again.
            events.count(.listenFailed)
        }
    }

    private func accepted(_ socket: any AttributeSocket, from address: BluetoothAddress, on seat: AdapterSeat) {
        guard isRunning, seat.isUsable else { return socket.close() }
        seat.strangers.remove(address)
        seat.awaited[address] = nil
        seat.lingering[address] = nil
        meet(address, on: seat)
        guard makeRoom(on: seat) else {
            socket.close()
            seat.lingering[address] = now
            seat.port.disconnect(address)
            return refresh()
        }
        events.count(.accepted)
        seat.noteAccepted(at: now)
        open(socket, role: .incoming, address: address, on: seat)
        refresh()
    }

    /// Whoever calls us need not be called, and a link of the same two ends that is still in the tables is over.
    private func meet(_ address: BluetoothAddress, on seat: AdapterSeat) {
        for other in seats {
            if other.upcoming == address { giveUpCall(on: other) }
            guard let link = other.connections[address] else { continue }
            if !link.isConnected {
                // The kernel makes one link of two calls that cross, and leaves the second pending.
                events.count(.crossedConnect)
                planner.calledUs(address)
                remove(link, from: other)
                other.port.connectionAttemptEnded(.connected)
            } else if other === seat {
                events.count(.replaced)
                let id = link.id
                remove(link, from: seat)
                if let id { linkIsDown(link, id: id) }
            }
        }
    }

    /// Does not call after all: there is a link already.
    func giveUpCall(on seat: AdapterSeat) {
        guard let address = seat.upcoming else { return }
        events.count(.crossedConnect)
        seat.upcoming = nil
        planner.calledUs(address)
        seat.port.connectionAttemptEnded(.connected)
    }

    /// Whether a newcomer may stay.
    private func makeRoom(on seat: AdapterSeat) -> Bool {
        let surplus = surplusIncoming(beyond: seat.hasFreeSlot(at: now) ? 2 : 1)
        let unbound = seat.connections.values.filter {
            $0.role == .incoming && (isUnbound($0) || $0.id.map(surplus.contains) == true)
        }
        let oldest = unbound.min { $0.opened < $1.opened }.flatMap {
            now - $0.opened >= BluetoothLimits.unboundGrace ? $0 : nil
        }
        if unbound.count >= BluetoothLimits.unboundIncoming {
            guard let oldest else {
                events.count(.tooManyUnbound)
                return false
            }
            dropUnbound(oldest, of: seat)
            // Its slot, too, is free in a moment.
            return true
        }
        if seat.hasFreeSlot(at: now) || closeRedundant(on: seat) { return true }
        events.count(.noFreeLink)
        return false
    }

    /// Incoming links to a peer beyond so many. The one with a handshake is the peer's own, or else the newest may be;
    /// whoever plays an announce back can have any number of the others. They rank with links bound to nobody when
    /// slots are short. While there is room a second one stays: a phone may call two adapters, and would call again.
    private func surplusIncoming(beyond allowed: Int) -> Set<LinkID> {
        var groups: [PeerID: [(id: LinkID, isProven: Bool, opened: Instant)]] = [:]
        for (id, link) in links where link.role == .incoming {
            guard let peer = delegate?.peer(on: id) else { continue }
            groups[peer, default: []].append((id, delegate?.provenPeer(on: id) == peer, link.opened))
        }
        var surplus: Set<LinkID> = []
        for group in groups.values where group.count > allowed {
            let ranked = group.sorted { first, second in
                if first.isProven != second.isProven { return first.isProven }
                return first.opened != second.opened ? first.opened > second.opened : first.id > second.id
            }
            surplus.formUnion(ranked.dropFirst(allowed).map(\.id))
        }
        return surplus
    }

    func supervise(_ seat: AdapterSeat) {
        let surplus = seat.hasFreeSlot(at: now) ? [] : surplusIncoming(beyond: 1)
        for link in seat.connections.values.sorted(by: { $0.opened < $1.opened }) where link.isConnected {
            guard !link.isStalled(at: now) else {
                link.giveUp()
                continue
            }
            guard isUnbound(link) || link.id.map(surplus.contains) == true else {
                link.unboundSince = nil
                continue
            }
            let since = link.unboundSince ?? now
            link.unboundSince = since
            if now - since >= BluetoothLimits.unbound { dropUnbound(link, of: seat) }
        }
        if !seat.hasFreeSlot(at: now) { closeRedundant(on: seat) }
    }

    private func isUnbound(_ link: BluetoothLink) -> Bool { link.id.flatMap { delegate?.peer(on: $0) } == nil }

    private func dropUnbound(_ link: BluetoothLink, of seat: AdapterSeat) {
        events.count(.unboundDropped)
        if link.role == .outgoing {
            planner.failed(link.address, at: now, using: &random)
            planner.leaveAlone(link.address, for: RadioLimits.afterOwnClose, at: now)
        }
        end(link, of: seat)
    }

    /// With no slot left, one of two links to a peer goes: ours, since the phone keeps what it opened itself (chapter
    /// 03 A6). Only a handshake shows that it has: announces can be played back by anybody who calls us.
    @discardableResult
    private func closeRedundant(on seat: AdapterSeat) -> Bool {
        var calledBy: Set<PeerID> = []
        for (id, link) in links where link.role == .incoming {
            if let peer = delegate?.provenPeer(on: id) { calledBy.insert(peer) }
        }
        let surplus = links.filter { id, link in
            link.role == .outgoing && link.adapter == seat.index
                && delegate?.peer(on: id).map(calledBy.contains) == true
        }
        guard let link = surplus.min(by: { $0.key < $1.key })?.value else { return false }
        events.count(.redundantClosed)
        planner.leaveAlone(link.address, for: BluetoothLimits.ignoring, at: now)
        end(link, of: seat)
        // Its slot is free as soon as the controller has let it go, in the time of one connection event.
        return true
    }

    private func end(_ link: BluetoothLink, of seat: AdapterSeat) {
        let id = link.id
        letGo(link, of: seat)
        if let id { linkIsDown(link, id: id) }
    }
}
