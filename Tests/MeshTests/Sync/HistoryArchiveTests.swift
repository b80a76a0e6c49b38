import Basics
import Crypto
import Wire
import XCTest

@testable import Mesh

/// Chapter 04 §10, traps T1, T11, T14, and the duplicate horizon that outlives a restart.
final class HistoryArchiveTests: XCTestCase {
    private let author = ScriptedPeer(seed: 7, capabilities: ScriptedPeer.iPhone)
    private let asker = ScriptedPeer(seed: 8, capabilities: ScriptedPeer.iPhone)
    private let hour: Int64 = 3_600_000

    private func archived(_ node: NodeHarness) -> [HistoryRecord] {
        var records: [PacketID: HistoryRecord] = [:]
        for (_, batch) in node.batches {
            if batch.replacesEverything { records.removeAll() }
            for id in batch.deletes { records[id] = nil }
            for record in batch.puts { records[record.id] = record }
        }
        return Array(records.values)
    }

    private func record(_ frame: Frame, arrival: UInt64 = 0) throws -> HistoryRecord {
        HistoryRecord(
            id: try XCTUnwrap(frame.id), timestamp: frame.timestamp, arrival: arrival, frame: frame.bytes)
    }

    // MARK: Out

    func testChangesAreWrittenTogetherAtMostEveryThirtySeconds() throws {
        let node = NodeHarness()
        let link = try node.meet(author)
        for second in 0..<100 {
            node.receive(try author.message("\(second)", at: node.now), on: link)
            node.advance(by: .seconds(1))
        }
        XCTAssertEqual(node.batches.count, 3)
        for (a, b) in zip(node.batches, node.batches.dropFirst()) {
            XCTAssertGreaterThanOrEqual(b.at - a.at, .seconds(30))
        }
        XCTAssertEqual(node.batches.map(\.batch.puts.count), [30, 30, 30])
        XCTAssertTrue(node.batches.allSatisfy { $0.batch.deletes.isEmpty && !$0.batch.replacesEverything })
        node.call { $0.stop(at: $1) }
        XCTAssertEqual(node.batches.count, 4, "what is left is written when the node stops")
        XCTAssertEqual(archived(node).count, 100)
    }

    func testQuietNodeWritesNothing() throws {
        let node = NodeHarness()
        let link = try node.meet(author)
        node.receive(try author.message("once", at: node.now), on: link)
        node.advance(by: .seconds(600))
        XCTAssertEqual(node.batches.count, 1)
    }

    func testFramesAreArchivedAsReceived() throws {
        let node = NodeHarness()
        let link = try node.meet(author)
        let text = String(repeating: "compressible ", count: 30)
        let frame = try author.message(text, at: node.now, ttl: 4)
        XCTAssertTrue(frame.layout.isCompressed)
        node.receive(frame.bytes + [0, 0, 0], on: link)
        node.advance(by: .seconds(31))
        XCTAssertEqual(archived(node).first?.frame, frame.bytes)
    }

    func testMessageThatGrewOldIsOnlyRememberedAndThenForgotten() throws {
        let node = NodeHarness()
        let link = try node.meet(author)
        node.receive(try author.message("once", at: node.now), on: link)
        node.advance(by: .seconds(31))
        XCTAssertEqual(archived(node).map { $0.frame != nil }, [true])
        node.advance(by: .hours(6))
        XCTAssertEqual(archived(node).map { $0.frame != nil }, [false])
        node.advance(by: .minutes(11))
        XCTAssertTrue(archived(node).isEmpty)
        XCTAssertEqual(node.batches.count, 3)
    }

    // MARK: In

    func testRestartServesWhatWasSaidAndDeliversNoneOfItAgain() throws {
        let first = NodeHarness()
        let link = try first.meet(author)
        var frames: [Frame] = []
        for number in 0..<5 {
            frames.append(try author.message("\(number)", at: first.now, age: Int64(5 - number)))
            first.receive(frames[number], on: link)
        }
        first.advance(by: .seconds(31))
        let second = NodeHarness(seed: 3, identity: first.identity, history: archived(first))
        XCTAssertEqual(second.node.historyCount, 5)
        let authorLink = try second.meet(author)
        second.receive(frames[0], on: authorLink)
        second.advance(by: .seconds(2))
        second.receive(
            try author.message("4", at: second.now, age: 2_001, ttl: 0, isAnswer: true), on: authorLink)
        XCTAssertEqual(second.heard.map(\.text), ["4"], "another time makes it another message")
        var answer = frames[1]
        answer.setTTL(0)
        answer.setSyncResponse(true)
        second.receive(answer, on: authorLink)
        XCTAssertEqual(second.heard.count, 1)

        let link2 = try second.meet(asker)
        second.advance(by: .seconds(2))
        second.clearSent()
        second.receive(try asker.request(.message, to: second.me, at: second.now), on: link2)
        second.advance(by: .seconds(2))
        XCTAssertEqual(second.frames(.message).prefix(5).map(\.frame.id), frames.map(\.id), "in order of arrival")
    }

    func testHorizonOutlivesFrameAndRestart() throws {
        let now = GossipSamples.now
        let frame = try author.message("long gone", at: now, age: 2 * hour)
        let remembered = HistoryRecord(
            id: try XCTUnwrap(frame.id), timestamp: frame.timestamp, arrival: 0, frame: nil)
        let node = NodeHarness(history: [remembered])
        XCTAssertEqual(node.node.historyCount, 0)
        let link = try node.meet(author)
        node.advance(by: .seconds(2))
        var answer = frame
        answer.setTTL(0)
        answer.setSyncResponse(true)
        node.receive(answer, on: link)
        XCTAssertTrue(node.heard.isEmpty)
        XCTAssertEqual(node.drops(.duplicate), 1)
        node.receive(try author.message("news", at: node.now, age: hour, ttl: 0, isAnswer: true), on: link)
        XCTAssertEqual(node.heard.map(\.text), ["news"])
        let asked = try XCTUnwrap(node.requests().last?.request.filter.members())
        XCTAssertTrue(asked.contains(remembered.id), "and is named in filters")
    }

    func testRecordsAreCheckedAsIfAStrangerHadWrittenThem() throws {
        let now = GossipSamples.now
        let good = try author.message("good", at: now, age: hour)
        var forged = try author.message("forged", at: now, age: hour).bytes
        forged[forged.count - 1] ^= 1
        let forgedFrame = try Frame(forged)
        let records = [
            try record(good),
            try record(forgedFrame),
            try record(author.message("ahead", at: now, age: -121_000)),
            try record(author.message("stale", at: now, age: 6 * hour + 700_000)),
            try record(author.frame(.groupMessage, [1], at: now)),
            try record(author.frame(.message, [1], at: now, recipient: PeerID(value: 4))),
            HistoryRecord(id: PacketID(high: 1, low: 1), timestamp: good.timestamp, arrival: 1, frame: good.bytes),
            HistoryRecord(id: PacketID(high: 1, low: 2), timestamp: now.wall, arrival: 1, frame: [1, 2, 3]),
        ]
        let node = NodeHarness(seed: 2)
        node.call { mesh, now in
            mesh.restore([
                IdentityRecord(
                    noiseKey: self.author.identity.noise.publicKey,
                    signingKey: self.author.identity.signing.publicKey, nickname: "a")
            ])
            mesh.restoreHistory(records, at: now)
        }
        XCTAssertEqual(node.node.historyCount, 1)
        XCTAssertEqual(node.drops(.historyRefused), 6)
        node.advance(by: .seconds(31))
        XCTAssertEqual(
            Set(node.batches.flatMap(\.batch.deletes)), Set(records.dropFirst().map(\.id)),
            "what is of no use does not stay in the archive")
    }

    func testRestoredMessageOfAnUnknownAuthorIsKeptForThoseWhoKnowIt() throws {
        let frame = try author.message("who was that", at: GossipSamples.now, age: hour)
        let node = NodeHarness(history: [try record(frame)])
        XCTAssertEqual(node.node.historyCount, 1)
        XCTAssertTrue(node.heard.isEmpty)
    }

    func testMessageThatAgedWhileTheBoxWasOffIsStillRemembered() throws {
        let frame = try author.message("old", at: GossipSamples.now, age: 6 * hour + 60_000)
        let node = NodeHarness(history: [try record(frame)])
        XCTAssertEqual(node.node.historyCount, 0)
        node.advance(by: .seconds(31))
        XCTAssertEqual(node.batches.first?.batch.puts.map(\.frame), [nil])
    }

    func testLoadingWaitsForTheClock() throws {
        let frame = try author.message("early", at: GossipSamples.now, age: hour)
        let node = NodeHarness(isClockTrusted: false, history: [try record(frame)])
        // As a Pi boots: the clock is years behind, and everything archived lies ahead of it.
        let right = node.now.wall
        node.setWall(WallTime(milliseconds: 1_500_000_000_000))
        node.advance(by: .seconds(100))
        XCTAssertEqual(node.node.historyCount, 0)
        XCTAssertTrue(node.batches.isEmpty, "and nothing is deleted meanwhile")
        node.setWall(right)
        node.call { $0.setClockTrusted(true, at: $1) }
        XCTAssertEqual(node.node.historyCount, 1)
    }

    func testArrivalsGoOnCountingOverARestart() throws {
        let old = try author.message("old", at: GossipSamples.now, age: hour)
        let node = NodeHarness(history: [try record(old, arrival: 41)])
        let link = try node.meet(author)
        node.receive(try author.message("new", at: node.now), on: link)
        node.advance(by: .seconds(31))
        XCTAssertEqual(node.batches.flatMap(\.batch.puts).map(\.arrival), [42])
    }

    // MARK: Operator

    func testWhatABlockedSenderSaidLeavesTheArchiveAtOnceAndDoesNotComeBack() throws {
        let node = NodeHarness()
        let link = try node.meet(author)
        let frame = try author.message("gone", at: node.now)
        node.receive(frame, on: link)
        node.advance(by: .seconds(31))
        node.call { $0.dropHistory(of: self.author.id, at: $1) }
        XCTAssertEqual(node.node.historyCount, 0)
        XCTAssertEqual(archived(node).map(\.frame), [nil])
        node.advance(by: .seconds(400))
        node.receive(try author.announce(at: node.now), on: link)
        node.advance(by: .seconds(2))
        var answer = frame
        answer.setTTL(0)
        answer.setSyncResponse(true)
        node.receive(answer, on: link)
        XCTAssertEqual(node.node.historyCount, 0)
        XCTAssertEqual(node.heard.count, 1)
    }

    func testBlockedSenderLosesOnlyItsMessages() throws {
        let node = NodeHarness()
        let link = try node.meet(author)
        let other = try node.meet(asker)
        node.receive(try author.message("a", at: node.now), on: link)
        node.receive(try asker.message("b", at: node.now), on: other)
        node.call { $0.dropHistory(of: self.author.id, at: $1) }
        XCTAssertEqual(node.node.historyCount, 1)
        XCTAssertEqual(node.batches.count, 1)
    }
}
