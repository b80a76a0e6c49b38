import Basics
import Wire
import XCTest

@testable import Mesh

/// Chapter 04 §8, traps T5, T10, T11.
final class SyncAcceptanceTests: XCTestCase {
    private let now = GossipSamples.now.wall
    private let everything = SyncRequestLog.answerable

    private func judge(
        _ type: MessageType = .message, age: Int64 = 3_600_000, ttl: UInt8 = 0, flagged: Bool = true,
        directed: Bool = false, asked: SyncTypes? = nil
    ) -> SyncAcceptance.Verdict {
        let claim = SyncAcceptance.Claim(
            type: type, ttl: ttl, isFlagged: flagged,
            timestamp: WallTime(milliseconds: UInt64(Int64(now.milliseconds) - age)), isDirected: directed)
        return SyncAcceptance.judge(claim, asked: asked ?? everything, now: now)
    }

    func testUnflaggedPacketsAreHeldToTheClock() {
        for sign: Int64 in [-1, 1] {
            XCTAssertEqual(judge(age: sign * 120_000, ttl: 7, flagged: false), .live)
            XCTAssertEqual(judge(age: sign * 120_001, ttl: 7, flagged: false), .refused(.clockSkew))
        }
        let epoch = SyncAcceptance.Claim(
            type: .message, ttl: 7, isFlagged: false, timestamp: WallTime(milliseconds: .max), isDirected: false)
        XCTAssertEqual(
            SyncAcceptance.judge(epoch, asked: [], now: WallTime(milliseconds: 0)), .refused(.clockSkew))
    }

    func testOnlyTypesThatSyncCarriesMayBeAnswers() {
        let carried: [MessageType] = [
            .announce, .message, .fragment, .fileTransfer, .boardPost, .prekeyBundle, .groupMessage,
        ]
        for raw in UInt8.min...UInt8.max {
            let type = MessageType(rawValue: raw)
            let expected: SyncAcceptance.Verdict =
                carried.contains(type) ? .answer : .refused(.syncAnswerRefused)
            XCTAssertEqual(judge(type, age: 1_000), expected, "type \(raw)")
        }
        XCTAssertEqual(judge(.leave), .refused(.syncAnswerRefused))
    }

    func testAnswerHasTTLZero() {
        for ttl: UInt8 in [1, 3, 7, 255] { XCTAssertEqual(judge(ttl: ttl), .refused(.syncAnswerRefused)) }
    }

    func testTypeMustHaveBeenAskedForAndFragmentsMayCarryAnything() {
        XCTAssertEqual(judge(.message, asked: [.announce, .groupMessage]), .refused(.unaskedSyncAnswer))
        XCTAssertEqual(judge(.message, asked: []), .refused(.unaskedSyncAnswer))
        XCTAssertEqual(judge(.fragment, age: 1_000, asked: .message), .answer)
        XCTAssertEqual(judge(.fragment, age: 1_000, asked: []), .refused(.unaskedSyncAnswer))
    }

    func testAgesAreThoseOfTheStore() {
        let ages: [(MessageType, Int64)] = [
            (.announce, 900_000), (.message, 21_600_000), (.fragment, 900_000), (.fileTransfer, 900_000),
            (.groupMessage, 21_600_000), (.prekeyBundle, 86_400_000),
        ]
        for (type, age) in ages {
            XCTAssertEqual(judge(type, age: age), .answer, "\(type)")
            XCTAssertEqual(judge(type, age: age + 1), .refused(.stale), "\(type)")
        }
        XCTAssertEqual(judge(.boardPost, age: 7 * 86_400_000), .answer)
        XCTAssertEqual(judge(.fragment, age: 21_600_000, directed: true), .answer, "as old as what it carries")
    }

    func testNothingFromTheFutureWhateverItsFlag() {
        XCTAssertEqual(judge(age: -120_000), .answer)
        XCTAssertEqual(judge(age: -120_001), .refused(.clockSkew))
        XCTAssertEqual(judge(.fragment, age: -120_001, directed: true), .refused(.clockSkew))
        XCTAssertEqual(judge(age: -120_001, flagged: false), .refused(.clockSkew))
    }

    func testUnflaggedAnswersAreAnnouncesAndMessagesOfThoseWeAsked() {
        XCTAssertEqual(judge(.message, age: 21_600_000, flagged: false), .answer)
        XCTAssertEqual(judge(.message, age: 21_600_001, flagged: false), .refused(.clockSkew))
        XCTAssertEqual(judge(.announce, age: 600_000, flagged: false), .answer)
        XCTAssertEqual(judge(.announce, age: 600_001, flagged: false), .refused(.clockSkew))
        XCTAssertEqual(judge(.message, ttl: 1, flagged: false), .refused(.clockSkew))
        XCTAssertEqual(judge(.message, flagged: false, asked: .announce), .refused(.clockSkew))
        for type: MessageType in [.fragment, .fileTransfer, .boardPost, .prekeyBundle, .groupMessage, .leave] {
            XCTAssertEqual(judge(type, flagged: false), .refused(.clockSkew), "\(type)")
        }
        XCTAssertEqual(judge(.message, age: 1_000, flagged: false), .live, "Android relays with TTL 0 too")
    }

    // MARK: The log

    func testLogRemembersForEachTypeWhenItWasAskedFor() {
        var log = SyncRequestLog()
        let peer = PeerID(value: 1)
        log.noteRequest(to: peer, types: [.announce, .message], at: .zero)
        log.noteRequest(to: peer, types: .fragment, at: .zero + .seconds(20))
        XCTAssertEqual(log.open(for: peer, at: .zero + .seconds(30)), [.announce, .message, .fragment])
        XCTAssertEqual(log.open(for: peer, at: .zero + .milliseconds(30_001)), .fragment)
        XCTAssertEqual(log.open(for: PeerID(value: 2), at: .zero), [])
        log.prune(at: .zero + .milliseconds(50_001))
        XCTAssertTrue(log.open(for: peer, at: .zero + .seconds(50)).isEmpty)
    }
}
