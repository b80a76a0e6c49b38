import Basics
import Wire
import XCTest

@testable import Radio

final class OutboundQueueTests: XCTestCase {
    private func drain(_ queue: inout OutboundQueue) -> [[UInt8]] {
        var frames: [[UInt8]] = []
        while let head = queue.head {
            frames.append(head)
            queue.removeHead()
        }
        return frames
    }

    func testHighBeforeShortTrainsBeforeLongTrainsBeforeFilesBeforeUnknown() {
        var queue = OutboundQueue()
        let offered: [(UInt8, WritePriority)] = [
            (5, .low), (4, .file), (3, .fragment(total: 300)), (2, .fragment(total: 2)), (0, .high), (1, .high),
        ]
        for (fill, priority) in offered { XCTAssertEqual(queue.insert([fill], priority: priority), 0) }
        XCTAssertEqual(drain(&queue), [[0], [1], [2], [3], [4], [5]])
    }

    func testOverflowTrimsTheTailAndPossiblyTheFrameOffered() {
        var queue = OutboundQueue(capacity: 10)
        XCTAssertEqual(queue.insert([1, 1, 1, 1], priority: .high), 0)
        XCTAssertEqual(queue.insert([2, 2, 2, 2], priority: .file), 0)
        XCTAssertEqual(queue.insert([3, 3, 3], priority: .low), 1, "the frame offered is the least urgent")
        XCTAssertEqual(queue.bytes, 8)
        XCTAssertEqual(queue.insert([4, 4, 4], priority: .high), 1)
        XCTAssertEqual(drain(&queue), [[1, 1, 1, 1], [4, 4, 4]])
        XCTAssertEqual(queue.bytes, 0)
    }

    func testTrimmingTakesTheNewestOfEqualPriority() {
        var queue = OutboundQueue(capacity: 6)
        for fill in 1...3 { _ = queue.insert([UInt8(fill), 0], priority: .high) }
        XCTAssertEqual(queue.insert([4, 0, 0], priority: .high), 1)
        XCTAssertEqual(drain(&queue), [[1, 0], [2, 0], [3, 0]])
    }

    func testOneFrameMayTrimSeveral() {
        var queue = OutboundQueue(capacity: 10)
        for fill in 0..<10 { _ = queue.insert([UInt8(fill)], priority: .low) }
        XCTAssertEqual(queue.insert([9, 9, 9, 9], priority: .high), 4)
        XCTAssertEqual(drain(&queue), [[9, 9, 9, 9], [0], [1], [2], [3], [4], [5]])
    }

    func testFrameLargerThanTheWholeQueueIsRefusedAndDisturbsNothing() {
        var queue = OutboundQueue(capacity: 4)
        _ = queue.insert([1], priority: .low)
        XCTAssertEqual(queue.insert([2, 2, 2, 2, 2], priority: .high), 1)
        XCTAssertEqual(drain(&queue), [[1]])
    }

    func testCapacityIsOneMillionBytes() {
        var queue = OutboundQueue()
        var dropped = 0
        for _ in 0..<2_001 { dropped += queue.insert([UInt8](repeating: 0, count: 500), priority: .high) }
        XCTAssertEqual(dropped, 1)
        XCTAssertEqual(queue.bytes, 1_000_000)
        XCTAssertEqual(queue.count, 2_000)
    }

    /// Against a plain sorted list.
    func testAgreesWithTheObviousQueue() {
        var random = SeededRandom(seed: 3)
        var queue = OutboundQueue(capacity: 300)
        var model: [(priority: WritePriority, frame: [UInt8])] = []
        for step in 0..<5_000 {
            if Int.random(in: 0..<3, using: &random) == 0 {
                XCTAssertEqual(queue.head, model.first?.frame)
                queue.removeHead()
                if !model.isEmpty { model.removeFirst() }
            } else {
                let priority = WritePriority.fragment(total: UInt16.random(in: 1...5, using: &random))
                let frame = [UInt8](
                    repeating: UInt8(truncatingIfNeeded: step), count: Int.random(in: 1...40, using: &random))
                let place = model.firstIndex { priority < $0.priority } ?? model.count
                model.insert((priority, frame), at: place)
                var dropped = 0
                while model.reduce(0, { $0 + $1.frame.count }) > 300 {
                    model.removeLast()
                    dropped += 1
                }
                XCTAssertEqual(queue.insert(frame, priority: priority), dropped)
            }
            XCTAssertEqual(queue.count, model.count)
            XCTAssertEqual(queue.bytes, model.reduce(0) { $0 + $1.frame.count })
        }
        XCTAssertEqual(drain(&queue), model.map(\.frame))
    }
}
