import Basics
import XCTest

@testable import Mesh

final class ExpiringTableTests: XCTestCase {
    private let start = Instant.zero

    private func at(_ seconds: Int) -> Instant { start + .seconds(seconds) }

    func testLookingUpOrInsertingAgainDoesNotRefreshTheAge() {
        var table = ExpiringTable<Int, String>(capacity: 8, lifetime: .seconds(10))
        XCTAssertTrue(table.insert(1, "first", at: at(0)))
        XCTAssertFalse(table.insert(1, "second", at: at(9)))
        XCTAssertEqual(table.value(of: 1, at: at(10)), "first")
        XCTAssertNil(table.value(of: 1, at: at(10) + .milliseconds(1)))
        XCTAssertTrue(table.insert(1, "third", at: at(11)))
        XCTAssertEqual(table.earlyEvictions, 0)
    }

    /// The reference's numbers: 1000 entries, trimmed to 750, oldest first (chapter 03 B4).
    func testOverflowTrimsTheOldest() {
        var table = ExpiringTable<Int, Void>(
            capacity: 1_000, trimTarget: 750, lifetime: MeshLimits.duplicateLifetime)
        for key in 0..<1_000 { table.insert(key, (), at: at(0)) }
        XCTAssertEqual(table.count, 1_000)
        table.insert(1_000, (), at: at(1))
        XCTAssertEqual(table.count, 751)
        XCTAssertEqual(table.earlyEvictions, 250)
        XCTAssertFalse(table.contains(249, at: at(1)))
        XCTAssertTrue(table.contains(250, at: at(1)))
        XCTAssertTrue(table.contains(1_000, at: at(300)))
        XCTAssertFalse(table.contains(250, at: at(301)))
    }

    func testEvictsOneForOneUnlessTold() {
        var table = ExpiringTable<Int, Void>(capacity: 3, lifetime: .seconds(10))
        for key in 0..<5 { table.insert(key, (), at: at(0)) }
        XCTAssertEqual((0..<5).filter { table.contains($0, at: at(0)) }, [2, 3, 4])
        XCTAssertEqual(table.earlyEvictions, 2)
    }

    /// Against a plain list, with keys that collide in the index and a clock that jumps.
    func testAgreesWithAPlainList() {
        struct Clumsy: TableKey {
            let value: Int
            func hash(into hasher: inout Hasher) { hasher.combine(value % 5) }
        }
        var random = SeededRandom(seed: 11)
        for capacity in [2, 7, 40, 100] {
            var table = ExpiringTable<Clumsy, Int>(capacity: capacity, lifetime: .seconds(10))
            var list: [(key: Clumsy, value: Int, at: Instant)] = []
            var now = start
            for step in 0..<4_000 {
                now = now + .milliseconds(Int.random(in: 0...(step % 200 == 0 ? 20_000 : 400), using: &random))
                list.removeAll { now - $0.at > .seconds(10) }
                let key = Clumsy(value: Int.random(in: 0..<(capacity * 2), using: &random))
                if Bool.random(using: &random) {
                    XCTAssertEqual(table.value(of: key, at: now), list.first { $0.key == key }?.value)
                } else {
                    let isNew = !list.contains { $0.key == key }
                    XCTAssertEqual(table.insert(key, step, at: now), isNew)
                    if isNew {
                        if list.count == capacity { list.removeFirst() }
                        list.append((key, step, now))
                    }
                }
                table.expire(at: now)
                XCTAssertEqual(table.count, list.count)
            }
        }
    }
}

extension Int: TableKey {}
