import Basics
import TestSupport
import Wire
import XCTest

/// The identities of chapter 01 §17.1 and the time all its examples share.
enum Example {
    static let time = WallTime(milliseconds: 1_750_000_000_123)

    enum A {
        static let noisePublicKey = hex("07a37cbc142093c8b755dc1b10e86cb426374ad16aa853ed0bdfc0b2b86d1c7c")
        static let fingerprint = hex("aaa8fff703b50b2297f4f6e13508f72420d96fd01ebb84cb074449caaef64041")
        static let peerID = PeerID(value: 0xaaa8_fff7_03b5_0b22)
        static let signingPublicKey = hex("e7f162a10bec559afea195e4dce84b69568d5d2cb0963eb446c0685e2b17f2f0")
    }

    enum B {
        static let noisePublicKey = hex("64b101b1d0be5a8704bd078f9895001fc03e8e9f9522f188dd128d9846d48466")
        static let fingerprint = hex("bc841db8fea3efd84555a7f8eeb925033c90c9d5034b1a4c48a6c87de3c0ebde")
        static let peerID = PeerID(value: 0xbc84_1db8_fea3_efd8)
        static let signingPublicKey = hex("882d0ea3b2864e7a587f3e698cea4459998312e655e05fa5e8b5119d8baac8cd")
    }
}

extension VectorCase {
    func wallTime(_ key: String) throws -> WallTime { WallTime(milliseconds: try uint64(key)) }
    func optionalUInt32(_ key: String) throws -> UInt32? {
        try optionalInt(key).map { try XCTUnwrap(UInt32(exactly: $0)) }
    }
    func uint32(_ key: String) throws -> UInt32 { try XCTUnwrap(optionalUInt32(key)) }
}

/// Whether `text` is exactly these scalars; string equality would not tell normalisation forms apart.
func haveSameScalars(_ a: String?, _ b: String?) -> Bool {
    guard let a, let b else { return a == nil && b == nil }
    return a.unicodeScalars.elementsEqual(b.unicodeScalars)
}

/// Bytes of hex text, white space ignored.
func hex(_ text: String, file: StaticString = #filePath, line: UInt = #line) -> [UInt8] {
    guard let bytes = Hex.decode(text.filter { !$0.isWhitespace }) else {
        XCTFail("no hex text: \(text)", file: file, line: line)
        return []
    }
    return bytes
}
