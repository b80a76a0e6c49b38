import Basics
import Crypto
import Wire
import XCTest

@testable import Mesh

/// Chapter 04 §11.4 and traps T8, T9, T16.
final class BoardStoreTests: XCTestCase {
    private let now = GossipSamples.now.wall
    private let week: Int64 = 604_800_000
    private let ann = BoardAuthor(1)
    private let bob = BoardAuthor(2)

    // MARK: Times

    func testPostIsTakenUntilItExpires() throws {
        var store = BoardStore()
        let post = ann.post(1, created: now, lifetime: 1_000)
        XCTAssertEqual(try store.ingest(post, at: now + 1_000), .rejected)
        XCTAssertEqual(try store.ingest(post, at: now + 999), .accepted)
        store.expire(at: now + 999)
        XCTAssertEqual(store.posts.count, 1)
        store.expire(at: now + 1_000)
        XCTAssertTrue(store.offered.isEmpty)
    }

    func testClockOfTheAuthorMayBeAnHourAhead() throws {
        var store = BoardStore()
        XCTAssertEqual(try store.ingest(ann.post(1, created: now + 3_600_000), at: now), .accepted)
        XCTAssertEqual(try store.ingest(ann.post(2, created: now + 3_600_001), at: now), .rejected)
        let longest = UInt64(week)
        XCTAssertEqual(try store.ingest(bob.post(3, created: now + 3_600_000, lifetime: longest), at: now), .accepted)
    }

    // MARK: Deletion

    func testTombstoneTakesThePostBackAndKeepsItAway() throws {
        var store = BoardStore()
        let post = ann.post(1, created: now)
        XCTAssertEqual(try store.ingest(post, at: now), .accepted)
        XCTAssertEqual(try store.ingest(ann.tombstone(1, deleted: now + 5), at: now), .accepted)
        XCTAssertTrue(store.posts.isEmpty)
        XCTAssertEqual(try store.ingest(post, at: now), .rejected)
        XCTAssertEqual(try store.ingest(ann.tombstone(1, deleted: now + 6), at: now), .duplicate)
        XCTAssertEqual(
            store.tombstones[0].retention, .init(until: now + 3_600_000, isOrphan: false), "as long as the post")
    }

    func testTombstoneBeforeThePostKeepsItAwayForAWeek() throws {
        var store = BoardStore()
        XCTAssertEqual(try store.ingest(ann.tombstone(1, deleted: now), at: now), .accepted)
        XCTAssertEqual(try store.ingest(ann.post(1, created: now), at: now + 60_000), .rejected)
        XCTAssertEqual(store.tombstones[0].retention, .init(until: now + week, isOrphan: true))
        store.expire(at: now + week)
        XCTAssertTrue(store.tombstones.isEmpty)
    }

    func testTombstoneFromTheFutureIsKeptNoLongerThanAPostCouldLive() throws {
        var store = BoardStore()
        XCTAssertEqual(try store.ingest(ann.tombstone(1, deleted: now + 100 * week), at: now), .accepted)
        XCTAssertEqual(store.tombstones[0].retention.until, now + week + 3_600_000)
        XCTAssertEqual(try store.ingest(ann.tombstone(2, deleted: now + -week), at: now), .rejected)
        let end = WallTime(milliseconds: .max)
        XCTAssertEqual(try store.ingest(ann.tombstone(3, deleted: end), at: now), .rejected, "a sum that wraps")
    }

    // MARK: Keys (T8, T9)

    func testPostOfAStrangerWithTheSameIDHidesNeitherPostNorDeletion() throws {
        var store = BoardStore()
        XCTAssertEqual(try store.ingest(bob.post(1, created: now, content: "no water"), at: now), .accepted)
        XCTAssertEqual(try store.ingest(bob.tombstone(2, deleted: now), at: now), .accepted)
        XCTAssertEqual(try store.ingest(ann.post(1, created: now), at: now), .accepted)
        XCTAssertEqual(try store.ingest(ann.post(2, created: now), at: now), .accepted)
        XCTAssertEqual(try store.ingest(ann.tombstone(2, deleted: now), at: now), .accepted)
        XCTAssertEqual(try store.ingest(ann.tombstone(1, deleted: now), at: now), .accepted)
        XCTAssertEqual(store.posts.map(\.key.author), [bob.key.publicKey])
    }

    /// How phones tell posts apart, which the recorded cases go by.
    func testByTheReferenceTheFirstToUseAnIDHasIt() throws {
        var store = BoardStore(.reference)
        XCTAssertEqual(try store.ingest(ann.post(1, created: now), at: now), .accepted)
        XCTAssertEqual(try store.ingest(bob.post(1, created: now), at: now), .duplicate)
        XCTAssertEqual(try store.ingest(bob.tombstone(1, deleted: now), at: now), .rejected)
        XCTAssertEqual(try store.ingest(bob.tombstone(1, deleted: now), at: now), .rejected, "nothing was kept of it")
        XCTAssertEqual(try store.ingest(ann.tombstone(1, deleted: now), at: now), .accepted)
        XCTAssertEqual(try store.ingest(bob.tombstone(1, deleted: now), at: now), .duplicate)
        XCTAssertEqual(try store.ingest(ann.post(1, created: now), at: now), .rejected)
        XCTAssertEqual(try store.ingest(bob.post(1, created: now), at: now), .accepted, "the deletion is ann's")
    }

    func testByTheReferenceDeletionsOfHeldPostsAreNotCapped() throws {
        var store = BoardStore(.reference)
        for number in 0..<410 {
            XCTAssertEqual(try store.ingest(ann.post(number, created: now), at: now), .accepted)
            XCTAssertEqual(try store.ingest(ann.tombstone(number, deleted: now), at: now), .accepted)
        }
        XCTAssertEqual(store.tombstones.count, 410)
    }

    func testTombstoneOfAStrangerDeletesNothing() throws {
        var store = BoardStore()
        XCTAssertEqual(try store.ingest(ann.post(1, created: now), at: now), .accepted)
        XCTAssertEqual(try store.ingest(bob.tombstone(1, deleted: now), at: now), .accepted)
        XCTAssertEqual(store.posts.count, 1)
        XCTAssertTrue(store.tombstones[0].retention.isOrphan)
    }

    func testCopyInAnotherPacketDoesNotReplaceTheOneHeld() throws {
        var store = BoardStore()
        let post = ann.post(1, created: now)
        XCTAssertEqual(try store.ingest(post, at: now, sender: 1), .accepted)
        let revision = store.revision
        XCTAssertEqual(try store.ingest(post, at: now, age: 7, sender: 2), .duplicate)
        XCTAssertEqual(store.offered.map(\.sender), [PeerID(value: 1)])
        XCTAssertEqual(store.revision, revision)
    }

    func testPacketStuffedWithUnknownFieldsIsNotKept() throws {
        let payload = ann.post(1, created: now)
        for (stuffing, outcome) in [(3_000, BoardStore.Outcome.accepted), (4_200, .rejected)] {
            var store = BoardStore()
            var random = SeededRandom(seed: 1)
            var bytes = try XCTUnwrap(payload.encoded()) + [0x7f, UInt8(stuffing >> 8), UInt8(stuffing & 0xff)]
            bytes += (0..<stuffing).map { _ in UInt8.random(in: 0...255, using: &random) }
            let packet = try GossipSamples.entry(GossipSamples.frame(.boardPost, payload: bytes))
            let verified = try XCTUnwrap(BoardPayload(payload: bytes).flatMap { Verified($0) })
            XCTAssertEqual(store.ingest(verified, in: packet, at: now), outcome)
        }
    }

    // MARK: Quotas

    func testAuthorHasFivePostsAndTheFirstCreatedGoes() throws {
        var store = BoardStore()
        for (number, age) in [(1, 5), (2, 3), (3, 9), (4, 1), (5, 7)] as [(Int, Int64)] {
            XCTAssertEqual(try store.ingest(ann.post(number, created: now + -age), at: now), .accepted)
        }
        XCTAssertEqual(try store.ingest(bob.post(6, created: now + -20), at: now), .accepted)
        XCTAssertEqual(try store.ingest(ann.post(7, created: now), at: now), .accepted)
        XCTAssertEqual(store.postIDs(), [1, 2, 4, 5, 6, 7].map(BoardAuthor.postID))
        XCTAssertEqual(
            try store.ingest(ann.post(8, created: now + -30), at: now), .accepted, "though it is dropped at once")
        XCTAssertEqual(store.postIDs(), [1, 2, 4, 5, 6, 7].map(BoardAuthor.postID))
    }

    func testBoardHasTwoHundredPosts() throws {
        var store = BoardStore()
        for number in 0..<201 {
            let author = BoardAuthor(100 + UInt64(number / 5))
            XCTAssertEqual(try store.ingest(author.post(number, created: now + Int64(number)), at: now), .accepted)
        }
        XCTAssertEqual(store.posts.count, 200)
        XCTAssertEqual(store.posts.first?.post.postID, BoardAuthor.postID(1))
    }

    func testOrphanTombstonesAreBoundByAuthorAndInAll() throws {
        var store = BoardStore()
        for number in 0..<7 { _ = try store.ingest(ann.tombstone(number, deleted: now), at: now) }
        XCTAssertEqual(store.tombstones.map(\.key.postID), (2..<7).map(BoardAuthor.postID))
        for number in 0..<100 {
            _ = try store.ingest(BoardAuthor(100 + UInt64(number / 5)).tombstone(number, deleted: now), at: now)
        }
        XCTAssertEqual(store.tombstones.count, 100)
        XCTAssertFalse(store.tombstones.contains { $0.key.author == ann.key.publicKey })
    }

    func testPostingAndDeletingInALoopIsBound() throws {
        var store = BoardStore()
        XCTAssertEqual(try store.ingest(bob.tombstone(9_999, deleted: now), at: now), .accepted)
        for number in 0..<410 {
            XCTAssertEqual(try store.ingest(ann.post(number, created: now), at: now), .accepted)
            XCTAssertEqual(try store.ingest(ann.tombstone(number, deleted: now), at: now), .accepted)
        }
        XCTAssertEqual(store.tombstones.count, 400)
        XCTAssertEqual(store.tombstones.first?.key.postID, BoardAuthor.postID(10), "the oldest go first, whatever kind")
    }

    func testPostsAreOfferedBeforeTombstonesEachAsTheyCame() throws {
        var store = BoardStore()
        _ = try store.ingest(ann.tombstone(9, deleted: now), at: now, sender: 1)
        _ = try store.ingest(ann.post(2, created: now + 5), at: now, sender: 2)
        _ = try store.ingest(bob.tombstone(8, deleted: now), at: now, sender: 3)
        _ = try store.ingest(bob.post(1, created: now), at: now, sender: 4)
        XCTAssertEqual(store.offered.map(\.sender.value), [2, 4, 1, 3])
    }
}
