import Basics
import Crypto
import Wire
import XCTest

/// The two nodes of the worked examples of chapter 01 §17.1, made from their private keys.
enum Examples {
    static let time = WallTime(milliseconds: 1_750_000_000_123)

    static func a() throws -> NodeIdentity { try identity(noise: 0x01...0x20, signing: 0x21...0x40) }
    static func b() throws -> NodeIdentity { try identity(noise: 0x41...0x60, signing: 0x61...0x80) }

    static func identity(noise: ClosedRange<UInt8>, signing: ClosedRange<UInt8>) throws -> NodeIdentity {
        NodeIdentity(
            noise: try XCTUnwrap(NoiseStaticKey(privateKey: Array(noise))),
            signing: try XCTUnwrap(SigningKey(seed: Array(signing))))
    }
}

/// Bytes of hex text; white space inside is ignored.
func hex(_ text: String, file: StaticString = #filePath, line: UInt = #line) -> [UInt8] {
    guard let bytes = Hex.decode(String(text.filter { !$0.isWhitespace })) else {
        XCTFail("no hex text: \(text)", file: file, line: line)
        return []
    }
    return bytes
}

extension SecretBytes {
    /// A copy outside the zeroed memory, for comparing.
    var exposed: [UInt8] { withBytes { [UInt8]($0) } }
}
