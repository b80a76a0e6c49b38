import Basics
import Crypto
import Wire

/// The bulletin board: takes in posts and deletions of others, relays what is valid and offers it to neighbours that
/// missed it (chapter 04 §11.3). Whoever carries posts publishes them nowhere else (chapter 06 §9).
final class BoardFeature: MeshFeature {
    let types: [MessageType] = [.boardPost]
    let interests: MeshOccurrence.Kinds = [.life, .tick]

    private(set) var store = BoardStore()
    private var archive = BoardArchive()
    private var nextWrite = Instant.distantFuture
    private var lastWrite: Instant?
    /// Something of this node is not written yet.
    private var owesOwn = false

    /// Posts prove themselves by the key inside, so their author need not be known. A bad signature is part of what
    /// duplicates are told by: remembering the packet shadows no genuine one.
    func handle(_ arrival: Arrival, in mesh: MeshNode) -> Verdict {
        guard arrival.isBroadcast else { return refuse(.notAddressed, in: mesh) }
        guard let payload = arrival.frame.payload().flatMap({ BoardPayload(payload: $0) }),
            let packet = GossipEntry(arrival.frame, heardFrom: arrival.ingressPeer, at: mesh.now.monotonic)
        else { return refuse(.malformedPayload, in: mesh) }
        guard let verified = Verified(payload) else { return refuse(.badSignature, in: mesh) }
        // Before the clock is right nothing can be said about times (T14).
        guard mesh.isClockTrusted else { return .accepted(relay: true) }
        let outcome = store.ingest(verified, in: packet, at: mesh.now.wall)
        scheduleWrite(at: mesh.now.monotonic)
        return outcome == .rejected ? refuse(.boardRefused, in: mesh) : .accepted(relay: true)
    }

    private func refuse(_ reason: MeshDrop, in mesh: MeshNode) -> Verdict {
        mesh.drops.count(reason)
        return .accepted(relay: false)
    }

    func observe(_ occurrence: MeshOccurrence, in mesh: MeshNode) {
        switch occurrence {
        case .tick:
            guard mesh.maintenance.isCleanup, mesh.isClockTrusted else { return }
            store.expire(at: mesh.now.wall)
            scheduleWrite(at: mesh.now.monotonic)
        case .stopping: write(in: mesh)
        default: break
        }
    }

    /// Takes in what this node wrote.
    func pin(_ payload: Verified<BoardPayload>, in frame: Frame, at now: Now) -> Bool {
        guard let packet = GossipEntry(frame, at: now.monotonic) else { return false }
        guard store.ingest(payload, in: packet, at: now.wall) == .accepted else { return false }
        owesOwn = true
        nextWrite = now.monotonic
        return true
    }

    /// All readable posts, urgent ones first, then the newest (§11.6).
    func posts(at now: Now) -> [BoardPost] {
        store.posts.map(\.post).filter { $0.expiresAt > now.wall }.sorted {
            ($0.isUrgent ? 1 : 0, $0.createdAt) > ($1.isUrgent ? 1 : 0, $1.createdAt)
        }
    }

    func measure(_ note: (_ table: StaticString, _ count: Int, _ bound: Int) -> Void) {
        note("board-posts", store.posts.count, BoardLimits.posts)
        note("board-tombstones", store.tombstones.count, BoardLimits.tombstones)
    }

    // MARK: Archive

    var nextDeadline: Instant? { nextWrite }

    func timeout(in mesh: MeshNode) { write(in: mesh) }

    func restore(_ records: [BoardRecord], in mesh: MeshNode) {
        archive.hold(records)
        restoreWhenClockIsTrusted(in: mesh)
    }

    func restoreWhenClockIsTrusted(in mesh: MeshNode) {
        guard mesh.isClockTrusted else { return }
        mesh.drops.count(.boardRefused, UInt64(archive.restore(into: &store, at: mesh.now)))
        scheduleWrite(at: mesh.now.monotonic)
    }

    private func scheduleWrite(at now: Instant) {
        guard archive.isBehind(store), nextWrite == .distantFuture else { return }
        nextWrite = lastWrite.map { max(now, $0 + BoardLimits.writeInterval) } ?? now
    }

    private func write(in mesh: MeshNode) {
        nextWrite = .distantFuture
        defer { owesOwn = false }
        guard let batch = archive.batch(from: store, isOwn: owesOwn) else { return }
        lastWrite = mesh.now.monotonic
        mesh.emit(.boardArchive(batch))
    }
}

extension BoardFeature: BoardSource {
    func offered(at now: Now) -> [GossipEntry] {
        store.expire(at: now.wall)
        return store.offered
    }

    func offered(_ id: PacketID, at now: Now) -> GossipEntry? {
        store.expire(at: now.wall)
        return store.packet(id)
    }
}

extension MeshNode {
    /// Posts held for the places named in them and for the mesh itself, urgent ones first, then the newest.
    public func boardPosts(at now: Now) -> [BoardPost] { board.posts(at: now) }

    /// What `MeshEffect.boardArchive` had written before the restart, in any order. Call it once, before `start`.
    public func restoreBoard(_ records: [BoardRecord], at now: Now) {
        self.now = now
        board.restore(records, in: self)
    }
}
