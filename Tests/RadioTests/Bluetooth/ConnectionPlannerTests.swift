import Basics
import XCTest

@testable import Radio

/// Chapter 03 A5, by its numbers.
final class ConnectionPlannerTests: XCTestCase {
    private var planner = ConnectionPlanner()
    private var random = SeededRandom(seed: 1)
    /// Draws no jitter.
    private var still = Least()

    private struct Least: RandomNumberGenerator { mutating func next() -> UInt64 { 1 } }
    private var situation = ConnectionPlanner.Situation(open: [0: 0], linked: [])

    private func at(_ milliseconds: Int) -> Instant { .zero + .milliseconds(milliseconds) }
    private func address(_ number: UInt64) -> BluetoothAddress { BluetoothAddress(value: number, kind: .random) }

    private func hear(
        _ number: UInt64, _ rssi: Int8?, on adapter: UInt16 = 0, at milliseconds: Int
    ) -> ConnectionPlanner.Step {
        planner.heard(Sighting(address: address(number), rssi: rssi), on: adapter, in: situation, at: at(milliseconds))
    }

    private func next(at milliseconds: Int) -> ConnectionPlanner.Step {
        planner.next(in: situation, at: at(milliseconds))
    }

    private func call(_ number: UInt64, _ adapter: UInt16 = 0) -> ConnectionPlanner.Step {
        .connect(address(number), adapter: adapter)
    }

    func testThresholdFollowsLinksSlotsAndLoneliness() {
        let table: [(alone: Int?, saturated: Bool, at: Int, threshold: Int)] = [
            (0, false, 30_000, -95), (0, false, 30_001, -100), (0, true, 40_000, -100), (nil, false, 40_000, -90),
            (nil, true, 40_000, -85),
        ]
        for row in table {
            planner.retune(aloneSince: row.alone.map(at), isSaturated: row.saturated, at: at(row.at))
            XCTAssertEqual(planner.threshold, row.threshold, "\(row)")
        }
    }

    func testFullQueueRaisesTheThreshold() {
        situation.open = [:]
        for number in 1...100 { XCTAssertEqual(hear(UInt64(number), -60, at: number), .nothing) }
        planner.retune(aloneSince: nil, isSaturated: false, at: at(200))
        XCTAssertEqual(planner.threshold, -85)
    }

    func testWeakNeighbourWaitsForTheTickAndIsCalledThen() {
        planner.retune(aloneSince: nil, isSaturated: false, at: at(0))
        XCTAssertEqual(hear(1, -90, at: 0), .nothing)
        XCTAssertEqual(hear(2, -89, at: 10), call(2))
        planner.succeeded(address(2))
        XCTAssertEqual(next(at: 5_000), call(1))
    }

    func testBoxAmongWeakNeighboursOnlyConnects() {
        planner.retune(aloneSince: nil, isSaturated: true, at: at(0))
        for number in 1...20 { XCTAssertEqual(hear(UInt64(number), -99, at: number), .nothing) }
        XCTAssertEqual(next(at: 5_000), call(20), "heard last of the equally weak")
    }

    func testNobodyIsCalledWithoutASlot() {
        situation.open = [:]
        XCTAssertEqual(hear(1, -50, at: 0), .nothing)
        XCTAssertEqual(next(at: 5_000), .nothing)
        situation.open = [0: 5]
        XCTAssertEqual(next(at: 5_100), call(1))
    }

    func testAttemptsToAnyoneAreHalfASecondApart() {
        XCTAssertEqual(hear(1, -50, at: 0), call(1))
        XCTAssertEqual(hear(2, -50, at: 499), .wait(until: at(550)))
        XCTAssertEqual(next(at: 499), .wait(until: at(550)))
        XCTAssertEqual(next(at: 550), call(2))
    }

    func testLinkedNeighbourIsNotCalled() {
        situation.linked = [address(1)]
        XCTAssertEqual(hear(1, -50, at: 0), .nothing)
        XCTAssertEqual(next(at: 5_000), .nothing)
        situation.linked = []
        XCTAssertEqual(next(at: 5_100), call(1))
    }

    func testSameNeighbourIsCalledAgainAfterTwoSeconds() {
        XCTAssertEqual(hear(1, -50, at: 0), call(1))
        XCTAssertEqual(hear(1, -50, at: 1_999), .wait(until: at(2_050)))
        XCTAssertEqual(hear(1, -50, at: 2_000), call(1))
    }

    func testTimeoutKeepsAwayForFifteenSeconds() {
        XCTAssertEqual(hear(1, -50, at: 0), call(1))
        planner.timedOut(address(1), at: at(8_000), using: &still)
        XCTAssertEqual(hear(1, -50, at: 22_999), .wait(until: at(23_050)))
        XCTAssertEqual(next(at: 22_999), .wait(until: at(23_050)))
        XCTAssertEqual(next(at: 23_050), call(1))
    }

    func testWeakNeighbourThatTimedOutWaitsThirtySeconds() {
        XCTAssertEqual(hear(1, -90, at: 0), call(1))
        planner.timedOut(address(1), at: at(8_000), using: &still)
        XCTAssertEqual(hear(1, -91, at: 9_000), .wait(until: at(23_050)))
        // 30 s after the timeout, asked again in 2 to 15 s.
        XCTAssertEqual(next(at: 10_000), .wait(until: at(25_000)))
        XCTAssertEqual(next(at: 25_000), .wait(until: at(38_000)))
        XCTAssertEqual(next(at: 37_500), .wait(until: at(39_500)))
        XCTAssertEqual(next(at: 38_000), call(1))
    }

    func testTimeoutsGetTwoCallersOutOfStep() {
        var gaps: Set<Int> = []
        for _ in 0..<8 {
            planner = ConnectionPlanner()
            XCTAssertEqual(hear(1, -50, at: 0), call(1))
            planner.timedOut(address(1), at: at(8_000), using: &random)
            var time = 8_000
            while next(at: time) != call(1) { time += 100 }
            gaps.insert(time - 8_000)
        }
        XCTAssertTrue(gaps.allSatisfy { (15_000...23_200).contains($0) }, "\(gaps)")
        XCTAssertGreaterThan((gaps.max() ?? 0) - (gaps.min() ?? 0), 2_000)
    }

    func testOneWhoWasNotKnownBeforeIsCalledAfterAMoment() {
        let sighting = Sighting(address: address(1), rssi: -50)
        func hear(at milliseconds: Int) -> ConnectionPlanner.Step {
            planner.heard(sighting, on: 0, in: situation, hesitation: .milliseconds(700), at: at(milliseconds))
        }
        XCTAssertEqual(hear(at: 0), .wait(until: at(750)))
        XCTAssertEqual(hear(at: 600), .wait(until: at(750)), "from when it was heard first")
        XCTAssertEqual(next(at: 750), call(1))
        planner.succeeded(address(1))
        XCTAssertEqual(hear(at: 60_000), call(1), "known now")
    }

    func testLinkThatWorkedAndEndedCostsThreeSecondsOnly() {
        XCTAssertEqual(hear(1, -50, at: 0), call(1))
        planner.succeeded(address(1))
        planner.ended(address(1), at: at(60_000))
        XCTAssertEqual(hear(1, -50, at: 62_999), .wait(until: at(63_050)))
        XCTAssertEqual(hear(1, -50, at: 63_000), call(1))
    }

    /// Three paced attempts, spread by chance, before the longer pause.
    func testFailingNeighbourGetsThreeQuickAttemptsThenALongerPause() {
        var time = 0
        var gaps: [Int] = []
        XCTAssertEqual(hear(1, -50, at: 0), call(1))
        for _ in 0..<5 {
            planner.failed(address(1), at: at(time), using: &random)
            let began = time
            // Without being heard again.
            while next(at: time) != call(1) { time += 50 }
            gaps.append(time - began)
            XCTAssertEqual(hear(1, -50, at: time), .wait(until: at(time + 550)))
        }
        XCTAssertTrue(gaps[..<2].allSatisfy { (3_000...4_100).contains($0) }, "\(gaps)")
        XCTAssertTrue(gaps[2...].allSatisfy { (15_000...16_100).contains($0) }, "\(gaps)")
        XCTAssertGreaterThan(Set(gaps).count, 2, "no two boxes fail in step")
    }

    func testScoreTakesSignalAgeFailuresAndTimeoutsIntoAccount() {
        // 2 points a dBm against 10 a second.
        situation.open = [:]
        _ = hear(1, -60, at: 0)
        _ = hear(2, -70, at: 1_900)
        situation.open = [0: 0]
        XCTAssertEqual(next(at: 2_000), call(1))
        planner = ConnectionPlanner()
        situation.open = [:]
        _ = hear(1, -60, at: 0)
        _ = hear(2, -70, at: 2_100)
        situation.open = [0: 0]
        XCTAssertEqual(next(at: 2_200), call(2))
    }

    func testFailuresCountAgainstANeighbour() {
        // min(20, 2^failures), 1 without any: one failure costs half a dBm more.
        XCTAssertEqual(hear(1, -60, at: 0), call(1))
        planner.failed(address(1), at: at(0), using: &random)
        situation.open = [:]
        _ = hear(1, -60, at: 6_000)
        _ = hear(2, -60, at: 6_000)
        situation.open = [0: 0]
        XCTAssertEqual(next(at: 6_100), call(2))
    }

    func testOverflowDropsTheWeakest() {
        situation.open = [:]
        for number in 1...101 { _ = hear(UInt64(number), Int8(-30 - (number % 60)), at: number) }
        XCTAssertEqual(planner.waiting, 100)
        // −89: number 59 was heard first of the weakest and the only one.
        situation.open = [0: 0]
        var called: [BluetoothAddress] = []
        var time = 200
        while case .connect(let address, _) = next(at: time) {
            called.append(address)
            time += 500
        }
        XCTAssertEqual(called.count, 100)
        XCTAssertFalse(called.contains(address(59)))
    }

    func testWhoWasHeardAMinuteAgoIsGone() {
        situation.open = [:]
        _ = hear(1, -50, at: 0)
        situation.open = [0: 0]
        XCTAssertEqual(next(at: 60_001), .nothing)
        XCTAssertEqual(planner.waiting, 0)
    }

    func testNeighbourWithoutTheServiceIsIgnoredForAQuarterOfAnHour() {
        XCTAssertEqual(hear(1, -50, at: 0), call(1))
        planner.leaveAlone(address(1), for: BluetoothLimits.ignoring, at: at(1_000))
        XCTAssertEqual(hear(1, -40, at: 600_000), .nothing)
        XCTAssertEqual(planner.waiting, 0)
        XCTAssertEqual(hear(1, -40, at: 901_000), call(1))
    }

    func testNeighbourHeardByTwoAdaptersIsCalledThroughTheBetter() {
        situation.open = [:]
        _ = hear(1, -70, on: 0, at: 0)
        _ = hear(1, -60, on: 1, at: 10)
        situation.open = [0: 0, 1: 3]
        XCTAssertEqual(next(at: 20), call(1, 1))
        // The better one is full.
        situation.open = [:]
        _ = hear(2, -70, on: 0, at: 30)
        _ = hear(2, -60, on: 1, at: 40)
        situation.open = [0: 0]
        XCTAssertEqual(next(at: 600), call(2, 0))
        // Equally good: the emptier one.
        situation.open = [:]
        _ = hear(3, -60, on: 0, at: 700)
        _ = hear(3, -60, on: 1, at: 700)
        situation.open = [0: 2, 1: 1]
        XCTAssertEqual(next(at: 1_200), call(3, 1))
    }

    func testWhatALostAdapterHeardIsForgotten() {
        situation.open = [:]
        _ = hear(1, -50, on: 1, at: 0)
        _ = hear(2, -50, on: 1, at: 0)
        _ = hear(2, -60, on: 0, at: 0)
        planner.forget(adapter: 1)
        situation.open = [0: 0, 1: 0]
        XCTAssertEqual(next(at: 10), call(2, 0))
        XCTAssertEqual(planner.waiting, 0)
    }

    func testUnknownSignalCountsAsMiddling() {
        planner.retune(aloneSince: nil, isSaturated: true, at: at(0))
        XCTAssertEqual(hear(1, nil, at: 0), call(1))
    }

    func testFloodOfAddressesLeavesBoundedTraces() {
        for number in 0..<3_000 {
            let time = number * 500
            if case .connect(let address, _) = hear(UInt64(number), -50, at: time) {
                planner.leaveAlone(address, for: BluetoothLimits.ignoring, at: at(time))
            }
        }
        XCTAssertLessThanOrEqual(planner.waiting, BluetoothLimits.candidates)
    }
}

final class LearnedLimitTests: XCTestCase {
    func testRefusalLowersTheLimitAndTimeRaisesItAgain() {
        var limit = LearnedLimit(configured: 8)
        XCTAssertEqual(limit.current(at: .zero), 8)
        limit.refused(holding: 0, at: .zero)
        XCTAssertEqual(limit.current(at: .zero), 8, "a controller without links is out of something else")
        limit.refused(holding: 5, at: .zero)
        XCTAssertEqual(limit.current(at: .zero + .seconds(899)), 5)
        XCTAssertEqual(limit.current(at: .zero + .seconds(900)), 6)
        limit.refused(holding: 5, at: .zero + .seconds(901))
        XCTAssertEqual(limit.current(at: .zero + .seconds(1_800)), 5)
        XCTAssertEqual(limit.current(at: .zero + .seconds(901 + 3 * 900)), 8)
        XCTAssertEqual(limit.current(at: .distantFuture), 8)
    }
}
