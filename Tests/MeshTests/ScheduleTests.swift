import Basics
import Wire
import XCTest

@testable import Mesh

final class ScheduleTests: XCTestCase {
    private let now = Instant.zero + .hours(1)

    private func after(_ milliseconds: Int) -> Instant { now + .milliseconds(milliseconds) }

    // MARK: Relays (B6)

    func testRelayScheduleRefusesTheNewestBeyondItsBound() {
        let relays = RelaySchedule<Int, String>()
        for key in 0..<MeshLimits.pendingRelayCapacity {
            XCTAssertTrue(relays.add(key, "", heardOn: LinkID(value: UInt64(key % 8)), due: after(50)))
        }
        XCTAssertFalse(relays.add(-1, "", heardOn: LinkID(value: 0), due: after(10)))
        XCTAssertEqual(relays.takeDue(at: after(50))?.key, 0)
        XCTAssertTrue(relays.add(-1, "", heardOn: LinkID(value: 0), due: after(60)))
    }

    func testCopiesAreNotedUntilTheRelayFires() {
        let relays = RelaySchedule<Int, String>()
        _ = relays.add(1, "load", heardOn: LinkID(value: 1), due: after(50))
        XCTAssertNil(relays.noteCopy(of: 2, on: LinkID(value: 2)))
        XCTAssertEqual(relays.noteCopy(of: 1, on: LinkID(value: 2)), 2)
        XCTAssertEqual(relays.noteCopy(of: 1, on: LinkID(value: 2)), 2)
        XCTAssertEqual(relays[1]?.heardOn, [1, 2].map { LinkID(value: $0) })
        XCTAssertNil(relays.takeDue(at: after(49)))
        XCTAssertEqual(relays.takeDue(at: after(50))?.heardOn, [1, 2].map { LinkID(value: $0) })
        XCTAssertNil(relays.noteCopy(of: 1, on: LinkID(value: 3)))
    }

    func testCancelledRelayDoesNotFireAndItsKeyIsFreeAgain() {
        let relays = RelaySchedule<Int, String>()
        _ = relays.add(1, "first", heardOn: LinkID(value: 1), due: after(50))
        relays.cancel(1)
        XCTAssertTrue(relays.add(1, "second", heardOn: LinkID(value: 1), due: after(70)))
        XCTAssertNil(relays.takeDue(at: after(60)))
        XCTAssertEqual(relays.takeDue(at: after(70))?.load, "second")
        XCTAssertNil(relays.takeDue(at: after(999)))
    }

    // MARK: Announces (B10.2, B10.3)

    private func isDue(
        _ schedule: AnnounceSchedule, degree: Int, traffic: Bool = false, after milliseconds: Int, seed: UInt64 = 1
    ) -> Bool {
        var random = SeededRandom(seed: seed)
        return schedule.isDueAtTick(degree: degree, hasTraffic: traffic, at: after(milliseconds), using: &random)
    }

    func testAnnouncesAreSpaced() {
        var schedule = AnnounceSchedule()
        XCTAssertTrue(schedule.admit(forced: true, at: after(0)))
        XCTAssertFalse(schedule.admit(forced: true, at: after(149)))
        XCTAssertFalse(schedule.admit(forced: false, at: after(999)))
        XCTAssertTrue(schedule.admit(forced: true, at: after(150)))
        XCTAssertTrue(schedule.admit(forced: false, at: after(1_150)))
    }

    func testIsolatedNodeAnnouncesEveryFourSeconds() {
        var schedule = AnnounceSchedule()
        XCTAssertTrue(isDue(schedule, degree: 0, after: 0), "never announced")
        _ = schedule.admit(forced: false, at: after(0))
        XCTAssertFalse(isDue(schedule, degree: 0, after: 3_999))
        XCTAssertTrue(isDue(schedule, degree: 0, after: 4_000))
    }

    func testTrafficShortensTheIntervalToTenSeconds() {
        var schedule = AnnounceSchedule()
        _ = schedule.admit(forced: false, at: after(0))
        XCTAssertFalse(isDue(schedule, degree: 3, traffic: true, after: 9_999))
        XCTAssertTrue(isDue(schedule, degree: 3, traffic: true, after: 10_000))
        XCTAssertTrue(isDue(schedule, degree: 9, traffic: true, after: 10_000))
    }

    func testSparseAndDenseIntervalsAreJittered() {
        var schedule = AnnounceSchedule()
        _ = schedule.admit(forced: false, at: after(0))
        func share(degree: Int, after milliseconds: Int) -> Int {
            (0..<200).filter { isDue(schedule, degree: degree, after: milliseconds, seed: UInt64($0)) }.count
        }
        XCTAssertEqual(share(degree: 5, after: 10_999), 0)
        XCTAssertEqual(share(degree: 5, after: 19_000), 200)
        XCTAssertTrue((60...140).contains(share(degree: 5, after: 15_000)))
        XCTAssertEqual(share(degree: 6, after: 21_999), 0)
        XCTAssertEqual(share(degree: 6, after: 38_000), 200)
        XCTAssertTrue((60...140).contains(share(degree: 6, after: 30_000)))
    }

    func testRequestedAnnouncesAreBoundedAndTakenTogether() {
        var schedule = AnnounceSchedule()
        for _ in 0..<1_000 { schedule.request(due: after(400)) }
        XCTAssertFalse(schedule.takeDue(at: after(399)))
        XCTAssertTrue(schedule.takeDue(at: after(400)))
        XCTAssertNil(schedule.nextDeadline)
    }

    // MARK: First contact (A9)

    func testReconnectingNeighbourIsAnsweredEverMoreSeldom() {
        var limiter = SubscriptionLimiter()
        XCTAssertEqual(limiter.admit(neighbour: 1, at: after(0)), .announce)
        XCTAssertEqual(limiter.admit(neighbour: 1, at: after(1_999)), .flushOnly)
        // The back-off doubled to 4 s from that attempt on.
        XCTAssertEqual(limiter.admit(neighbour: 1, at: after(5_998)), .flushOnly)
        XCTAssertEqual(limiter.admit(neighbour: 1, at: after(6_000)), .flushOnly)
        XCTAssertEqual(limiter.admit(neighbour: 1, at: after(6_001)), .silence, "the fifth attempt")
        XCTAssertEqual(limiter.admit(neighbour: 2, at: after(6_001)), .announce)
        XCTAssertEqual(limiter.admit(neighbour: 1, at: after(36_001)), .announce, "back-off ends at 30 s")
    }

    func testChangingAddressesDoNotDrawAnnouncesWithoutEnd() {
        var limiter = SubscriptionLimiter()
        let answers = (0..<5_000).map { limiter.admit(neighbour: UInt64($0), at: after(0)) }
        XCTAssertEqual(answers.filter { $0 == .announce }.count, 16)
    }

    // MARK: Maintenance (B17)

    func testTickRunsEveryFiveSecondsAndCountsToSix() {
        var clock = MaintenanceClock()
        clock.start(at: now)
        XCTAssertFalse(clock.takeTick(at: after(4_999)))
        var cycles: [Int] = []
        var cleanups: [Int] = []
        var flushes: [Int] = []
        for tick in 1...7 {
            XCTAssertTrue(clock.takeTick(at: after(5_000 * tick)))
            cycles.append(clock.cycle)
            if clock.isCleanup { cleanups.append(clock.cycle) }
            if clock.isFlush { flushes.append(clock.cycle) }
        }
        XCTAssertEqual(cycles, [1, 2, 3, 4, 5, 6, 1])
        XCTAssertEqual(cleanups, [3, 6])
        XCTAssertEqual(flushes, [1, 3, 5, 1])
    }

    func testHeldUpLoopMakesUpNoTicks() {
        var clock = MaintenanceClock()
        clock.start(at: now)
        XCTAssertTrue(clock.takeTick(at: after(60_000)))
        XCTAssertFalse(clock.takeTick(at: after(60_001)))
        XCTAssertTrue(clock.takeTick(at: after(65_000)))
    }

    func testTrafficMonitorForgetsAfterItsWindowAndKeepsAHundred() {
        var traffic = TrafficMonitor()
        for index in 0..<500 { traffic.note(at: after(index)) }
        XCTAssertTrue(traffic.hasTraffic(within: .seconds(5), at: after(5_499)))
        XCTAssertFalse(traffic.hasTraffic(within: .seconds(5), at: after(5_500)))
        XCTAssertFalse(traffic.hasTraffic(within: .hours(1), at: after(30_500)))
    }
}
