import Basics
import XCTest

final class RecentSetTests: XCTestCase {
    private let life: UInt64 = 1_000

    private func time(_ milliseconds: UInt64) -> WallTime { WallTime(milliseconds: 1_800_000_000_000 + milliseconds) }

    func testAnElementIsRememberedForItsLifeAndThenTakenAnew() {
        var recent = RecentSet<Int>(capacity: 3, life: life)
        XCTAssertTrue(recent.insert(1, at: time(0)))
        XCTAssertFalse(recent.insert(1, at: time(life - 1)))
        XCTAssertFalse(recent.contains(1, at: time(life)))
        XCTAssertTrue(recent.insert(1, at: time(life)))
        XCTAssertTrue(recent.contains(1, at: time(2 * life - 1)))
    }

    func testAClockThatGoesWrongForAWhileMakesNothingForgotten() {
        var recent = RecentSet<Int>(capacity: 3, life: life)
        recent.insert(1, at: time(0))
        recent.insert(2, at: time(1_000 * life))
        XCTAssertTrue(recent.contains(1, at: time(10)))
        var restored = RecentSet<Int>(capacity: 3, life: life)
        restored.restore([(1, at: time(0)), (2, at: time(1_000 * life))])
        XCTAssertTrue(restored.contains(1, at: time(10)))
    }

    func testTheOldestGoesPastTheCapacityAndWhatWasRememberedAnewStays() {
        var recent = RecentSet<Int>(capacity: 3, life: life)
        recent.insert(1, at: time(0))
        recent.insert(1, at: time(life))
        recent.insert(2, at: time(life))
        recent.insert(3, at: time(life))
        XCTAssertTrue(recent.contains(1, at: time(life)))
        XCTAssertEqual(recent.count, 3)
        recent.insert(4, at: time(life))
        XCTAssertFalse(recent.contains(1, at: time(life)))
        XCTAssertEqual(recent.count, 3)
    }
}
