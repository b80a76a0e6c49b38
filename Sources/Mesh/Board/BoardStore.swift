import Basics
import Crypto
import Wire

/// Posts and deletions of others, kept until they expire and within quotas (chapter 04 §11.4).
struct BoardStore {
    enum Outcome: Equatable {
        /// New; a quota may have dropped it at once.
        case accepted
        /// The post or tombstone is held, in this packet or another one (T9).
        case duplicate
        case rejected
    }

    struct Key: Hashable {
        let postID: [UInt8]
        let author: SigningPublicKey
    }

    struct Post {
        let key: Key
        let post: BoardPost
        let packet: GossipEntry
        let arrival: UInt64
    }

    struct Tombstone {
        let key: Key
        let packet: GossipEntry
        let retention: BoardRecord.Retention
        let arrival: UInt64
    }

    private let policy: BoardPolicy
    /// Both in order of arrival.
    private(set) var posts: [Post] = []
    private(set) var tombstones: [Tombstone] = []
    private var nextArrival: UInt64 = 0
    /// Counts changes, so that an archive can tell whether it is up to date.
    private(set) var revision: UInt64 = 0

    init(_ policy: BoardPolicy = .gateway) { self.policy = policy }

    /// Packets of all posts, then of all tombstones.
    var offered: [GossipEntry] { posts.map(\.packet) + tombstones.map(\.packet) }

    func packet(_ id: PacketID) -> GossipEntry? {
        posts.first { $0.packet.id == id }?.packet ?? tombstones.first { $0.packet.id == id }?.packet
    }

    // MARK: Taking in

    /// - Parameter packet: what `payload` came in; nothing about it is authentic.
    mutating func ingest(_ payload: Verified<BoardPayload>, in packet: GossipEntry, at now: WallTime) -> Outcome {
        ingest(payload, in: packet, restoring: nil, at: now)
    }

    /// Takes in what an archive kept, by the same rules.
    mutating func restore(
        _ payload: Verified<BoardPayload>, in packet: GossipEntry, _ record: BoardRecord, at now: WallTime
    ) -> Outcome {
        ingest(payload, in: packet, restoring: record, at: now)
    }

    private mutating func ingest(
        _ payload: Verified<BoardPayload>, in packet: GossipEntry, restoring record: BoardRecord?, at now: WallTime
    ) -> Outcome {
        expire(at: now)
        guard packet.frame.bytes.count <= BoardLimits.packetBytes else { return .rejected }
        let arrival = record?.arrival ?? nextArrival
        let outcome: Outcome
        switch payload.payload {
        case .post(let post):
            let key = Key(postID: post.postID, author: payload.signer)
            outcome = add(Post(key: key, post: post, packet: packet, arrival: arrival), at: now)
        case .tombstone(let tombstone):
            let key = Key(postID: tombstone.postID, author: payload.signer)
            outcome = bury(
                key, deletedAt: tombstone.deletedAt, in: packet, arrival: arrival, saved: record?.retention, at: now)
        }
        if outcome == .accepted {
            nextArrival = max(nextArrival, arrival &+ 1)
            revision &+= 1
        }
        return outcome
    }

    private mutating func add(_ post: Post, at now: WallTime) -> Outcome {
        let skew = BoardLimits.clockSkewMilliseconds
        guard post.post.expiresAt > now, !post.post.createdAt.isBeyond(now, byMilliseconds: skew),
            !post.post.expiresAt.isBeyond(now, byMilliseconds: BoardLimits.lifetimeMilliseconds + skew),
            !tombstones.contains(where: { $0.key == post.key })
        else { return .rejected }
        guard !posts.contains(where: { isSame($0.key, post.key) }) else { return .duplicate }
        posts.append(post)
        dropFirstCreated(beyond: BoardLimits.postsPerAuthor) { $0.key.author == post.key.author }
        dropFirstCreated(beyond: BoardLimits.posts) { _ in true }
        return .accepted
    }

    private mutating func bury(
        _ key: Key, deletedAt: WallTime, in packet: GossipEntry, arrival: UInt64, saved: BoardRecord.Retention?,
        at now: WallTime
    ) -> Outcome {
        guard !tombstones.contains(where: { isSame($0.key, key) }) else { return .duplicate }
        let lifetime = BoardLimits.lifetimeMilliseconds
        let longest = min(
            deletedAt.milliseconds &+ lifetime,
            now.milliseconds &+ lifetime &+ BoardLimits.clockSkewMilliseconds)
        let held = posts.firstIndex { isSame($0.key, key) }
        if let held, posts[held].key != key { return .rejected }
        let retention: BoardRecord.Retention
        if let saved {
            let until = WallTime(milliseconds: min(saved.until.milliseconds, longest))
            retention = BoardRecord.Retention(until: until, isOrphan: saved.isOrphan)
        } else if let held {
            retention = BoardRecord.Retention(until: posts[held].post.expiresAt, isOrphan: false)
        } else {
            retention = BoardRecord.Retention(until: WallTime(milliseconds: longest), isOrphan: true)
        }
        guard retention.until > now else { return .rejected }
        if let held { posts.remove(at: held) }
        tombstones.append(Tombstone(key: key, packet: packet, retention: retention, arrival: arrival))
        if retention.isOrphan {
            dropFirstReceived(beyond: BoardLimits.orphanTombstonesPerAuthor) {
                $0.retention.isOrphan && $0.key.author == key.author
            }
            dropFirstReceived(beyond: BoardLimits.orphanTombstones) { $0.retention.isOrphan }
        }
        dropFirstReceived(beyond: policy.tombstones) { _ in true }
        return .accepted
    }

    private func isSame(_ a: Key, _ b: Key) -> Bool { policy.tellsAuthorsApart ? a == b : a.postID == b.postID }

    // MARK: Letting go

    /// Every other operation does this first.
    mutating func expire(at now: WallTime) {
        let count = posts.count + tombstones.count
        posts.removeAll { $0.post.expiresAt <= now }
        tombstones.removeAll { $0.retention.until <= now }
        if posts.count + tombstones.count != count { revision &+= 1 }
    }

    private mutating func dropFirstCreated(beyond limit: Int, among isOne: (Post) -> Bool) {
        var candidates = posts.indices.filter { isOne(posts[$0]) }
        while candidates.count > limit,
            let oldest = candidates.min(by: { posts[$0].post.createdAt < posts[$1].post.createdAt })
        {
            posts.remove(at: oldest)
            candidates = posts.indices.filter { isOne(posts[$0]) }
        }
    }

    private mutating func dropFirstReceived(beyond limit: Int, among isOne: (Tombstone) -> Bool) {
        let candidates = tombstones.indices.filter { isOne(tombstones[$0]) }
        for index in candidates.prefix(max(0, candidates.count - limit)).reversed() { tombstones.remove(at: index) }
    }
}
