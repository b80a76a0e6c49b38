import Basics
import XCTest

@testable import Wire

final class FrameTests: XCTestCase {
    private var packet: Packet {
        Packet(
            version: 2, type: .noiseEncrypted, ttl: 5, timestamp: Example.time, senderID: Example.A.peerID,
            recipientID: Example.B.peerID, route: [PeerID(value: 3), PeerID(value: 4)], payload: [1, 2, 3],
            signature: [UInt8](repeating: 0x5a, count: 64))
    }

    func testAccessorsReadWhatTheEncoderWrote() throws {
        let frame = try Frame(packet.encoded())
        XCTAssertEqual(frame.version, 2)
        XCTAssertEqual(frame.type, .noiseEncrypted)
        XCTAssertEqual(frame.ttl, 5)
        XCTAssertEqual(frame.timestamp, Example.time)
        XCTAssertEqual(frame.senderID, Example.A.peerID)
        XCTAssertEqual(frame.recipientID, Example.B.peerID)
        XCTAssertEqual(frame.route, packet.route)
        XCTAssertEqual(frame.payload(), [1, 2, 3])
        XCTAssertEqual(frame.signature, packet.signature)
        XCTAssertFalse(frame.isSyncResponse)
        XCTAssertFalse(frame.isBroadcast)
        XCTAssertEqual(frame.packet(), packet)
        XCTAssertNil(frame.withView { $0.hop(2) })
        XCTAssertNil(frame.withView { $0.hop(-1) })
    }

    func testBothFormsOfNoRecipientAreBroadcast() throws {
        var broadcast = packet
        broadcast.recipientID = nil
        XCTAssertTrue(try Frame(broadcast.encoded()).isBroadcast)
        broadcast.recipientID = .broadcast
        let frame = try Frame(broadcast.encoded())
        XCTAssertTrue(frame.isBroadcast)
        XCTAssertEqual(frame.recipientID, .broadcast)
    }

    func testRelayingChangesTheTTLAndNothingElse() throws {
        let bytes = try packet.encoded()
        var frame = try Frame(bytes)
        frame.setTTL(4)
        var expected = bytes
        expected[2] = 4
        XCTAssertEqual(frame.bytes, expected)
    }

    /// Chapter 04 W8, in both versions.
    func testServingChangesTheTTLAndTheFlagAndNothingElse() throws {
        let received = octets("0102050000018bcfe5680002000a112233445566778868656c6c6f206d657368 ee*64")
        var frame = try Frame(received)
        frame.setTTL(0)
        frame.setSyncResponse(true)
        XCTAssertEqual(
            frame.bytes, octets("0102000000018bcfe5680012000a112233445566778868656c6c6f206d657368 ee*64"))
        XCTAssertTrue(frame.isSyncResponse)
        XCTAssertEqual(frame.packet().map { PacketID($0) }, PacketID(hex("f7a08cd87a5da6be1a60625b7ec647f1")))

        let bytes = try packet.encoded()
        var long = try Frame(bytes)
        long.setSyncResponse(true)
        XCTAssertEqual(bytes.indices.filter { long.bytes[$0] != bytes[$0] }, [11])
        long.setSyncResponse(false)
        XCTAssertEqual(long.bytes, bytes)
    }

    func testUnknownFlagBitsSurviveRelaying() throws {
        var bytes = try packet.encoded()
        bytes[11] |= 0xe0
        var frame = try Frame(bytes)
        frame.setTTL(1)
        frame.setSyncResponse(true)
        frame.setSyncResponse(false)
        bytes[2] = 1
        XCTAssertEqual(frame.bytes, bytes)
    }

    func testTrailingBytesAreDropped() throws {
        let bytes = try packet.encoded()
        XCTAssertEqual(try Frame(bytes + [1, 2, 3]), try Frame(bytes))
        XCTAssertEqual(try Frame(packet.encoded(padded: true)), try Frame(bytes))
        let copied = (bytes + [9]).withUnsafeBytes { try? FrameView.parse($0).map { Frame($0) }.get() }
        XCTAssertEqual(copied, try Frame(bytes))
    }

    func testASignatureThatLostItsEndToUnpaddingIsCompleted() throws {
        for missing in 1...2 {
            var signed = packet
            let end = [UInt8](repeating: UInt8(missing), count: missing)
            signed.signature = [UInt8](repeating: 0x5a, count: 64 - missing) + end
            let bytes = try signed.encoded()
            let cut = Array(bytes.dropLast(missing))
            XCTAssertEqual(Padding.unpad(bytes), cut)
            XCTAssertThrowsError(try Frame(cut))
            XCTAssertEqual(try Frame(reassembled: cut).bytes, bytes)
            XCTAssertEqual(try Frame(reassembled: bytes).bytes, bytes)
        }
    }

    func testNothingElseIsCompleted() throws {
        let bytes = try packet.encoded()
        XCTAssertThrowsError(try Frame(reassembled: Array(bytes.dropLast(3))))
        var unsigned = packet
        unsigned.signature = nil
        XCTAssertThrowsError(try Frame(reassembled: unsigned.encoded().dropLast(1)))
        XCTAssertThrowsError(try Frame(reassembled: []))
    }

    func testNoiseFramesAreTransmittedPadded() throws {
        XCTAssertEqual(try Frame(packet.encoded()).transmitted(), try packet.encoded(padded: true))
        var message = packet
        message.type = .message
        XCTAssertEqual(try Frame(message.encoded()).transmitted(), try message.encoded())
    }

    func testSigningInputIgnoresWhatIsOutsideTheSignature() throws {
        let input = try packet.signingInput()
        var frame = try Frame(packet.encoded())
        frame.setTTL(1)
        frame.setSyncResponse(true)
        XCTAssertEqual(frame.signingInput(), input)
        var bytes = frame.bytes
        bytes[11] |= 0xe0
        XCTAssertEqual(try Frame(bytes).signingInput(), input)
        XCTAssertEqual(input.count, 256)
    }

    func testAnEmptyRouteIsNotSigned() throws {
        let frame = try Frame(octets("0202070000000000000000 08 00000001 00*8 00 41"))
        let plain = Packet(
            version: 2, type: .message, timestamp: WallTime(milliseconds: 0), senderID: PeerID(value: 0),
            payload: [0x41])
        XCTAssertEqual(frame.signingInput(), try plain.signingInput())
    }

    func testARouteFlagInVersion1IsNotSigned() throws {
        let plain = Packet(type: .message, timestamp: Example.time, senderID: Example.A.peerID, payload: [1])
        var bytes = try plain.encoded()
        bytes[11] |= 0x08
        XCTAssertEqual(try Frame(bytes).signingInput(), try plain.signingInput())
    }

    // MARK: Chapter 01 §6.4

    private let text = Array(String(repeating: "pass the water to the north gate before noon. ", count: 60).utf8)

    func testShortPayloadsHaveOneSigningInput() throws {
        let frame = try Frame(packet.encoded())
        XCTAssertEqual(Array(frame.signingCandidates), [try packet.signingInput()])
    }

    func testACopyRecompressedByARelayStillYieldsTheSignersInput() throws {
        let signed = Packet(
            type: .message, timestamp: Example.time, senderID: Example.A.peerID, payload: text,
            signature: [UInt8](repeating: 1, count: 64))
        let level5 = try signed.signingInput()
        let level6 = try signed.signingInput(body: .deflated(level: 6))
        let plain = try signed.signingInput(body: .uncompressed)

        // A relay that compressed at level 1.
        let body = try XCTUnwrap(text.withUnsafeBytes { Compression.deflate($0, level: 1) })
        var altered = try Array(signed.encoded().prefix(22))
        altered[12] = UInt8((body.count + 2) >> 8)
        altered[13] = UInt8((body.count + 2) & 0xff)
        altered.append(bigEndian: UInt16(text.count))
        altered += body + [UInt8](repeating: 1, count: 64)
        let frame = try Frame(altered)
        XCTAssertEqual(frame.payload(), text)

        let candidates = Array(frame.signingCandidates)
        XCTAssertEqual(candidates.first, frame.signingInput())
        XCTAssertTrue(candidates.contains(level5))
        XCTAssertTrue(candidates.contains(level6))
        XCTAssertEqual(candidates.last, plain)
        XCTAssertEqual(Set(candidates).count, candidates.count)
    }

    func testAnUncompressedLongPayloadIsAlsoTriedCompressed() throws {
        let signed = Packet(type: .message, timestamp: Example.time, senderID: Example.A.peerID, payload: text)
        var bytes = try Array(signed.encoded().prefix(22))
        bytes[11] = 0
        bytes[12] = UInt8(text.count >> 8)
        bytes[13] = UInt8(text.count & 0xff)
        let candidates = Array(try Frame(bytes + text).signingCandidates)
        XCTAssertEqual(candidates.first, try signed.signingInput(body: .uncompressed))
        XCTAssertTrue(candidates.contains(try signed.signingInput()))
    }

    func testABodyThatDoesNotInflateHasOnlyTheReceivedInput() throws {
        let signed = Packet(type: .message, timestamp: Example.time, senderID: Example.A.peerID, payload: text)
        var bytes = try signed.encoded()
        for index in 24..<bytes.count { bytes[index] = 0xff }
        XCTAssertEqual(Array(try Frame(bytes).signingCandidates).count, 1)
    }
}
