import Basics
import TestSupport
import XCTest

@testable import Wire

/// mesh_misc.json: ping and pong, voice bursts, nicknames.
final class MeshMiscTests: XCTestCase {
    func testPingsVoiceAndNicknamesAreTheReferences() throws {
        try Vectors("mesh_misc.json").run { vector in
            switch vector.kind {
            case "ping_encode":
                XCTAssertEqual(try self.ping(vector).encoded(), try vector.bytes("encoded"), vector.name)
            case "ping_accept":
                XCTAssertEqual(PingPayload(payload: try vector.bytes("payload")), try self.ping(vector), vector.name)
            case "ping_reject":
                XCTAssertNil(PingPayload(payload: try vector.bytes("payload")), vector.name)
            case "hops":
                let ping = PingPayload(nonce: 0, originTTL: UInt8(try vector.int("originTTL")))
                let hops = ping.hops(receivedTTL: UInt8(try vector.int("receivedTTL")))
                XCTAssertEqual(hops, try vector.optionalInt("hops"), vector.name)
            case "voice_encode":
                let burst = try self.burst(vector.object("fields"))
                let encoded = try vector.bytes("encoded")
                XCTAssertEqual(burst.encoded(), encoded, vector.name)
                XCTAssertEqual(VoiceBurst(payload: encoded), burst, vector.name)
            case "voice_accept", "voice_reject":
                let expected = try vector.optionalObject("fields").map(self.burst)
                XCTAssertEqual(VoiceBurst(payload: try vector.bytes("payload")), expected, vector.name)
            case "voice_packetize": try self.checkPacketizer(vector)
            case "nickname":
                let output = Nickname.normalized(try vector.string("input"))
                XCTAssertTrue(haveSameScalars(output, try vector.optionalString("output")), vector.name)
            case "split_suffix":
                let (base, suffix) = Nickname.split(try vector.string("input"))
                XCTAssertEqual(base, try vector.string("base"), vector.name)
                XCTAssertEqual(suffix, try vector.string("suffix"), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    private func ping(_ vector: VectorCase) throws -> PingPayload {
        PingPayload(
            nonce: try XCTUnwrap(UInt64(vector.string("nonce"), radix: 16)),
            originTTL: UInt8(try vector.int("originTTL")))
    }

    private func burst(_ fields: VectorCase) throws -> VoiceBurst {
        let content: VoiceBurst.Content
        switch try fields.string("packet") {
        case "start": content = .start(try XCTUnwrap(VoiceBurst.Codec(rawValue: UInt8(fields.int("codec")))))
        case "frames": content = .frames(try fields.bytesList("frames"))
        case "end":
            content = .end(
                totalDataPackets: UInt16(try fields.int("totalDataPackets")),
                durationMilliseconds: try fields.uint32("durationMs"))
        case "canceled": content = .canceled
        default: throw VectorError.malformed("packet")
        }
        return VoiceBurst(
            burstID: try XCTUnwrap(UInt64(fields.string("burstID"), radix: 16)),
            sequence: UInt16(try fields.int("seq")), content: content)
    }

    private func checkPacketizer(_ vector: VectorCase) throws {
        var packetizer = VoicePacketizer(
            burstID: try XCTUnwrap(UInt64(vector.string("burstID"), radix: 16)), budget: try vector.int("budget"))
        var packets = try vector.bytesList("frames").compactMap { packetizer.append($0) }
        if let last = packetizer.flush() { packets.append(last) }
        XCTAssertEqual(packets.map { $0.encoded() }, try vector.bytesList("packets"), vector.name)
        XCTAssertNil(packetizer.flush(), vector.name)
    }

    /// Chapter 01 §17.6.
    func testPingExample() {
        XCTAssertEqual(PingPayload(nonce: 0xe0e1_e2e3_e4e5_e6e7, originTTL: 7).encoded(), hex("e0e1e2e3e4e5e6e707"))
        XCTAssertEqual(PingPayload(nonce: 0, originTTL: 7).hops(receivedTTL: 5), 3)
    }

    /// Chapter 01 §17.16.
    func testVoiceExamples() {
        let examples: [(String, UInt16, VoiceBurst.Content)] = [
            ("f0f1f2f3f4f5f6f700000101", 0, .start(.aacLC)),
            ("f0f1f2f3f4f5f6f70001000003aabbcc0002ddee", 1, .frames([[0xaa, 0xbb, 0xcc], [0xdd, 0xee]])),
            ("f0f1f2f3f4f5f6f7000202000100000080", 2, .end(totalDataPackets: 1, durationMilliseconds: 128)),
            ("f0f1f2f3f4f5f6f7000204", 2, .canceled),
        ]
        for (text, sequence, content) in examples {
            let burst = VoiceBurst(burstID: 0xf0f1_f2f3_f4f5_f6f7, sequence: sequence, content: content)
            XCTAssertEqual(burst.encoded(), hex(text))
            XCTAssertEqual(VoiceBurst(payload: hex(text)), burst)
        }
    }

    func testPacketizerClosesAPacketBeforeItsNinthFrameAndDropsWhatFitsNone() {
        var packetizer = VoicePacketizer(burstID: 1, budget: 64)
        XCTAssertNil(packetizer.append([UInt8](repeating: 0, count: 52)))
        XCTAssertNil(packetizer.flush(), "one byte more than an empty packet holds")
        for _ in 0..<8 { XCTAssertNil(packetizer.append([1])) }
        XCTAssertEqual(packetizer.append([2])?.content, .frames([[UInt8]](repeating: [1], count: 8)))
        XCTAssertEqual(packetizer.flush()?.sequence, 2)
        XCTAssertNil(packetizer.append([UInt8](repeating: 0, count: 51)))
        XCTAssertEqual(packetizer.append([3])?.encoded()?.count, 64)
    }

    func testBurstThatNoReceiverTakesIsNotEmitted() {
        for frames in [[], [[]], [[UInt8]](repeating: [1], count: 9), [[UInt8](repeating: 0, count: 65_536)]] {
            XCTAssertNil(VoiceBurst(burstID: 1, sequence: 1, content: .frames(frames)).encoded())
        }
    }

    /// Chapter 01 §9.1: categories Cc and Cf are refused, the line separator U+2028 passes.
    func testNicknamesWithInvisibleFormatCharactersAreRefused() {
        for scalar in ["\u{200d}", "\u{ad}", "\u{feff}", "\u{202e}", "\u{7}", "\u{85}"] {
            XCTAssertNil(Nickname.normalized("a\(scalar)b"), scalar.debugDescription)
        }
        XCTAssertEqual(Nickname.normalized("a\u{2028}b"), "a\u{2028}b")
    }

    func testNicknameThatAnAnnounceCannotCarryIsRefused() {
        let stacked = "e" + String(repeating: "\u{301}", count: 126)
        XCTAssertEqual(Nickname.announceable(stacked)?.utf8.count, 252)
        XCTAssertNil(Nickname.announceable(stacked + "\u{301}\u{301}\u{301}"))
        let flags = String(repeating: "\u{1f1e9}\u{1f1ea}", count: 40)
        XCTAssertEqual(Nickname.normalized(flags), flags, "the rule for names counts characters")
        XCTAssertNil(Nickname.announceable(flags))
    }

    func testNicknameCompositionFollowsUnicode() {
        let pairs = [
            ("A\u{30a}", "\u{c5}"), ("\u{212b}", "\u{c5}"), ("\u{1100}\u{1161}\u{11a8}", "\u{ac01}"),
            ("q\u{307}\u{323}", "q\u{323}\u{307}"), ("\u{958}", "\u{915}\u{93c}"),
        ]
        for (typed, composed) in pairs {
            XCTAssertTrue(haveSameScalars(Nickname.normalized(typed), composed), composed.debugDescription)
        }
    }
}
