import Basics
import XCTest

@testable import Wire

/// Every bound of chapter 01 §2.6, from both sides.
final class FrameRejectionTests: XCTestCase {
    private func assertRejected(_ bytes: [UInt8], _ reason: FrameRejection, line: UInt = #line) {
        XCTAssertThrowsError(try Packet.decode(bytes), line: line) {
            XCTAssertEqual($0 as? FrameRejection, reason, line: line)
        }
    }

    private func short(flags: UInt8, announcing length: Int, _ rest: [UInt8]) -> [UInt8] {
        octets("0102070000000000000000") + [flags, UInt8(length >> 8), UInt8(length & 0xff)] + rest
    }

    private func long(flags: UInt8, announcing length: UInt32, _ rest: [UInt8]) -> [UInt8] {
        var bytes = octets("0202070000000000000000") + [flags]
        bytes.append(bigEndian: length)
        return bytes + rest
    }

    func testTooShort() {
        let smallest = short(flags: 0, announcing: 0, octets("00*8"))
        XCTAssertNotNil(Packet(decoding: smallest))
        for count in 0..<22 { assertRejected(Array(smallest.prefix(count)), .tooShort) }
        let smallestLong = long(flags: 0, announcing: 0, octets("00*8"))
        XCTAssertNotNil(Packet(decoding: smallestLong))
        for count in 0..<24 { assertRejected(Array(smallestLong.prefix(count)), .tooShort) }
    }

    func testOnlyVersions1And2Exist() {
        var bytes = short(flags: 0, announcing: 0, octets("00*8"))
        for version in UInt8.min...UInt8.max where version != 1 && version != 2 {
            bytes[0] = version
            assertRejected(bytes, .unsupportedVersion)
        }
    }

    func testPayloadCap() {
        let payload = [UInt8](repeating: 1, count: WireLimits.payload)
        XCTAssertEqual(
            Packet(decoding: long(flags: 0, announcing: 1_179_760, octets("00*8") + payload))?.payload, payload)
        assertRejected(long(flags: 0, announcing: 1_179_761, octets("00*8") + payload + [1]), .payloadTooLarge)
        assertRejected(long(flags: 0, announcing: .max, octets("00*8")), .payloadTooLarge)
    }

    func testTruncatedFields() {
        assertRejected(short(flags: 0x01, announcing: 0, octets("00*15")), .truncated)
        assertRejected(short(flags: 0x00, announcing: 2, octets("00*9")), .truncated)
        assertRejected(short(flags: 0x02, announcing: 0, octets("00*71")), .truncated)
        assertRejected(short(flags: 0x04, announcing: 3, octets("00*9")), .truncated)
        assertRejected(long(flags: 0x08, announcing: 0, octets("00*8")), .truncated)
        assertRejected(long(flags: 0x08, announcing: 0, octets("00*8 01 00*7")), .truncated)
        assertRejected(long(flags: 0x08, announcing: 0, octets("00*8 ff 00*2039")), .truncated)
        XCTAssertEqual(Packet(decoding: long(flags: 0x08, announcing: 0, octets("00*8 ff 00*2040")))?.route.count, 255)
    }

    func testCompressedBodyMustBeThere() {
        for announced in 0...2 {
            assertRejected(short(flags: 0x04, announcing: announced, octets("00*8 0001 00*9")), .compressedBodyMissing)
        }
        for announced in 0...4 as ClosedRange<UInt32> {
            assertRejected(
                long(flags: 0x04, announcing: announced, octets("00*8 00000001 00*9")), .compressedBodyMissing)
        }
    }

    func testOriginalSizeCap() {
        let body = octets("00*2000")
        assertRejected(short(flags: 0x04, announcing: 2_002, octets("00*8 0000") + body), .originalSizeOutOfRange)
        // 1,179,761
        assertRejected(
            long(flags: 0x04, announcing: 2_004, octets("00*8 00120071") + body), .originalSizeOutOfRange)
        assertRejected(
            long(flags: 0x04, announcing: 2_004, octets("00*8 ffffffff") + body), .originalSizeOutOfRange)
    }

    func testClaimsBeyondWhatDeflateCanExpandToAreRejectedUnread() {
        // 1,032 bytes from one byte of body, and one more.
        assertRejected(short(flags: 0x04, announcing: 3, octets("00*8 0408 00")), .inflateFailed)
        assertRejected(short(flags: 0x04, announcing: 3, octets("00*8 0409 00")), .implausibleExpansion)
    }

    func testABombIsCutAtItsClaim() throws {
        let zeros = [UInt8](repeating: 0, count: 1_000_000)
        let body = try XCTUnwrap(zeros.withUnsafeBytes { Compression.deflate($0) })
        let packet = try XCTUnwrap(
            Packet(decoding: short(flags: 0x04, announcing: body.count + 2, octets("00*8 03e8") + body)))
        XCTAssertEqual(packet.payload, [UInt8](repeating: 0, count: 1_000))
    }

    func testTheLargestCompressedPayloadInflates() throws {
        var packet = Packet(version: 2, type: .fileTransfer, timestamp: Example.time, senderID: Example.A.peerID)
        packet.payload = [UInt8](repeating: 7, count: WireLimits.payload)
        let bytes = try packet.encoded()
        XCTAssertLessThan(bytes.count, 2_000)
        XCTAssertEqual(Packet(decoding: bytes), packet)
        XCTAssertEqual(try Frame(bytes).withView { PacketID($0) }, packet.id)
    }

    func testWhatCannotBeEncodedIsRefused() {
        func assertRefused(_ packet: Packet, _ reason: PacketEncodingError, line: UInt = #line) {
            XCTAssertThrowsError(try packet.encoded(), line: line) {
                XCTAssertEqual($0 as? PacketEncodingError, reason, line: line)
            }
        }
        var packet = Packet(version: 3, type: .message, timestamp: Example.time, senderID: Example.A.peerID)
        assertRefused(packet, .unsupportedVersion)
        packet.version = 1
        packet.payload = [UInt8](repeating: 0, count: 65_536)
        assertRefused(packet, .payloadTooLong)
        packet.payload = filler(65_535)
        XCTAssertEqual(try packet.encoded().count, 65_557)
        packet.version = 2
        packet.payload = [UInt8](repeating: 0, count: WireLimits.payload + 1)
        assertRefused(packet, .payloadTooLong)
        packet.payload = []
        packet.route = [PeerID](repeating: Example.B.peerID, count: 256)
        assertRefused(packet, .routeTooLong)
        packet.route.removeLast()
        XCTAssertEqual(try packet.encoded().count, 24 + 1 + 255 * 8)
    }
}
