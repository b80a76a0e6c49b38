import Basics
import XCTest

final class ByteReaderTests: XCTestCase {
    private func read<R>(_ bytes: [UInt8], _ body: (inout ByteReader) -> R) -> R {
        bytes.withUnsafeBytes {
            var reader = ByteReader($0)
            return body(&reader)
        }
    }

    func testIntegersAreBigEndian() {
        read([0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f]) { reader in
            XCTAssertEqual(reader.readUInt8(), 0x01)
            XCTAssertEqual(reader.readUInt16(), 0x0203)
            XCTAssertEqual(reader.readUInt32(), 0x0405_0607)
            XCTAssertEqual(reader.readUInt64(), 0x0809_0a0b_0c0d_0e0f)
            XCTAssertTrue(reader.isAtEnd)
        }
    }

    func testAReadPastTheEndFailsAndMovesNothing() {
        read([1, 2, 3]) { reader in
            XCTAssertNil(reader.readUInt32())
            XCTAssertNil(reader.readBytes(4))
            XCTAssertNil(reader.readBytes(-1))
            XCTAssertFalse(reader.skip(4))
            XCTAssertFalse(reader.skip(-1))
            XCTAssertEqual(reader.offset, 0)
            XCTAssertEqual(reader.readBytes(3), [1, 2, 3])
            XCTAssertNil(reader.readUInt8())
            XCTAssertEqual(reader.readBytes(0), [])
        }
    }

    func testEmptyInput() {
        read([]) { reader in
            XCTAssertTrue(reader.isAtEnd)
            XCTAssertNil(reader.readUInt8())
            XCTAssertEqual(reader.readBytes(0), [])
        }
    }

    func testAppendIsTheInverseOfReading() {
        var bytes = [UInt8]()
        bytes.append(bigEndian: UInt16(0x0102))
        bytes.append(bigEndian: UInt64(0x0304_0506_0708_090a))
        XCTAssertEqual(bytes, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    }
}

final class HexTests: XCTestCase {
    func testBytesAndTheirDigitsStandForEachOther() {
        XCTAssertEqual(Hex.encode([0x00, 0x0f, 0xa0, 0xff]), "000fa0ff")
        XCTAssertEqual(Hex.decode("000FA0ff"), [0x00, 0x0f, 0xa0, 0xff])
        XCTAssertEqual(Hex.decode(""), [])
    }

    func testAnythingElseIsRefused() {
        for text in ["0", "0g", "0x00", " 00", "00 ", "+1", "é0", "00\n"] { XCTAssertNil(Hex.decode(text), text) }
    }
}

final class SHA256Tests: XCTestCase {
    /// FIPS 180-4 examples.
    func testKnownDigests() {
        XCTAssertEqual(
            Hex.encode(SHA256.hash([UInt8]())), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        XCTAssertEqual(
            Hex.encode(SHA256.hash(Array("abc".utf8))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }

    func testPiecesHashLikeTheWhole() {
        var stream = SHA256.Stream()
        stream.update([0x01])
        stream.update(bigEndian: UInt16(0x0203))
        XCTAssertEqual(stream.finish(), SHA256.hash([1, 2, 3]))
        XCTAssertEqual(SHA256.hash(([0, 1, 2, 3] as [UInt8]).dropFirst()), SHA256.hash([1, 2, 3]))
    }
}

final class TimeTests: XCTestCase {
    func testSpansOfAllUnitsCompare() {
        XCTAssertEqual(Interval.seconds(2), .milliseconds(2_000))
        XCTAssertEqual(Interval.seconds(0.05), .milliseconds(50))
        XCTAssertEqual(Interval.minutes(1) + .hours(1), .seconds(3_660))
        XCTAssertEqual(Interval.microseconds(1_500).milliseconds, 1)
    }

    func testWallDistanceNeverOverflows() {
        XCTAssertEqual(WallTime(milliseconds: 0).distance(to: WallTime(milliseconds: .max)), .max)
        XCTAssertEqual(WallTime(milliseconds: 5).distance(to: WallTime(milliseconds: 3)), 2)
    }

    func testVirtualTimeMovesBothClocks() {
        let now = Now(monotonic: .zero, wall: WallTime(milliseconds: 1_000)).advanced(by: .milliseconds(250))
        XCTAssertEqual(now.monotonic, .zero + .milliseconds(250))
        XCTAssertEqual(now.wall, WallTime(milliseconds: 1_250))
    }
}

final class BoundedSetTests: XCTestCase {
    func testTheOldestInsertionGoesFirstAndAReinsertChangesNothing() {
        var set = BoundedSet<Int>(capacity: 3)
        for element in [1, 2, 3] { XCTAssertTrue(set.insert(element)) }
        XCTAssertFalse(set.insert(1))
        XCTAssertTrue(set.insert(4))
        XCTAssertFalse(set.contains(1), "re-inserting 1 must not have made it younger")
        XCTAssertTrue(set.contains(2))
        XCTAssertTrue(set.insert(5))
        XCTAssertFalse(set.contains(2))
        XCTAssertEqual(set.count, 3)
    }

    func testManyInsertionsStayBounded() {
        var set = BoundedSet<Int>(capacity: 100)
        for element in 0..<10_000 { set.insert(element) }
        XCTAssertEqual(set.count, 100)
        XCTAssertTrue((9_900..<10_000).allSatisfy(set.contains))
        XCTAssertEqual(set.elements, Array(9_900..<10_000), "oldest first")
        set.removeAll()
        XCTAssertEqual(set.count, 0)
        XCTAssertTrue(set.insert(1))
    }
}

final class RateLimitTests: XCTestCase {
    /// Chapter 06 §0: entries *strictly* older than the window are removed.
    func testAUseExactlyOneWindowOldStillCounts() {
        var window = SlidingWindow(limit: 2, window: .seconds(60))
        XCTAssertTrue(window.take(at: .zero))
        XCTAssertTrue(window.take(at: .zero + .seconds(1)))
        XCTAssertFalse(window.take(at: .zero + .seconds(60)))
        XCTAssertTrue(window.take(at: .zero + .seconds(60) + .milliseconds(1)))
        XCTAssertEqual(window.oldest, .zero + .seconds(1))
    }

    func testBucketRefillsContinuouslyUpToItsCapacity() {
        var bucket = TokenBucket(capacity: 2, perSecond: 1)
        XCTAssertTrue(bucket.take(at: .zero))
        XCTAssertTrue(bucket.take(at: .zero))
        XCTAssertFalse(bucket.take(at: .zero))
        XCTAssertTrue(bucket.take(at: .zero + .seconds(1)))
        XCTAssertFalse(bucket.take(at: .zero + .seconds(1)))
        let later = Instant.zero + .hours(1)
        XCTAssertTrue(bucket.take(2, at: later))
        XCTAssertFalse(bucket.take(at: later))
    }
}

final class DeadlineQueueTests: XCTestCase {
    func testTimeOrderThenInsertionOrder() {
        var queue = DeadlineQueue<String>()
        queue.add("late", due: .zero + .seconds(2))
        queue.add("a", due: .zero + .seconds(1))
        queue.add("b", due: .zero + .seconds(1))
        XCTAssertEqual(queue.nextDeadline, .zero + .seconds(1))
        XCTAssertNil(queue.takeDue(at: .zero))
        XCTAssertEqual(queue.takeDue(at: .zero + .seconds(1)), "a")
        XCTAssertEqual(queue.takeDue(at: .zero + .seconds(1)), "b")
        XCTAssertNil(queue.takeDue(at: .zero + .seconds(1)))
        XCTAssertEqual(queue.takeDue(at: .zero + .seconds(5)), "late")
        XCTAssertTrue(queue.isEmpty)
    }

    func testRandomDeadlinesComeOutSorted() {
        var random = SeededRandom(seed: 7)
        var queue = DeadlineQueue<Int64>()
        for _ in 0..<500 {
            let due = Int64.random(in: 0..<50, using: &random)
            queue.add(due, due: Instant(nanoseconds: due))
        }
        var last: Int64 = -1
        while let due = queue.takeDue(at: .distantFuture) {
            XCTAssertGreaterThanOrEqual(due, last)
            last = due
        }
    }
}

final class SeededRandomTests: XCTestCase {
    /// Published SplitMix64 outputs for seed 1234567.
    func testKnownSequence() {
        var random = SeededRandom(seed: 1_234_567)
        XCTAssertEqual(
            (0..<3).map { _ in random.next() },
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423])
    }

    func testBytesAndIntervals() {
        var random = SeededRandom(seed: 1)
        XCTAssertEqual(random.bytes(0), [])
        XCTAssertEqual(random.bytes(13).count, 13)
        for _ in 0..<100 {
            let span = random.interval(.milliseconds(10), .milliseconds(40))
            XCTAssertTrue((Interval.milliseconds(10)...Interval.milliseconds(40)).contains(span))
        }
    }
}

final class TallyTests: XCTestCase {
    private enum Drop: String, CaseIterable, Sendable { case malformed, stale }

    func testEveryReasonIsListedInOrder() {
        var tally = Tally<Drop>()
        tally.count(.stale)
        tally.count(.stale, 2)
        XCTAssertEqual(tally.all.map(\.name), ["malformed", "stale"])
        XCTAssertEqual(tally.all.map(\.count), [0, 3])
        XCTAssertEqual(tally.total, 3)
    }

    /// Counters are found by a case's ordinal, so every case must be stored as its place in the declaration.
    func testEveryReasonHasACounterOfItsOwn() {
        for (index, reason) in ManyDrops.allCases.enumerated() {
            var tally = Tally<ManyDrops>()
            XCTAssertEqual(tally[reason], 0)
            tally.count(reason, UInt64(index) + 1)
            XCTAssertEqual(tally[reason], UInt64(index) + 1)
            XCTAssertEqual(tally.all.map(\.count).enumerated().filter { $0.element > 0 }.map(\.offset), [index])
            XCTAssertEqual(tally.adding(tally)[reason], 2 * UInt64(index) + 2)
        }
        XCTAssertEqual(Tally<OneDrop>().total, 0)
        var single = Tally<OneDrop>()
        single.count(.only)
        XCTAssertEqual(single[.only], 1)
    }

    private enum OneDrop: String, CaseIterable, Sendable { case only }
    private enum ManyDrops: String, CaseIterable, Sendable {
        case a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z
    }
}
