import Basics
import Wire
import XCTest

@testable import Mesh

final class NoiseQueueTests: XCTestCase {
    private let now = Instant.zero + .hours(1)
    private func peer(_ value: UInt64) -> PeerID { PeerID(value: value) }

    // MARK: Early ciphertexts

    func testEarlyCiphertextsAreKeptFourAPeerThirtyTwoInAllAndTwentySeconds() {
        var early = EarlyCiphertexts()
        for count in 0..<5 as Range<UInt8> {
            XCTAssertEqual(early.add([count], from: peer(1), on: LinkID(value: 1), at: now), count < 4)
        }
        for count in 0..<40 as Range<UInt64> {
            let link = LinkID(value: 2 + count % 8)
            XCTAssertEqual(early.add([1], from: peer(100 + count), on: link, at: now), count < 28)
        }
        XCTAssertEqual(early.take(of: peer(1), at: now), [[0], [1], [2], [3]])
        XCTAssertEqual(early.take(of: peer(1), at: now), [], "once")
        XCTAssertEqual(early.take(of: peer(100), at: now + .milliseconds(20_001)), [])
        XCTAssertEqual(early.count, 0)
        XCTAssertEqual(early.heldBytes, 0)
    }

    func testOneLinkLeavesRoomForTheEarlyCiphertextsOfOthers() {
        var early = EarlyCiphertexts()
        for count in 0..<32 as Range<UInt64> {
            XCTAssertEqual(early.add([1], from: peer(100 + count), on: LinkID(value: 1), at: now), count < 8)
        }
        XCTAssertTrue(early.add([1], from: peer(1), on: LinkID(value: 2), at: now))
    }

    func testEarlyCiphertextsAreBoundInBytes() {
        let link = LinkID(value: 1)
        var early = EarlyCiphertexts()
        XCTAssertTrue(early.add([UInt8](repeating: 0, count: 1_441_872), from: peer(1), on: link, at: now))
        XCTAssertFalse(early.add([0], from: peer(2), on: link, at: now))
        XCTAssertTrue(early.add([0], from: peer(2), on: link, at: now + .milliseconds(20_001)))
    }

    // MARK: Payloads waiting for a session

    private func payload(_ size: Int = 1) -> NoisePayload {
        NoisePayload(type: .privateMessage, body: [UInt8](repeating: 0, count: size))
    }

    func testPayloadsWaitInOrderWithinTheirBounds() {
        var queue = OutboundPayloads()
        for count in 0..<40 as Range<UInt8> {
            let isAdded = queue.add(NoisePayload(type: .delivered, body: [count]), for: peer(1), at: now)
            XCTAssertEqual(isAdded, count < 32)
        }
        XCTAssertEqual(queue.takeFirst(for: peer(1))?.body, [0])
        XCTAssertEqual(queue.first(for: peer(1))?.body, [1])
        for count in 0..<2_000 as Range<UInt64> { _ = queue.add(payload(), for: peer(2 + count), at: now) }
        XCTAssertEqual(queue.count, NoiseSessionLimits.queuedTotal)
        while queue.takeFirst(for: peer(1)) != nil {}
        XCTAssertTrue(queue.isEmpty(for: peer(1)))
        XCTAssertTrue(queue.add(payload(), for: peer(1), at: now))
    }

    func testPayloadsAreBoundInBytes() {
        var queue = OutboundPayloads()
        XCTAssertTrue(queue.add(payload(NoiseSessionLimits.queuedBytes), for: peer(1), at: now))
        XCTAssertFalse(queue.add(payload(), for: peer(2), at: now))
        queue.takeFirst(for: peer(1))
        XCTAssertEqual(queue.bytes, 0)
        XCTAssertTrue(queue.add(payload(), for: peer(2), at: now))
    }

    func testPayloadsExpireAfterTenMinutesOldestFirst() {
        var queue = OutboundPayloads()
        _ = queue.add(payload(1), for: peer(1), at: now)
        _ = queue.add(payload(2), for: peer(1), at: now + .minutes(5))
        XCTAssertEqual(queue.takeExpired(at: now + .minutes(10)).count, 0)
        let expired = queue.takeExpired(at: now + .minutes(10) + .milliseconds(1))
        XCTAssertEqual(expired.map(\.payload.body.count), [1])
        XCTAssertEqual(queue.count(for: peer(1)), 1)
    }

    // MARK: Deadlines

    func testEarliestDeadlineIsKnownAfterEveryChange() {
        var random = SeededRandom(seed: 3)
        var deadlines = KeyedDeadlines<Int>()
        var model: [Int: Instant] = [:]
        for _ in 0..<5_000 {
            let key = Int.random(in: 0..<20, using: &random)
            let due = Bool.random(using: &random) ? now + .seconds(Int.random(in: 0..<100, using: &random)) : nil
            deadlines[key] = due
            model[key] = due
            if Int.random(in: 0..<10, using: &random) == 0 {
                let time = now + .seconds(Int.random(in: 0..<40, using: &random))
                XCTAssertEqual(deadlines.takeDue(at: time), model.filter { $0.value <= time }.keys.sorted())
                model = model.filter { $0.value > time }
            }
            XCTAssertEqual(deadlines.next, model.values.min())
        }
    }
}
