import Basics
import Crypto
import Wire

/// Why a post is not pinned, or not taken down.
public enum BoardRefusal: String, CaseIterable, Error, Sendable {
    /// No text, or more than 512 bytes of it.
    case text
    case geohash
    /// The node is stopped, or does not know the time.
    case notNow = "not-now"
    /// As many posts of this node are pinned as every board keeps of one author: the oldest would go unseen.
    case tooMany = "too-many"
    /// No post of this node has the ID.
    case unknownPost = "unknown-post"
}

/// What an author does on the board (chapter 04 §11.5).
extension MeshNode {
    /// Days a post may stay.
    public static let boardDays = 1...7

    /// Pins a post of this node, here and on every board that hears of it.
    /// - Parameters:
    ///   - geohash: the place it is about; empty for the mesh itself.
    ///   - days: brought into 1…7.
    public func post(
        onBoard text: String, geohash: String = "", days: Int, isUrgent: Bool, at now: Now
    ) throws(BoardRefusal) -> BoardPost {
        self.now = now
        let content = TextTrimming.trim(text)
        guard BoardPost.contentSizes.contains(content.utf8.count) else { throw .text }
        guard isRunning, isClockTrusted else { throw .notNow }
        guard boardPosts(at: now).count(where: isOwn) < BoardLimits.postsPerAuthor else { throw .tooMany }
        let days = UInt64(min(max(days, MeshNode.boardDays.lowerBound), MeshNode.boardDays.upperBound))
        var post = BoardPost(
            postID: random.bytes(16), geohash: geohash, content: content,
            authorSigningKey: identity.signing.publicKey.bytes, authorNickname: MeshNode.cut(announcer.name),
            createdAt: now.wall, expiresAt: WallTime(milliseconds: now.wall.milliseconds + days * 86_400_000),
            flags: isUrgent ? BoardPost.urgentFlag : 0, signature: [])
        post.signature = identity.signing.sign(post.signedBytes)
        guard publish(.post(post)) else { throw .geohash }
        return post
    }

    /// Takes a post of this node down everywhere.
    public func remove(fromBoard postID: [UInt8], at now: Now) throws(BoardRefusal) -> BoardPost {
        self.now = now
        guard isRunning, isClockTrusted else { throw .notNow }
        guard let post = boardPosts(at: now).first(where: { $0.postID == postID && isOwn($0) }) else {
            throw .unknownPost
        }
        var tombstone = BoardTombstone(
            postID: postID, authorSigningKey: post.authorSigningKey, deletedAt: now.wall, signature: [])
        tombstone.signature = identity.signing.sign(tombstone.signedBytes)
        guard publish(.tombstone(tombstone)) else { throw .notNow }
        return post
    }

    /// Whether this node wrote the post, and so can take it down.
    public func isOwn(_ post: BoardPost) -> Bool { post.authorSigningKey == identity.signing.publicKey.bytes }

    private func publish(_ payload: BoardPayload) -> Bool {
        guard let verified = Verified(payload), let bytes = payload.encoded() else { return false }
        let packet = Packet(type: .boardPost, timestamp: now.wall, senderID: me, payload: bytes)
        guard let frame = originate(packet, signed: true)?.frame else { return false }
        return board.pin(verified, in: frame, at: now)
    }

    /// Whole characters of at most 64 bytes.
    private static func cut(_ nickname: String) -> String {
        var text = nickname
        while text.utf8.count > BoardPost.maximumNicknameSize { text.removeLast() }
        return text
    }
}
