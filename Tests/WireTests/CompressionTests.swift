import Dispatch
import XCTest

@testable import Wire

final class CompressionTests: XCTestCase {
    private func bytes(_ count: Int, distinct: Int) -> [UInt8] { (0..<count).map { UInt8($0 % distinct) } }

    private func attempts(_ payload: [UInt8]) -> Bool { payload.withUnsafeBytes { Compression.shouldAttempt($0) } }

    /// Chapter 01 §17.17.
    func testWhenCompressionIsAttempted() {
        XCTAssertFalse(attempts(bytes(99, distinct: 1)))
        XCTAssertTrue(attempts(bytes(100, distinct: 89)))
        XCTAssertFalse(attempts(bytes(100, distinct: 90)))
        XCTAssertTrue(attempts(bytes(256, distinct: 230)))
        XCTAssertFalse(attempts(bytes(256, distinct: 231)))
        XCTAssertTrue(attempts(bytes(5_000, distinct: 230)))
        XCTAssertFalse(attempts(bytes(5_000, distinct: 231)))
    }

    func testAStreamThatIsNotShorterIsNotUsed() {
        XCTAssertNil(filler(1_000).withUnsafeBytes { Compression.deflate($0) })
        XCTAssertNil([UInt8]().withUnsafeBytes { Compression.deflate($0) })
        XCTAssertNil([UInt8]([1]).withUnsafeBytes { Compression.deflate($0) })
    }

    func testAStreamKeptBetweenCallsWritesTheSameBytes() {
        let text = Array(String(repeating: "north gate, south gate. ", count: 30).utf8)
        func level(_ level: Int32) -> [UInt8]? { text.withUnsafeBytes { Compression.deflate($0, level: level) } }
        let first = level(5)
        XCTAssertNotNil(first)
        _ = level(1)
        _ = level(6)
        _ = filler(3_000).withUnsafeBytes { Compression.deflate($0, level: 9) }
        XCTAssertEqual(level(5), first)
    }

    func testADamagedStreamDoesNotSpoilTheNextOne() throws {
        let text = Array(String(repeating: "north gate, south gate. ", count: 30).utf8)
        let body = try XCTUnwrap(text.withUnsafeBytes { Compression.deflate($0) })
        XCTAssertNil(Compression.inflate([UInt8](repeating: 0xff, count: 50), originalSize: 720))
        XCTAssertNil(Compression.inflate(Array(body.dropLast(5)), originalSize: text.count))
        XCTAssertEqual(Compression.inflate(body, originalSize: text.count), text)
    }

    func testPayloadsMayBeUsedInsideOneAnother() throws {
        let text = Array(String(repeating: "north gate, south gate. ", count: 30).utf8)
        let body = try XCTUnwrap(text.withUnsafeBytes { Compression.deflate($0) })
        let both = body.withUnsafeBytes { body in
            Compression.withInflated(body, size: 720) { outer in
                Compression.withInflated(body, size: 100) { inner in [UInt8](inner) + [UInt8](outer) }
            }
        }
        XCTAssertEqual(both, Array(text.prefix(100)) + text)
    }

    func testCallersAtTheSameTimeHaveStreamsOfTheirOwn() {
        let results = UnsafeMutableBufferPointer<Int>.allocate(capacity: 8)
        results.initialize(repeating: 0)
        defer { results.deallocate() }
        nonisolated(unsafe) let failures = results
        DispatchQueue.concurrentPerform(iterations: failures.count) { caller in
            let text = Array(String(repeating: "gate \(caller), north of it. ", count: 40).utf8)
            for _ in 0..<200 {
                let body = text.withUnsafeBytes { Compression.deflate($0) } ?? []
                if Compression.inflate(body, originalSize: text.count) != text { failures[caller] += 1 }
            }
        }
        XCTAssertEqual(results.reduce(0, +), 0)
    }

    func testSizesOutOfRangeAreRefused() {
        for size in [-1, 0, WireLimits.payload + 1, .max] {
            XCTAssertNil(Compression.inflate([UInt8](repeating: 0, count: 4_000), originalSize: size))
        }
    }
}
