import Basics
import Crypto
import Wire

/// Answers sync requests (chapter 04 §7). An unsigned request of 40 bytes must never draw an answer, let alone one of
/// hundreds of kilobytes: who asks is the verified neighbour at the far end of the very link.
final class SyncResponderFeature: MeshFeature {
    let types: [MessageType] = [.requestSync]
    let interests: MeshOccurrence.Kinds = [.life, .links, .absence, .tick]

    private let gossip: GossipFeature
    private let requester: SyncRequesterFeature
    private var rate = SyncRateLimit(limit: SyncLimits.answersPerPeer, window: SyncLimits.answerWindow)
    private var served = ServedPeers()
    private var answers = PacedAnswers()

    init(_ gossip: GossipFeature, _ requester: SyncRequesterFeature) {
        self.gossip = gossip
        self.requester = requester
    }

    // MARK: Admission (§7.1)

    func handle(_ arrival: Arrival, in mesh: MeshNode) -> Verdict {
        // The gate dropped requests that name another peer than the link is bound to; here an unbound link is refused.
        guard mesh.linkTable[arrival.link]?.peer == arrival.sender, arrival.frame.ttl == 0, isForUs(arrival, mesh)
        else { return refuse(.syncRequestRefused, in: mesh) }
        switch mesh.authenticate(arrival, liveOnly: true) {
        case .unknownAuthor:
            mesh.drops.count(.unknownAuthor)
            return .unknownAuthor(relay: false)
        case .forged:
            mesh.drops.count(.badSignature)
            return .forged
        case .verified(let verified):
            guard let request = RequestSync(payload: verified.packet.payload) else {
                return refuse(.malformedPayload, in: mesh)
            }
            guard mesh.isClockTrusted else { return refuse(.syncRequestRefused, in: mesh) }
            guard rate.take(arrival.sender, at: mesh.now.monotonic) else {
                return refuse(.syncRequestLimit, in: mesh)
            }
            answer(request, of: arrival.sender, on: arrival.link, in: mesh)
            return .accepted(relay: false)
        }
    }

    private func isForUs(_ arrival: Arrival, _ mesh: MeshNode) -> Bool {
        arrival.isBroadcast || arrival.recipient == mesh.me
    }

    private func refuse(_ reason: MeshDrop, in mesh: MeshNode) -> Verdict {
        mesh.drops.count(reason)
        return .accepted(relay: false)
    }

    // MARK: Answering (§7.2)

    private func answer(_ request: RequestSync, of peer: PeerID, on link: LinkID, in mesh: MeshNode) {
        let now = mesh.now.monotonic
        mesh.count(.syncRequestsAnswered)
        if request.types != nil { requester.noteTypesField(of: peer) }
        let entries = SyncAnswer.entries(for: request, gossip.inventory(at: mesh.now), at: mesh.now.wall)
        let items = entries.compactMap { entry -> PacedAnswers.Item? in
            if entry.heardFrom == peer, now - entry.heardAt <= SyncLimits.echoSpan { return nil }
            guard entry.type == .announce || isToBeServed(entry, to: peer, at: now) else { return nil }
            return PacedAnswers.Item(
                type: entry.type, id: entry.id, requested: now, knowsTypes: request.types != nil)
        }
        let superseded = request.fragmentFilter == nil ? request.requestedTypes : nil
        let refused = answers.add(items, to: peer, on: link, superseding: superseded, at: now)
        mesh.drops.count(.syncBacklog, UInt64(refused))
    }

    /// A newcomer drops messages of authors it never met, and gets them again as soon as the author announces itself.
    private func isToBeServed(_ entry: GossipEntry, to peer: PeerID, at now: Instant) -> Bool {
        let isSigned = entry.type == .message || entry.type == .fileTransfer
        let explained = isSigned ? gossip.store.announces[entry.sender]?.presentSince : nil
        return served.allows(entry.id, for: peer, explained: explained, at: now)
    }

    func observe(_ occurrence: MeshOccurrence, in mesh: MeshNode) {
        switch occurrence {
        case .linkDown(let link, _): answers.end(link)
        case .removed(let peer): served.forget(peer)
        case .tick: if mesh.maintenance.isCleanup { rate.prune(at: mesh.now.monotonic) }
        case .stopping: answers.removeAll()
        default: break
        }
    }

    func measure(_ note: (_ table: StaticString, _ count: Int, _ bound: Int) -> Void) {
        note("sync-answers", answers.waiting, SyncLimits.pendingAnswers)
        note("sync-served-peers", served.count, SyncLimits.servedPeers)
        note("sync-askers", rate.count, MeshLimits.peerCapacity)
    }

    // MARK: Pacing (§7.3)

    var nextDeadline: Instant? { answers.nextDeadline }

    func timeout(in mesh: MeshNode) {
        let now = mesh.now.monotonic
        for link in answers.due(at: now) {
            guard let state = mesh.linkTable[link], let peer = state.peer, peer == answers.peer(on: link) else {
                answers.end(link)
                continue
            }
            if answers.yields(on: link, lastOut: state.lastOut, at: now) { continue }
            guard mesh.linkTable.admitOutput(.excess, on: link, at: now) else {
                answers.postpone(link, at: now)
                continue
            }
            if sendNext(to: peer, on: state, in: mesh) {
                answers.noteSent(on: link, at: now)
            } else {
                answers.end(link)
            }
        }
    }

    /// - Returns: false when nothing is left to send.
    private func sendNext(to peer: PeerID, on link: Link, in mesh: MeshNode) -> Bool {
        if sendFragment(on: link, in: mesh) { return true }
        while let item = answers.takeItem(on: link.id, at: mesh.now.monotonic) {
            if send(item, to: peer, on: link, in: mesh) { return true }
        }
        return false
    }

    private func sendFragment(on link: Link, in mesh: MeshNode) -> Bool {
        guard var fragment = answers.takeFragment(on: link.id, at: mesh.now.monotonic) else { return false }
        fragment.setSyncResponse(true)
        mesh.write(answer: fragment, to: link.id)
        return true
    }

    private func send(_ item: PacedAnswers.Item, to peer: PeerID, on link: Link, in mesh: MeshNode) -> Bool {
        let now = mesh.now
        guard let entry = gossip.entry(item.type, item.id, at: now) else { return false }
        if item.type == .announce {
            // It may have grown stale while it waited.
            guard entry.timestamp >= now.wall.cutoff(age: SyncLimits.announceStaleMilliseconds) else { return false }
        } else {
            guard isToBeServed(entry, to: peer, at: item.requested) else { return false }
        }
        if entry.frame.bytes.count <= link.frameLimit {
            mesh.write(answer: entry.answer(), to: link.id)
            note(item, for: peer)
            return true
        }
        return sendLong(entry, item, to: peer, on: link, in: mesh)
    }

    /// Too long for the link, so cut into fragments for this peer. Phones judge the flag of what they put together by
    /// its author, whom they have not asked: without the flag inside they take it while it is young (T5). Later only
    /// another box does, so it is not tried often.
    private func sendLong(
        _ entry: GossipEntry, _ item: PacedAnswers.Item, to peer: PeerID, on link: Link, in mesh: MeshNode
    ) -> Bool {
        let now = mesh.now
        let isYoung = !entry.timestamp.isOlder(
            thanMilliseconds: SyncLimits.unflaggedInnerMilliseconds, at: now.wall)
        let inner = entry.answer(flagged: !(item.knowsTypes && isYoung))
        let chunk = FragmentChunk.filling(
            frameLimit: link.frameLimit, hasRecipient: true, hops: inner.layout.routeCount)
        guard entry.type != .fragment, let chunk, chunk >= MeshLimits.smallestFragmentChunk,
            let plan = FragmentPlan(
                inner, chunk: chunk, target: peer, streamID: FragmentStreamID(using: &mesh.random)),
            item.knowsTypes || plan.count <= SyncLimits.androidFragments
        else {
            mesh.drops.count(.frameTooLong)
            return false
        }
        answers.begin(PacedAnswers.Train(plan: plan, deadline: item.deadline), on: link.id)
        note(item, for: peer, isUnlikely: item.knowsTypes && !isYoung)
        return sendFragment(on: link, in: mesh)
    }

    private func note(_ item: PacedAnswers.Item, for peer: PeerID, isUnlikely: Bool = false) {
        guard item.type != .announce else { return }
        served.note(item.id, for: peer, isUnlikely: isUnlikely, at: item.requested)
    }
}
