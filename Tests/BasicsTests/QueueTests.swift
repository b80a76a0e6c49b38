import Basics
import XCTest

final class QueueTests: XCTestCase {
    func testElementsComeOutInOrderWhateverTheInterleaving() {
        var queue = Queue<Int>()
        var random = SeededRandom(seed: 1)
        var added = 0
        var taken = 0
        for _ in 0..<10_000 {
            if Bool.random(using: &random) {
                queue.append(added)
                added += 1
            } else {
                XCTAssertEqual(queue.first, taken < added ? taken : nil)
                if queue.popFirst() == taken { taken += 1 }
            }
            XCTAssertEqual(queue.count, added - taken)
            XCTAssertEqual(queue.isEmpty, added == taken)
        }
        queue.removeAll()
        XCTAssertNil(queue.popFirst())
    }

    func testATokenBucketSaysWhenTheNextTokenIsThere() {
        var bucket = TokenBucket(capacity: 2, perSecond: 3)
        var now = Instant(nanoseconds: 5)
        XCTAssertEqual(bucket.available(at: now), now)
        for _ in 0..<50 {
            while bucket.take(at: now) {}
            let next = bucket.available(at: now)
            XCTAssertLessThanOrEqual(next - now, .milliseconds(334))
            XCTAssertFalse(bucket.take(at: next - .microseconds(10)))
            now = bucket.available(at: now)
            XCTAssertTrue(bucket.take(at: now))
        }
    }
}
