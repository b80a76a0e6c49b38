import Basics
import XCTest

@testable import Mesh

final class TimeOrderTests: XCTestCase {
    func testBehavesLikeASortedArray() {
        var random = SeededRandom(seed: 5)
        var order = TimeOrder<Int>()
        var model: [Int] = []
        for step in 0..<6_000 {
            let key = Int.random(in: 0..<3_000, using: &random)
            if step % 3 == 2 || model.contains(key) {
                XCTAssertEqual(order.remove(key), model.contains(key))
                model.removeAll { $0 == key }
            } else {
                order.insert(key)
                model.append(key)
            }
            XCTAssertEqual(order.count, model.count)
            guard step % 200 == 0 else { continue }
            XCTAssertEqual(order.largest(.max) { _ in true }, model.sorted(by: >))
            XCTAssertEqual(order.first, model.min())
        }
    }

    func testOrderOfInsertionDoesNotMatter() {
        for keys in [Array(0..<2_000), Array((0..<2_000).reversed())] {
            var order = TimeOrder<Int>()
            for key in keys { order.insert(key) }
            XCTAssertEqual(order.largest(3) { _ in true }, [1_999, 1_998, 1_997])
            XCTAssertEqual(order.largest(.max) { $0 >= 1_990 }.last, 1_990)
            for key in keys { XCTAssertTrue(order.remove(key)) }
            XCTAssertNil(order.first)
            XCTAssertFalse(order.remove(1))
        }
    }

    func testChainsGiveUpSlotsFromAnywhere() {
        var chains = SlotChains()
        var a = SlotChains.Chain()
        var b = SlotChains.Chain()
        for slot in 0..<5 { chains.append(slot, to: &a) }
        for slot in 5..<7 { chains.append(slot, to: &b) }
        chains.remove(2, from: &a)
        chains.remove(0, from: &a)
        chains.remove(4, from: &a)
        XCTAssertEqual(a.oldest, 1)
        XCTAssertEqual(a.newest, 3)
        XCTAssertEqual(chains.next(after: 1), 3)
        XCTAssertNil(chains.next(after: 3))
        chains.append(2, to: &b)
        XCTAssertEqual(chains.next(after: 6), 2)
        XCTAssertEqual([a.count, b.count], [2, 3])
        chains.remove(1, from: &a)
        chains.remove(3, from: &a)
        XCTAssertNil(a.oldest)
        XCTAssertNil(a.newest)
    }
}
