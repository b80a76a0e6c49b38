import Basics
import Crypto
import Wire
import XCTest

/// The two people of the worked examples of chapter 02 §13.
enum Samples {
    /// 2026-07-14 03:33:20 UTC.
    static let time = WallTime(milliseconds: 1_784_000_000_000)
    static let now = Now(monotonic: Instant(nanoseconds: 1_000_000_000_000), wall: time)
    static let messageID = "0B8E6F9C-6D3D-4C2A-9C1E-6B1E5D3F7A10"

    static func a() throws -> NodeIdentity { try identity(0x11, 0x55) }
    static func b() throws -> NodeIdentity { try identity(0x22, 0x66) }

    static func identity(_ noise: UInt8, _ signing: UInt8) throws -> NodeIdentity {
        NodeIdentity(noise: try key(noise), signing: try XCTUnwrap(SigningKey(seed: bytes(signing))))
    }

    static func key(_ byte: UInt8) throws -> NoiseStaticKey {
        try XCTUnwrap(NoiseStaticKey(privateKey: bytes(byte)))
    }

    static func bytes(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }

    static func payload(_ text: String, id: String = messageID) throws -> [UInt8] {
        let body = try XCTUnwrap(PrivateMessage(messageID: id, content: text).encoded())
        return NoisePayload(type: .privateMessage, body: body).encoded()
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

extension WallTime {
    func later(hours: UInt64 = 0, milliseconds more: UInt64 = 0) -> WallTime {
        WallTime(milliseconds: milliseconds + hours * 3_600_000 + more)
    }
}
