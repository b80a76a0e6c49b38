import TestSupport
import XCTest

@testable import Wire

final class PaddingVectorTests: XCTestCase {
    func testPaddingAndCompression() throws {
        try Vectors("padding.json").run { vector in
            switch vector.kind {
            case "pad":
                let output = Padding.pad(try vector.bytes("input"), to: try vector.int("target"))
                XCTAssertEqual(output, try vector.bytes("output"), vector.name)
            case "unpad":
                XCTAssertEqual(Padding.unpad(try vector.bytes("input")), try vector.bytes("output"), vector.name)
            case "block":
                XCTAssertEqual(Padding.bucket(for: try vector.int("size")), try vector.int("block"), vector.name)
            case "should_compress":
                let attempt = try vector.bytes("input").withUnsafeBytes { Compression.shouldAttempt($0) }
                XCTAssertEqual(attempt, try vector.bool("shouldCompress"), vector.name)
            case "inflate":
                let payload = Compression.inflate(
                    try vector.bytes("compressed"), originalSize: try vector.int("originalSize"))
                XCTAssertEqual(payload, try vector.optionalBytes("output"), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    /// Chapter 01 §17.17.
    func testPaddedLengths() {
        let expected = [
            22: 256, 240: 256, 241: 241, 256: 256, 257: 512, 496: 512, 497: 497, 768: 768, 769: 1024, 1008: 1024,
            1009: 1009, 1792: 1792, 1793: 2048, 2032: 2048, 2033: 2033,
        ]
        for (length, padded) in expected {
            let frame = [UInt8](repeating: 0x01, count: length)
            XCTAssertEqual(Padding.padded(frame).count, padded)
            XCTAssertEqual(length + Padding.length(for: length), padded)
            XCTAssertEqual(Padding.padded(frame).last, padded == length ? 0x01 : UInt8(padded - length))
        }
    }

    func testOnlyNoiseTypesArePadded() {
        let padded = (0...UInt8.max).filter { MessageType(rawValue: $0).isPadded }
        XCTAssertEqual(padded, [0x10, 0x11])
    }
}
