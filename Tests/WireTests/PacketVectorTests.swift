import Basics
import TestSupport
import XCTest

@testable import Wire

final class PacketVectorTests: XCTestCase {
    /// The signature half of `sign` is checked where keys are, in CryptoTests.
    func testPacketsDecodeAndEncodeAsTheReferenceDoes() throws {
        try Vectors("packets.json").run { vector in
            switch vector.kind {
            case "encode": try checkEncoding(vector)
            case "encode_reject": try checkRefusal(vector)
            case "sign": try checkSigningInput(vector)
            default: throw vector.unknownKind
            }
        }
    }

    private func checkEncoding(_ vector: VectorCase) throws {
        let packet = try vector.object("packet").packet()
        let unpadded = try packet.encoded()
        let padded = try packet.encoded(padded: true)
        let isCompressed = try vector.bool("compressed")
        for (bytes, expected) in [
            (unpadded, try vector.bytes("encodedUnpadded")), (padded, try vector.bytes("encodedPadded")),
        ] {
            XCTAssertEqual(Self.saysCompressed(bytes), isCompressed, vector.name)
            XCTAssertEqual(Self.saysCompressed(expected), isCompressed, vector.name)
            // Another compressor says the same in other bytes.
            if bytes != expected {
                XCTAssertTrue(isCompressed, vector.name)
                XCTAssertEqual(Packet(decoding: bytes), Packet(decoding: expected), vector.name)
            }
        }
        XCTAssertEqual(
            Packet(decoding: unpadded), try vector.optionalObject("decodedUnpadded")?.packet(), vector.name)
        XCTAssertEqual(Packet(decoding: padded), try vector.optionalObject("decodedPadded")?.packet(), vector.name)
    }

    /// By the flags of chapter 01 §2.1, since not every frame that encodes decodes again.
    private static func saysCompressed(_ frame: [UInt8]) -> Bool { frame[11] & 0x04 != 0 }

    private func checkRefusal(_ vector: VectorCase) throws {
        XCTAssertTrue(vector.isNull("encoded"), vector.name)
        XCTAssertThrowsError(try vector.object("packet").packet().encoded(), vector.name)
    }

    private func checkSigningInput(_ vector: VectorCase) throws {
        var packet = try vector.object("packet").packet()
        let input = try vector.bytes("signingInput")
        XCTAssertEqual(try packet.signingInput(), input, vector.name)
        XCTAssertEqual(Self.saysCompressed(input), try vector.bool("compressed"), vector.name)

        packet.signature = try vector.bytes("signature")
        XCTAssertEqual(try packet.encoded(), try vector.bytes("signedEncodedUnpadded"), vector.name)
        XCTAssertEqual(try packet.encoded(padded: true), try vector.bytes("signedEncodedPadded"), vector.name)
        let frame = try Frame(vector.bytes("signedEncodedPadded"))
        XCTAssertEqual(frame.signingInput(), input, vector.name)
        XCTAssertEqual(frame.signature, packet.signature, vector.name)
    }

    func testPacketDecoding() throws {
        try Vectors("packet_decode.json").run { vector in
            let frame = try vector.bytes("frame")
            switch vector.kind {
            case "accept":
                XCTAssertEqual(Packet(decoding: frame), try vector.object("packet").packet(), vector.name)
            case "reject":
                XCTAssertNil(Packet(decoding: frame), vector.name)
                XCTAssertNil(Packet(decoding: Padding.unpad(frame)), vector.name)
            default: throw vector.unknownKind
            }
        }
    }
}
