import Basics
import Crypto
import Wire
import XCTest

@testable import Mesh

/// What this node pins itself (chapter 04 §11.5).
final class BoardAuthoringTests: XCTestCase {
    private let neighbour = ScriptedPeer(seed: 8, capabilities: ScriptedPeer.iPhone)

    private func withNeighbour() throws -> NodeHarness {
        let node = NodeHarness()
        _ = try node.meet(neighbour)
        node.advance(by: .seconds(1))
        node.clearSent()
        return node
    }

    private func payloads(_ node: NodeHarness) -> [BoardPayload] {
        node.frames(.boardPost).compactMap { $0.frame.payload().flatMap { BoardPayload(payload: $0) } }
    }

    private func pin(
        _ text: String, geohash: String = "", days: Int = 1, isUrgent: Bool = false, _ node: NodeHarness
    ) throws(BoardRefusal) -> BoardPost {
        try node.node.post(onBoard: text, geohash: geohash, days: days, isUrgent: isUrgent, at: node.now)
    }

    func testAPostIsSignedKeptAndBroadcast() throws {
        let node = try withNeighbour()
        let post = try pin("  water here\n", geohash: "u4pruydq", days: 3, isUrgent: true, node)
        node.call { _, _ in }
        XCTAssertEqual(post.content, "water here")
        XCTAssertEqual(post.expiresAt.milliseconds - post.createdAt.milliseconds, 3 * 86_400_000)
        XCTAssertTrue(post.isUrgent)
        XCTAssertTrue(node.node.isOwn(post))
        XCTAssertEqual(node.node.boardPosts(at: node.now), [post])
        XCTAssertNotNil(Verified(BoardPayload.post(post)))
        XCTAssertEqual(payloads(node), [.post(post)])
        let frame = try XCTUnwrap(node.frames(.boardPost).first?.frame)
        XCTAssertEqual(frame.ttl, 7)
        XCTAssertEqual(frame.senderID, node.node.me)
        XCTAssertNotNil(VerifiedFrame(verifying: frame, under: node.node.identity.signing.publicKey))
    }

    func testDaysAreBroughtIntoOneToSevenAndTheNameIntoSixtyFourBytes() throws {
        let node = try withNeighbour()
        node.node.setNickname(String(repeating: "ä", count: 40), at: node.now)
        for (days, lasts) in [(0, 1), (9, 7)] as [(Int, UInt64)] {
            let post = try pin("x", days: days, node)
            XCTAssertEqual(post.expiresAt.milliseconds - post.createdAt.milliseconds, lasts * 86_400_000)
            XCTAssertEqual(post.authorNickname, String(repeating: "ä", count: 32))
        }
    }

    func testTheSixthPostIsRefusedAndDisplacesNone() throws {
        let node = try withNeighbour()
        let posts = try (1...5).map { try pin("\($0)", node) }
        node.call { _, _ in }
        node.clearSent()
        XCTAssertThrowsError(try pin("6", node)) { XCTAssertEqual($0 as? BoardRefusal, .tooMany) }
        node.call { _, _ in }
        XCTAssertEqual(payloads(node).count, 0)
        XCTAssertEqual(Set(node.node.boardPosts(at: node.now)), Set(posts))
        _ = try node.node.remove(fromBoard: posts[2].postID, at: node.now)
        XCTAssertNoThrow(try pin("6", node))
    }

    func testARemovedPostIsGoneEverywhereAndOnlyOwnOnesCanBe() throws {
        let node = try withNeighbour()
        let post = try pin("x", node)
        node.call { _, _ in }
        node.clearSent()
        XCTAssertEqual(try node.node.remove(fromBoard: post.postID, at: node.now), post)
        node.call { _, _ in }
        XCTAssertEqual(node.node.boardPosts(at: node.now), [])
        guard case .tombstone(let tombstone)? = payloads(node).first else { return XCTFail("nothing was sent") }
        XCTAssertEqual(tombstone.postID, post.postID)
        XCTAssertNotNil(Verified(BoardPayload.tombstone(tombstone)))
        XCTAssertThrowsError(try node.node.remove(fromBoard: post.postID, at: node.now)) {
            XCTAssertEqual($0 as? BoardRefusal, .unknownPost)
        }
        let author = BoardAuthor(1)
        let link = try node.meet(ScriptedPeer(seed: 9))
        let foreign = try neighbour.frame(
            .boardPost, XCTUnwrap(author.post(1, created: node.now.wall).encoded()), at: node.now, ttl: 5,
            isSigned: false)
        node.receive(foreign, on: link)
        XCTAssertEqual(node.node.boardPosts(at: node.now).count, 1)
        XCTAssertThrowsError(try node.node.remove(fromBoard: BoardAuthor.postID(1), at: node.now))
    }

    func testWhatCannotBeAPostIsRefused() throws {
        let node = try withNeighbour()
        for (text, geohash, refusal) in [
            (" ", "", .text), (String(repeating: "x", count: 513), "", .text), ("x", "U4", .geohash),
            ("x", "0123456789012", .geohash),
        ] as [(String, String, BoardRefusal)] {
            XCTAssertThrowsError(try pin(text, geohash: geohash, node)) {
                XCTAssertEqual($0 as? BoardRefusal, refusal)
            }
        }
        let untimed = NodeHarness(isClockTrusted: false)
        XCTAssertThrowsError(try pin("x", untimed)) { XCTAssertEqual($0 as? BoardRefusal, .notNow) }
        XCTAssertEqual(node.frames(.boardPost).count, 0)
    }
}
