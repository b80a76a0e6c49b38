import Basics
import Crypto
import Wire

/// Asks direct neighbours what we are missing (chapter 04 §6).
final class SyncRequesterFeature: MeshFeature {
    let types: [MessageType] = []
    let interests: MeshOccurrence.Kinds = [.life, .announced, .stalled, .absence]

    private let gossip: GossipFeature
    private let schedule = SyncSchedule()
    private var initial = DeadlineQueue<PeerID>()
    private var budget = SyncRateLimit(limit: SyncLimits.requestsPerPeer, window: SyncLimits.requestWindow)
    /// Peers whose own requests had a types field.
    private var typeSpeakers: Set<PeerID> = []
    /// Counts requests, so that no two filters in a row hide the same packet by mistake.
    private var variation: UInt32 = 0

    init(_ gossip: GossipFeature) { self.gossip = gossip }

    func observe(_ occurrence: MeshOccurrence, in mesh: MeshNode) {
        switch occurrence {
        case .started: schedule.start(at: mesh.now.monotonic)
        case .stopping:
            schedule.stop()
            initial.removeAll()
        case .announced(let announcement) where announcement.becameConnected:
            guard initial.count < MeshLimits.peerCapacity else { return }
            initial.add(announcement.peer, due: mesh.now.monotonic + SyncLimits.initialDelay)
        case .stalled(let streams): askForFragments(of: streams, in: mesh)
        case .removed(let peer): typeSpeakers.remove(peer)
        default: break
        }
    }

    /// A peer asked us with a types field: rounds for single types cannot make it replay its whole store.
    func noteTypesField(of peer: PeerID) {
        guard typeSpeakers.count < MeshLimits.peerCapacity else { return }
        typeSpeakers.insert(peer)
    }

    /// Phones on Android ignore the types field and answer every request with all announces and messages it does not
    /// name. Current iOS shows by its capabilities that it does not.
    func understandsTypes(_ peer: PeerID, in mesh: MeshNode) -> Bool {
        if typeSpeakers.contains(peer) { return true }
        guard let capabilities = mesh.registry[peer]?.capabilities else { return false }
        return !capabilities.isDisjoint(with: [.prekeys, .groups])
    }

    func measure(_ note: (_ table: StaticString, _ count: Int, _ bound: Int) -> Void) {
        note("sync-asked", budget.count, MeshLimits.peerCapacity)
        note("sync-type-speakers", typeSpeakers.count, MeshLimits.peerCapacity)
    }

    // MARK: Time

    var nextDeadline: Instant? { min(schedule.nextDeadline, initial.nextDeadline ?? .distantFuture) }

    func timeout(in mesh: MeshNode) {
        let now = mesh.now.monotonic
        while let peer = initial.takeDue(at: now) { askFirst(peer, in: mesh) }
        let carried = gossip.carriedTypes
        let rounds = SyncRound.allCases.filter { carried.isSuperset(of: $0.types) }
        if schedule.takeTick(at: now, rounds: rounds) { budget.prune(at: now) }
        while let round = schedule.takeRound(at: now) { run(round, in: mesh) }
    }

    /// The only request for everything at once.
    private func askFirst(_ peer: PeerID, in mesh: MeshNode) {
        guard mesh.registry.isConnected(peer) else { return }
        let types = understandsTypes(peer, in: mesh) ? gossip.carriedTypes : .unspecified
        ask([peer], for: types, in: mesh)
    }

    private func run(_ round: SyncRound, in mesh: MeshNode) {
        let peers = mesh.registry.connected.filter { round.isForEverybody || understandsTypes($0, in: mesh) }
        ask(peers, for: round.types, in: mesh)
    }

    /// Trains that stall can be completed by whoever holds their fragments (§6.5).
    private func askForFragments(of streams: [FragmentStreamID], in mesh: MeshNode) {
        guard let text = FragmentFilter.text(streams) else { return }
        let peers = mesh.registry.connected.filter { understandsTypes($0, in: mesh) }
        ask(peers, for: .fragment, fragmentFilter: text, in: mesh)
    }

    // MARK: Sending

    /// Before the clock is right nobody would take the request, and we could not judge the answer (T14).
    private func ask(_ peers: [PeerID], for types: SyncTypes, fragmentFilter: String? = nil, in mesh: MeshNode) {
        let peers = peers.filter { mesh.linkTable.hasDirectLink(to: $0) }
        guard mesh.isClockTrusted, !peers.isEmpty else { return }
        let request = SyncRequestBuilder.request(
            for: types, gossip.inventory(at: mesh.now), fragmentFilter: fragmentFilter, sizing: .complete,
            variation: variation, at: mesh.now.wall)
        variation &+= 1
        guard let payload = request.encoded() else { return }
        for peer in peers {
            guard budget.take(peer, at: mesh.now.monotonic) else {
                mesh.drops.count(.syncRequestBudget)
                continue
            }
            let packet = SyncRequestBuilder.packet(payload, from: mesh.me, to: peer, at: mesh.now.wall)
            mesh.gate.syncRequests.noteRequest(to: peer, types: types, at: mesh.now.monotonic)
            mesh.originate(packet, signed: true, target: peer, isStrict: true)
            mesh.count(.syncRequestsSent)
        }
    }
}
