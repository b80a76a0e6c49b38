import Basics
import Crypto
import Wire

/// Keeps what was broadcast, in memory and over a restart (chapter 04 §2, §9, §10). Every 30 s it lets go of what is
/// too old and hands changes to the archive.
final class GossipFeature: MeshFeature {
    let types: [MessageType] = []
    let interests: MeshOccurrence.Kinds = [.life, .publishable, .absence]

    private(set) var store: GossipStore
    /// Set by whoever owns the board; without one, no board posts are asked for.
    var board: (any BoardSource)?
    private var archive = HistoryArchive()
    private var nextUpkeep = Instant.distantFuture
    private var clock = ClockStepDetector()

    init(_ policy: GossipPolicy, me: PeerID) {
        store = GossipStore(policy, me: me, tracksMessages: true)
    }

    /// What a request of ours may name.
    var carriedTypes: SyncTypes { board == nil ? store.carriedTypes : store.carriedTypes.union(.boardPost) }

    func inventory(at now: Now) -> SyncInventory {
        store.expire(at: now.wall)
        return SyncInventory(store: store, board: board?.offered(at: now) ?? [])
    }

    func entry(_ type: MessageType, _ id: PacketID, at now: Now) -> GossipEntry? {
        type == .boardPost ? board?.offered(id, at: now) : store.entry(type, id)
    }

    /// A public message that was here before, however long ago within its life. The gate forgets after five minutes and
    /// with every restart; neighbours go on offering for six hours.
    func hasSeen(message view: FrameView) -> Bool {
        PacketID(view).map { store.messages.knows($0) } ?? false
    }

    // MARK: Occurrences

    func observe(_ occurrence: MeshOccurrence, in mesh: MeshNode) {
        switch occurrence {
        case .started: nextUpkeep = mesh.now.monotonic + SyncLimits.archiveInterval
        case .stopping:
            nextUpkeep = .distantFuture
            writeArchive(in: mesh)
        case .publishable(let frame, let heardFrom, let bringer):
            guard mesh.isClockTrusted else { return }
            store.insert(frame, heardFrom: heardFrom, bringer: bringer, memory: mesh.memory, at: mesh.now)
        case .removed(let peer): store.forgetPresence(of: peer)
        default: break
        }
    }

    var nextDeadline: Instant? { nextUpkeep }

    func timeout(in mesh: MeshNode) {
        nextUpkeep = mesh.now.monotonic + SyncLimits.archiveInterval
        guard mesh.isClockTrusted else { return }
        if clock.detectsStep(at: mesh.now) { mesh.gate.syncRequests.removeAll() }
        store.expire(at: mesh.now.wall)
        store.dropStaleAnnounces(at: mesh.now.wall)
        writeArchive(in: mesh)
    }

    func measure(_ note: (_ table: StaticString, _ count: Int, _ bound: Int) -> Void) {
        let policy = store.policy
        if let bound = policy.announces { note("gossip-announces", store.announces.count, bound) }
        for (table, family, limits) in [
            ("gossip-messages", store.messages, policy.messages),
            ("gossip-fragments", store.fragments, policy.fragments), ("gossip-files", store.files, policy.files),
            ("gossip-groups", store.groupMessages, policy.groupMessages),
        ] as [(StaticString, GossipFamily, GossipPolicy.Family)] {
            note(table, family.count, limits.capacity)
        }
        note("gossip-bytes", store.messages.bytes, policy.messages.bytes)
        note("gossip-horizon", store.messages.horizon.count, policy.messages.remembered)
        note("gossip-prekeys", store.prekeys.count, policy.prekeyOwners)
        note("history-changes", store.messages.changes?.ids.count ?? 0, SyncLimits.archiveChanges)
    }

    // MARK: Archive

    func restore(_ records: [HistoryRecord], in mesh: MeshNode) {
        archive.hold(records)
        restoreWhenClockIsTrusted(in: mesh)
    }

    func restoreWhenClockIsTrusted(in mesh: MeshNode) {
        guard mesh.isClockTrusted else { return }
        let refused = archive.restore(into: &store, at: mesh.now) { mesh.signingKey(of: $0) }
        mesh.drops.count(.historyRefused, UInt64(refused))
    }

    private func writeArchive(in mesh: MeshNode) {
        if let batch = archive.batch(from: &store) { mesh.emit(.archive(batch)) }
    }

    func removeMessages(of sender: PeerID, in mesh: MeshNode) {
        store.removeMessages(of: sender)
        writeArchive(in: mesh)
    }
}

/// Tells a clock that was set from one that drifts, by what the wall clock gained on the monotonic one.
struct ClockStepDetector {
    private var offset: Int64?

    mutating func detectsStep(at now: Now) -> Bool {
        let current = Int64(clamping: now.wall.milliseconds) &- now.monotonic.nanoseconds / 1_000_000
        defer { offset = current }
        guard let offset else { return false }
        return (current &- offset).magnitude > UInt64(SyncLimits.clockStepMilliseconds)
    }
}
