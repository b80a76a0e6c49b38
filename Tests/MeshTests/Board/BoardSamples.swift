import Basics
import Crypto
import Wire
import XCTest

@testable import Mesh

/// Somebody who pins notices to the board.
struct BoardAuthor {
    let key: SigningKey

    init(_ seed: UInt64) {
        var random = SeededRandom(seed: 0xb0a4d + seed)
        key = SigningKey.generate(using: &random)
    }

    static func postID(_ number: Int) -> [UInt8] {
        [UInt8](repeating: 0x1d, count: 12) + GossipSamples.numbered(number)
    }

    /// Unsigned, so that tests can spoil it.
    func draft(
        _ number: Int, created: WallTime, lifetime: UInt64 = 3_600_000, geohash: String = "u4pru",
        content: String = "water here", isUrgent: Bool = false
    ) -> BoardPost {
        BoardPost(
            postID: BoardAuthor.postID(number), geohash: geohash, content: content,
            authorSigningKey: key.publicKey.bytes, authorNickname: "ann", createdAt: created,
            expiresAt: WallTime(milliseconds: created.milliseconds + lifetime), flags: isUrgent ? 1 : 0,
            signature: [UInt8](repeating: 0, count: 64))
    }

    func post(
        _ number: Int, created: WallTime, lifetime: UInt64 = 3_600_000, geohash: String = "u4pru",
        content: String = "water here", isUrgent: Bool = false
    ) -> BoardPayload {
        var post = draft(
            number, created: created, lifetime: lifetime, geohash: geohash, content: content, isUrgent: isUrgent)
        post.signature = key.sign(post.signedBytes)
        return .post(post)
    }

    func tombstone(_ number: Int, deleted: WallTime) -> BoardPayload {
        var tombstone = BoardTombstone(
            postID: BoardAuthor.postID(number), authorSigningKey: key.publicKey.bytes, deletedAt: deleted,
            signature: [UInt8](repeating: 0, count: 64))
        tombstone.signature = key.sign(tombstone.signedBytes)
        return .tombstone(tombstone)
    }
}

extension BoardStore {
    /// - Parameter sender: of the packet, which nobody checks.
    mutating func ingest(
        _ payload: BoardPayload, at now: WallTime, age: Int64 = 0, sender: UInt64 = 0xa1
    ) throws -> Outcome {
        let moment = Now(monotonic: GossipSamples.now.monotonic, wall: now)
        let frame = try GossipSamples.frame(
            .boardPost, sender: sender, age: age, payload: XCTUnwrap(payload.encoded()), at: moment)
        return ingest(try XCTUnwrap(Verified(payload)), in: try GossipSamples.entry(frame), at: now)
    }

    func postIDs() -> [[UInt8]] { posts.map(\.post.postID) }
}

extension WallTime {
    static func + (time: WallTime, milliseconds: Int64) -> WallTime {
        WallTime(milliseconds: UInt64(Int64(time.milliseconds) + milliseconds))
    }
}
