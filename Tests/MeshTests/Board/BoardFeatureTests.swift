import Basics
import Crypto
import Wire
import XCTest

@testable import Mesh

/// What becomes of board packets on the air (chapter 04 §11.3).
final class BoardFeatureTests: XCTestCase {
    private let author = BoardAuthor(1)
    private let carrier = ScriptedPeer(seed: 7, capabilities: ScriptedPeer.iPhone)
    private let neighbour = ScriptedPeer(seed: 8, capabilities: ScriptedPeer.iPhone)

    /// - Returns: a node with two neighbours, and the link of the first.
    private func between() throws -> (NodeHarness, LinkID) {
        let node = NodeHarness()
        let link = try node.meet(carrier)
        _ = try node.meet(neighbour)
        node.advance(by: .seconds(1))
        return (node, link)
    }

    private func frame(
        _ payload: BoardPayload, _ node: NodeHarness, from sender: ScriptedPeer? = nil, age: Int64 = 0,
        recipient: PeerID? = nil
    ) throws -> Frame {
        try (sender ?? carrier).frame(
            .boardPost, XCTUnwrap(payload.encoded()), at: node.now, age: age, ttl: 5, recipient: recipient,
            isSigned: false)
    }

    private func relayed(_ frame: Frame, _ node: NodeHarness, on link: LinkID) -> [Frame] {
        node.clearSent()
        node.receive(frame, on: link)
        node.advance(by: .seconds(1))
        return node.frames(.boardPost).map(\.frame)
    }

    func testPostOfAnAuthorNobodyKnowsIsKeptAndRelayed() throws {
        let (node, link) = try between()
        let stranger = ScriptedPeer(seed: 99)
        let post = try frame(author.post(1, created: node.now.wall), node, from: stranger)
        XCTAssertEqual(relayed(post, node, on: link).map(\.ttl), [4])
        XCTAssertEqual(node.node.boardPosts(at: node.now).map(\.content), ["water here"])
    }

    func testForgedInnerSignatureIsNeitherKeptNorRelayed() throws {
        let (node, link) = try between()
        var post = author.draft(1, created: node.now.wall)
        post.signature = BoardAuthor(2).key.sign(post.signedBytes)
        // The packet around it may be signed as well as it likes.
        let forged = try carrier.frame(
            .boardPost, XCTUnwrap(post.encoded()), at: node.now, ttl: 5)
        XCTAssertTrue(relayed(forged, node, on: link).isEmpty)
        XCTAssertEqual(node.drops(.badSignature), 1)
        var tombstone = BoardTombstone(
            postID: post.postID, authorSigningKey: post.authorSigningKey, deletedAt: node.now.wall,
            signature: post.signature)
        tombstone.signature = BoardAuthor(2).key.sign(tombstone.signedBytes)
        XCTAssertTrue(relayed(try frame(.tombstone(tombstone), node), node, on: link).isEmpty)
        XCTAssertEqual(node.drops(.badSignature), 2)
        XCTAssertTrue(node.node.board.store.offered.isEmpty)
    }

    func testForgedCopyDoesNotShadowTheGenuinePost() throws {
        let (node, link) = try between()
        var post = author.draft(1, created: node.now.wall)
        post.signature = [UInt8](repeating: 1, count: 64)
        node.receive(try frame(.post(post), node), on: link)
        XCTAssertEqual(relayed(try frame(author.post(1, created: node.now.wall), node), node, on: link).count, 1)
        XCTAssertEqual(node.node.board.store.posts.count, 1)
    }

    func testRejectedIsNotRelayedAndDuplicateIs() throws {
        let (node, link) = try between()
        let now = node.now.wall
        XCTAssertTrue(
            relayed(try frame(author.post(1, created: now + -3_600_000), node), node, on: link).isEmpty, "expired")
        XCTAssertEqual(node.drops(.boardRefused), 1)
        let post = author.post(2, created: now)
        XCTAssertEqual(relayed(try frame(post, node), node, on: link).count, 1)
        let wrapped = try frame(post, node, from: ScriptedPeer(seed: 99), age: 20)
        XCTAssertEqual(relayed(wrapped, node, on: link).count, 1, "the same post in another packet (T9)")
        XCTAssertEqual(node.node.board.store.offered.map(\.sender), [carrier.id])
        XCTAssertEqual(relayed(try frame(author.tombstone(2, deleted: now), node), node, on: link).count, 1)
        XCTAssertTrue(relayed(try frame(post, node, age: 30), node, on: link).isEmpty, "taken back by its author")
    }

    func testMalformedAndDirectedAreNeitherKeptNorRelayed() throws {
        let (node, link) = try between()
        let malformed = try carrier.frame(.boardPost, [1, 0, 1, 9], at: node.now, ttl: 5, isSigned: false)
        XCTAssertTrue(relayed(malformed, node, on: link).isEmpty)
        XCTAssertEqual(node.drops(.malformedPayload), 1)
        let directed = try frame(author.post(1, created: node.now.wall), node, recipient: neighbour.id)
        XCTAssertTrue(relayed(directed, node, on: link).isEmpty)
        XCTAssertEqual(node.drops(.notAddressed), 1)
        XCTAssertTrue(node.node.board.store.offered.isEmpty)
    }

    func testUrgentPostTravelsFartherInASparseNeighbourhood() throws {
        let node = NodeHarness()
        let link = try node.meet(carrier)
        for seed in UInt64(20)..<23 { _ = try node.meet(ScriptedPeer(seed: seed)) }
        node.advance(by: .seconds(1))
        for (number, isUrgent, ttl) in [(1, true, 6), (2, false, 5)] as [(Int, Bool, UInt8)] {
            let payload = author.post(number, created: node.now.wall, isUrgent: isUrgent)
            let post = try carrier.frame(
                .boardPost, XCTUnwrap(payload.encoded()), at: node.now, ttl: 7, isSigned: false)
            let relayed = relayed(post, node, on: link)
            XCTAssertFalse(relayed.isEmpty)
            XCTAssertTrue(relayed.allSatisfy { $0.ttl == ttl })
        }
    }

    func testUrgentPostsAreReadFirstThenTheNewest() throws {
        let (node, link) = try between()
        let now = node.now.wall
        for (number, age, isUrgent) in [(1, 9, false), (2, 5, true), (3, 1, false)] as [(Int, Int64, Bool)] {
            node.receive(try frame(author.post(number, created: now + -age, isUrgent: isUrgent), node), on: link)
        }
        XCTAssertEqual(
            node.node.boardPosts(at: node.now).map(\.postID), [2, 3, 1].map(BoardAuthor.postID))
    }

    func testNothingIsKeptOrLetGoOfBeforeTheClockIsRight() throws {
        let node = NodeHarness(isClockTrusted: false)
        let link = try node.meet(carrier)
        _ = try node.meet(neighbour)
        XCTAssertEqual(relayed(try frame(author.post(1, created: node.now.wall), node), node, on: link).count, 1)
        XCTAssertTrue(node.node.board.store.offered.isEmpty)
    }

    func testTablesAreMeasured() throws {
        let (node, link) = try between()
        node.receive(try frame(author.post(1, created: node.now.wall), node), on: link)
        var measured: [String: [Int]] = [:]
        node.node.measure { measured["\($0)"] = [$1, $2] }
        XCTAssertEqual(measured["board-posts"], [1, 200])
        XCTAssertEqual(measured["board-tombstones"], [0, 400])
    }
}
