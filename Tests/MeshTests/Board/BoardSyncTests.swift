import Basics
import Crypto
import Simulation
import Wire
import XCTest

@testable import Mesh

/// The board between nodes that meet later (chapter 04 §7.2, §11.4).
final class BoardSyncTests: XCTestCase {
    private let iPhone = ScriptedPeer.iPhone

    /// Lets `node` hear a board packet from the neighbour at the far end of `link`.
    private func send(_ payload: BoardPayload, to node: Int, on link: LinkID, _ mesh: SimulatedMesh) throws {
        let frame = try ScriptedPeer(seed: 77).frame(
            .boardPost, XCTUnwrap(payload.encoded()), at: mesh.now, ttl: 5, isSigned: false)
        mesh.call(node) { engine, now in frame.bytes.withUnsafeBytes { engine.receive($0, on: link, at: now) } }
    }

    private func store(_ node: Int, _ mesh: SimulatedMesh) -> BoardStore { mesh.nodes[node].mesh.board.store }

    func testNodeThatComesLaterGetsPostsThenTombstonesAsTheyWereReceived() throws {
        let mesh = SimulatedMesh(seed: 1)
        for _ in 0..<3 { mesh.addNode(capabilities: iPhone) }
        let link = mesh.connect(0, 2)
        mesh.run(for: .seconds(5))
        let now = mesh.now.wall
        let (ann, bob) = (BoardAuthor(1), BoardAuthor(2))
        let packets = [
            bob.tombstone(9, deleted: now + (7_200_000 - 604_800_000)), ann.post(1, created: now),
            bob.post(2, created: now),
        ]
        for payload in packets { try send(payload, to: 0, on: link.a, mesh) }
        mesh.run(for: .seconds(2))
        mesh.disconnect(link.a)
        mesh.run(for: .minutes(10))

        let before = mesh.air.count
        mesh.connect(0, 1)
        mesh.run(for: .seconds(5))
        XCTAssertEqual(store(0, mesh).offered.count, 3)
        XCTAssertEqual(store(1, mesh).offered.map(\.id), store(0, mesh).offered.map(\.id))
        let served = try mesh.air.dropFirst(before).filter { $0.from == 0 }.map { try Frame($0.bytes) }.filter {
            $0.type == .boardPost
        }
        XCTAssertEqual(served.map(\.id), store(0, mesh).offered.map(\.id), "posts, then tombstones, each once")
        XCTAssertTrue(served.allSatisfy { $0.isSyncResponse && $0.ttl == 0 })
        XCTAssertEqual(mesh.nodes[1].mesh.boardPosts(at: mesh.now).count, 2)
        mesh.run(for: .hours(1))
        XCTAssertTrue(mesh.nodes[1].mesh.boardPosts(at: mesh.now).isEmpty)
        XCTAssertEqual(store(1, mesh).tombstones.count, 1)
        mesh.run(for: .hours(1))
        XCTAssertTrue(store(1, mesh).offered.isEmpty)
    }

    func testBoardLargerThanAPhonesFilterIsTransferredOnceAndThenNamedWhole() throws {
        let mesh = SimulatedMesh(seed: 2)
        for _ in 0..<3 { mesh.addNode(capabilities: iPhone) }
        let link = mesh.connect(0, 2)
        mesh.run(for: .seconds(5))
        for number in 0..<205 {
            let author = BoardAuthor(100 + UInt64(number / 5))
            let now = mesh.now.wall
            let payload =
                number < 200
                ? author.post(number, created: now, lifetime: 86_400_000) : author.tombstone(number, deleted: now)
            try send(payload, to: 0, on: link.a, mesh)
            mesh.run(for: .seconds(1))
        }
        mesh.disconnect(link.a)
        mesh.run(for: .minutes(5))
        XCTAssertEqual(store(0, mesh).offered.count, 205)

        let before = mesh.air.count
        mesh.connect(0, 1)
        mesh.run(for: .minutes(5))
        XCTAssertEqual(store(1, mesh).offered.count, 205)
        func frames(from node: Int) throws -> [Frame] {
            try mesh.air.dropFirst(before).filter { $0.from == node }.map { try Frame($0.bytes) }
        }
        XCTAssertEqual(try frames(from: 0).filter { $0.type == .boardPost }.count, 205)
        let requests = try frames(from: 1).filter { $0.type == .requestSync }
            .compactMap { $0.packet().flatMap { RequestSync(payload: $0.payload) } }
            .filter { $0.types == .boardPost }
        XCTAssertGreaterThanOrEqual(requests.count, 4)
        let last = try XCTUnwrap(requests.last)
        XCTAssertNil(last.since)
        let members = last.filter.members()
        XCTAssertTrue(store(1, mesh).offered.allSatisfy { members.contains($0.hash) })
    }

    func testCursorHoldsBackOlderPacketsOfTheBoard() throws {
        let node = NodeHarness()
        let carrier = ScriptedPeer(seed: 7, capabilities: iPhone)
        let asking = ScriptedPeer(seed: 8, capabilities: iPhone)
        let link = try node.meet(carrier)
        var frames: [Frame] = []
        for number in 0..<3 {
            let payload = BoardAuthor(1).post(number, created: node.now.wall)
            let frame = try carrier.frame(
                .boardPost, XCTUnwrap(payload.encoded()), at: node.now, ttl: 5, isSigned: false)
            node.receive(frame, on: link)
            frames.append(frame)
            node.advance(by: .seconds(10))
        }
        let other = try node.meet(asking)
        node.advance(by: .seconds(2))
        let request = RequestSync(
            filter: GCSFilter.build(newestFirst: [GCSHash](), budget: 400, parameter: 7).0, types: .boardPost,
            since: frames[1].timestamp)
        node.receive(
            try asking.frame(
                .requestSync, XCTUnwrap(request.encoded()), at: node.now, ttl: 0, recipient: node.me), on: other)
        node.advance(by: .seconds(1))
        XCTAssertEqual(node.answers.map(\.frame.id), frames[1...].map(\.id))
    }

    func testBoardSurvivesARestart() throws {
        let mesh = SimulatedMesh(seed: 3)
        for _ in 0..<2 { mesh.addNode(capabilities: iPhone) }
        let link = mesh.connect(0, 1)
        mesh.run(for: .seconds(5))
        try send(BoardAuthor(1).post(1, created: mesh.now.wall), to: 0, on: link.a, mesh)
        mesh.run(for: .seconds(15))
        mesh.retire(0)
        mesh.restart(0, MeshConfiguration(nickname: "again"))
        XCTAssertEqual(mesh.nodes[0].mesh.boardPosts(at: mesh.now).count, 1)
    }

    /// Chapter 04 §11.5: a poster removes what it posted in an earlier life.
    func testAnAuthorTakesDownItsPostAfterARestartWhateverItsDiskKept() throws {
        for keepsDisk in [true, false] {
            let mesh = SimulatedMesh(seed: 4)
            for _ in 0..<3 { mesh.addNode(capabilities: iPhone) }
            mesh.connect(0, 1)
            mesh.run(for: .seconds(5))
            var post: BoardPost?
            mesh.call(0) { post = try? $0.post(onBoard: "water", days: 1, isUrgent: false, at: $1) }
            let id = try XCTUnwrap(post).postID
            mesh.run(for: .seconds(5))
            mesh.retire(0)
            if !keepsDisk { mesh.nodes[0].archive = SimulatedArchive() }
            mesh.restart(0, MeshConfiguration(nickname: "again"))
            mesh.connect(0, 1)
            mesh.run(for: .minutes(3))
            let again = mesh.nodes[0].mesh
            XCTAssertEqual(again.boardPosts(at: mesh.now), [try XCTUnwrap(post)])
            XCTAssertTrue(again.isOwn(try XCTUnwrap(post)))
            var removed: BoardPost?
            mesh.call(0) { removed = try? $0.remove(fromBoard: id, at: $1) }
            XCTAssertEqual(removed, post)
            mesh.run(for: .seconds(5))
            XCTAssertTrue(mesh.nodes[1].mesh.boardPosts(at: mesh.now).isEmpty)
            // Nor does it come back in the next life, or to whoever comes later.
            mesh.retire(0)
            mesh.restart(0, MeshConfiguration(nickname: "once more"))
            mesh.connect(0, 2)
            mesh.run(for: .minutes(3))
            for node in 0..<3 { XCTAssertTrue(mesh.nodes[node].mesh.boardPosts(at: mesh.now).isEmpty, "\(node)") }
            XCTAssertEqual(store(2, mesh).tombstones.count, 1)
        }
    }
}
