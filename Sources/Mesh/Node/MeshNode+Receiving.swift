import Basics
import Wire

extension MeshNode {
    /// One frame as the link delivered it, padded or not; the bytes are not kept. The steps are those of chapter 03 B2.
    public func receive(_ frame: UnsafeRawBufferPointer, on link: LinkID, at now: Now) {
        // Copies, which are most of what comes in, move no deadline.
        let deadline = knownDeadline
        self.now = now
        count(.framesReceived)
        guard isRunning, let ingress = linkTable.noteFrameIn(link, at: now.monotonic) else {
            return drops.count(.unknownLink)
        }
        guard case .success(let view) = FrameView.parse(frame) else { return drops.count(.malformedFrame) }
        guard linkTable.admitInflation(of: view.layout, on: link, at: now.monotonic) else {
            return drops.count(.inflationBudget)
        }

        switch gate.examine(view, boundPeer: ingress.peer, at: now) {
        case .rejected(let reason):
            drops.count(reason)
            if reason == .clockSkew { witness(view, on: link) }
        case .copy(let admission, let reason):
            drops.count(reason)
            noteCopy(admission, on: link)
            let hasMet = bindCopy(view, on: link, of: ingress.peer)
            if !hasMet { knownDeadline = deadline }
        case .fresh(let admission):
            guard linkTable.admitPacket(on: link, at: now.monotonic) else { return drops.count(.linkBudget) }
            process(
                view, admission, link: link, boundPeer: ingress.peer, isReassembled: false,
                cameDirectly: view.ttl == Packet.originTTL)
        }
    }

    /// A packet put together from fragments, the last of which is `fragment` (chapter 03 B2): attributed to their
    /// sender, never direct, never relayed.
    func receiveReassembled(_ bytes: [UInt8], of fragment: Arrival) {
        // Padding inside the joined bytes is trailing bytes to the parser.
        guard let inner = try? Frame(reassembled: bytes) else { return drops.count(.malformedFrame) }
        guard linkTable.admitInflation(of: inner.layout, on: fragment.link, at: now.monotonic) else {
            return drops.count(.inflationBudget)
        }
        inner.withView { view in
            guard view.type != .fragment else { return drops.count(.malformedPayload) }
            switch gate.examineReassembled(
                view, ingressPeer: fragment.ingressPeer, ofAnswer: fragment.isSyncAnswer, at: now)
            {
            case .rejected(let reason), .copy(_, let reason): drops.count(reason)
            case .fresh(let admission):
                count(.packetsReassembled)
                let attributed = admission.attributed(to: fragment.sender)
                process(
                    view, attributed, link: fragment.link, boundPeer: linkTable[fragment.link]?.peer,
                    isReassembled: true, cameDirectly: fragment.looksDirect)
            }
        }
    }

    private func process(
        _ view: FrameView, _ admission: PacketGate.Admission, link: LinkID, boundPeer: PeerID?, isReassembled: Bool,
        cameDirectly: Bool
    ) {
        count(.packetsAccepted)
        let arrival = Arrival(
            view, link: link, boundPeer: boundPeer, admission: admission, isReassembled: isReassembled,
            cameDirectly: cameDirectly)
        registry.touch(arrival.ingressPeer, at: now.monotonic)
        traffic.note(at: now.monotonic)
        if arrival.isSyncAnswer {
            count(.syncAnswersAccepted)
        } else {
            routes.noteHeard(arrival.sender)
        }
        if view.version > 1 { noteVersion(view.version, of: arrival) }
        if arrival.type == .message, gossip.hasSeen(message: view) {
            drops.count(.duplicate)
            return gate.record(admission, view, .accepted, isReassembled: isReassembled, at: now.monotonic)
        }

        let verdict = handler(of: arrival.type).handle(arrival, in: self)
        if let judgement = verdict.judgement {
            gate.record(admission, view, judgement, isReassembled: isReassembled, at: now.monotonic)
        }
        if !isReassembled, !admission.isRepeat { relay(arrival, key: admission.key, verdict) }
    }

    /// What gossip may carry on.
    func offerToGossip(_ arrival: Arrival) {
        tellFeatures(.publishable(arrival.frame, heardFrom: arrival.ingressPeer, bringer: arrival.bringer))
    }

    /// Its author's and its bringer's. A stranger's is of no use, and would take the room of somebody's that is.
    private func noteVersion(_ version: UInt8, of arrival: Arrival) {
        for peer in [arrival.sender, arrival.ingressPeer] where registry.contains(peer) {
            routes.noteVersion(version, of: peer, at: now.monotonic)
        }
    }
}
