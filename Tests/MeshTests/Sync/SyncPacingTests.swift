import Basics
import Wire
import XCTest

@testable import Mesh

/// Chapter 04 §7.3: what was served, what waits to be, and how often anything is asked.
final class SyncPacingTests: XCTestCase {
    private let peer = PeerID(value: 1)
    private let link = LinkID(value: 1)
    private let now = Instant.zero + .hours(1)

    private func id(_ number: Int) -> PacketID { PacketID(high: 1, low: UInt64(number)) }

    // MARK: Served

    func testPausesGrowToTenMinutesAndStayThere() {
        var memory = ServedMemory(at: now)
        var at = now
        XCTAssertTrue(memory.allows(id(1), at: at))
        for pause in [30, 120, 600, 600, 600] {
            memory.note(id(1), at: at)
            XCTAssertFalse(memory.allows(id(1), at: at + .seconds(pause) - .milliseconds(1_001)))
            at = at + .seconds(pause)
            XCTAssertTrue(memory.allows(id(1), at: at))
        }
        XCTAssertTrue(memory.allows(id(2), at: now))
    }

    func testWhatThePeerHardlyTakesWaitsLongestAtOnce() {
        var memory = ServedMemory(at: now)
        memory.note(id(1), isUnlikely: true, at: now)
        XCTAssertFalse(memory.allows(id(1), at: now + .seconds(598)))
        XCTAssertTrue(memory.allows(id(1), at: now + .seconds(600)))
    }

    func testMemoryIsBoundAndForgetsWhatItServedFirst() {
        var memory = ServedMemory(at: now)
        for number in 0...SyncLimits.servedPerPeer { memory.note(id(number), at: now) }
        XCTAssertEqual(memory.count, 4_096)
        XCTAssertTrue(memory.allows(id(0), at: now))
        XCTAssertFalse(memory.allows(id(1), at: now))
    }

    func testMemoriesOfPeersAreBoundAndTheIdleOneGoes() {
        var served = ServedPeers()
        for number in 0..<65 {
            served.note(id(1), for: PeerID(value: UInt64(number)), at: now + .milliseconds(number == 3 ? -1 : number))
        }
        XCTAssertEqual(served.count, 64)
        XCTAssertTrue(served.allows(id(1), for: PeerID(value: 3), at: now))
        XCTAssertFalse(served.allows(id(1), for: PeerID(value: 0), at: now))
        served.forget(PeerID(value: 0))
        XCTAssertTrue(served.allows(id(1), for: PeerID(value: 0), at: now))
    }

    // MARK: Waiting

    private func items(_ numbers: Range<Int>, _ type: MessageType = .message) -> [PacedAnswers.Item] {
        numbers.map { PacedAnswers.Item(type: type, id: id($0), requested: now, knowsTypes: true) }
    }

    func testNewerRequestReplacesWhatIsLeftOfItsFamilies() {
        var answers = PacedAnswers()
        _ = answers.add(items(0..<3) + items(10..<12, .fragment), to: peer, on: link, superseding: .message, at: now)
        _ = answers.takeItem(on: link, at: now)
        _ = answers.add(items(5..<6), to: peer, on: link, superseding: [.announce, .message], at: now)
        var left: [PacketID] = []
        while let item = answers.takeItem(on: link, at: now) { left.append(item.id) }
        XCTAssertEqual(left, [id(10), id(11), id(5)])
        XCTAssertEqual(answers.waiting, 0)
    }

    func testRequestForNamedStreamsAddsToWhatIsUnderWay() {
        var answers = PacedAnswers()
        _ = answers.add(items(0..<2, .fragment), to: peer, on: link, superseding: .fragment, at: now)
        _ = answers.add(items(2..<3, .fragment), to: peer, on: link, superseding: nil, at: now)
        XCTAssertEqual(answers.waiting, 3)
    }

    func testAnswerOnAnotherLinkOfThePeerSupersedesTheFirst() {
        var answers = PacedAnswers()
        _ = answers.add(items(0..<5), to: peer, on: link, superseding: .message, at: now)
        _ = answers.add(items(0..<5), to: peer, on: LinkID(value: 2), superseding: .message, at: now)
        XCTAssertEqual(answers.waiting, 5)
        XCTAssertNil(answers.peer(on: link))
    }

    func testBacklogIsBoundALinkAndInAll() {
        var answers = PacedAnswers()
        XCTAssertEqual(answers.add(items(0..<5_000), to: peer, on: link, superseding: nil, at: now), 904)
        var refused = 0
        for number in 2..<12 {
            let other = UInt64(number)
            refused += answers.add(
                items(0..<4_096), to: PeerID(value: other), on: LinkID(value: other), superseding: nil, at: now)
        }
        XCTAssertEqual(answers.waiting, 32_768)
        XCTAssertEqual(refused, 3 * 4_096)
        for number in 1..<12 { answers.end(LinkID(value: UInt64(number))) }
        XCTAssertEqual(answers.waiting, 0)
        XCTAssertNil(answers.nextDeadline)
    }

    func testNothingIsTakenAfterItsDeadline() {
        var answers = PacedAnswers()
        _ = answers.add(items(0..<2), to: peer, on: link, superseding: nil, at: now)
        XCTAssertNotNil(answers.takeItem(on: link, at: now + .seconds(30)))
        XCTAssertNil(answers.takeItem(on: link, at: now + .milliseconds(30_001)))
        XCTAssertEqual(answers.waiting, 0)
    }

    // MARK: Asking

    func testRateCountsAnEntryOfExactlyThirtySeconds() {
        var rate = SyncRateLimit(limit: 8, window: .seconds(30))
        for second in 0..<8 { XCTAssertTrue(rate.take(peer, at: now + .seconds(second))) }
        XCTAssertFalse(rate.take(peer, at: now + .seconds(30)))
        XCTAssertTrue(rate.take(peer, at: now + .milliseconds(30_001)), "refusals left no trace")
        XCTAssertTrue(rate.take(PeerID(value: 2), at: now + .seconds(30)))
    }

    func testRateTableIsBound() {
        var rate = SyncRateLimit(limit: 8, window: .seconds(30))
        for number in 0..<MeshLimits.peerCapacity { XCTAssertTrue(rate.take(PeerID(value: UInt64(number)), at: now)) }
        XCTAssertFalse(rate.take(PeerID(value: 99_999), at: now))
        XCTAssertTrue(rate.take(PeerID(value: 99_999), at: now + .seconds(31)))
    }

    func testRoundsRunAtTheirIntervalsAndAreSpread() {
        let schedule = SyncSchedule()
        schedule.start(at: now)
        var runs: [SyncRound: [Int64]] = [:]
        var at = now
        while at < now + .seconds(200) {
            at = schedule.nextDeadline
            _ = schedule.takeTick(at: at, rounds: SyncRound.allCases)
            while let round = schedule.takeRound(at: at) { runs[round, default: []].append((at - now).milliseconds) }
        }
        XCTAssertEqual(runs[.history]?.prefix(3), [30_000, 60_000, 90_000])
        XCTAssertEqual(runs[.fragments]?.prefix(3), [33_000, 63_000, 93_000])
        XCTAssertEqual(runs[.files]?.prefix(2), [36_000, 96_000])
        XCTAssertEqual(runs[.prekeys]?.prefix(2), [39_000, 99_000])
        XCTAssertEqual(runs[.board]?.prefix(2), [42_000, 102_000])
    }

    func testTimerThatFiresLateSkipsNoRound() {
        let schedule = SyncSchedule()
        schedule.start(at: now)
        for lateness in [0, 900, 0, 700, 0] {
            let at = schedule.nextDeadline + .milliseconds(lateness)
            XCTAssertTrue(schedule.takeTick(at: at, rounds: [.fragments]))
            XCTAssertEqual(schedule.takeRound(at: at), .fragments)
        }
    }

    func testLoopThatWasHeldUpMakesUpNoTicks() {
        let schedule = SyncSchedule()
        schedule.start(at: now)
        XCTAssertTrue(schedule.takeTick(at: now + .seconds(200), rounds: [.history]))
        XCTAssertFalse(schedule.takeTick(at: now + .seconds(201), rounds: [.history]))
        XCTAssertEqual(schedule.nextDeadline, now + .seconds(200), "the round that is due")
    }
}
