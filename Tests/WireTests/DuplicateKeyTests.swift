import Basics
import XCTest

@testable import Wire

final class DuplicateKeyTests: XCTestCase {
    private var random = SeededRandom(seed: 7)
    private lazy var key = SipHash128.Key(using: &random)
    private let packet = Packet(
        type: .message, timestamp: Example.time, senderID: Example.A.peerID, payload: Array("hello mesh".utf8))

    func testTTLFlagsRouteSignatureAndTheFormOfABroadcastDoNotEnter() {
        var copy = packet
        copy.version = 2
        copy.ttl = 3
        copy.recipientID = .broadcast
        copy.route = [Example.B.peerID]
        copy.signature = [UInt8](repeating: 9, count: 64)
        copy.isSyncResponse = true
        XCTAssertEqual(DuplicateKey(copy, under: key), DuplicateKey(packet, under: key))
    }

    func testEveryOtherFieldEnters() {
        var others = [packet, packet, packet, packet, packet, packet]
        others[0].type = .leave
        others[1].timestamp = WallTime(milliseconds: packet.timestamp.milliseconds + 1)
        others[2].senderID = Example.B.peerID
        others[3].payload[0] ^= 1
        others[4].payload.append(0)
        others[5].recipientID = Example.B.peerID
        let keys = Set((others + [packet]).map { DuplicateKey($0, under: key) })
        XCTAssertEqual(keys.count, 7)
    }

    func testAnotherSecretGivesOtherKeys() {
        let other = SipHash128.Key(using: &random)
        XCTAssertNotEqual(DuplicateKey(packet, under: other), DuplicateKey(packet, under: key))
    }

    func testCompressedAndPlainCopiesAreOnePacket() throws {
        var long = packet
        long.payload = Array(String(repeating: "radio check ", count: 40).utf8)
        let compressed = try Frame(long.encoded())
        XCTAssertTrue(compressed.layout.isCompressed)
        XCTAssertEqual(compressed.withView { DuplicateKey($0, under: key) }, DuplicateKey(long, under: key))
    }

    func testAFrameThatDoesNotInflateHasNone() throws {
        var long = packet
        long.payload = Array(String(repeating: "radio check ", count: 40).utf8)
        var bytes = try long.encoded()
        for index in 24..<bytes.count { bytes[index] = 0xff }
        XCTAssertNil(try Frame(bytes).withView { DuplicateKey($0, under: key) })
    }

    /// The first two vectors of the SipHash-2-4-128 reference: key 00…0f, no message and message 00.
    func testSipHashReferenceVectors() {
        struct KeyWords: RandomNumberGenerator {
            var words: [UInt64] = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908]
            mutating func next() -> UInt64 { UInt64(littleEndian: words.removeFirst()) }
        }
        var words = KeyWords()
        let key = SipHash128.Key(using: &words)
        func hash(_ message: [UInt8]) -> [UInt8] {
            let digest = message.withUnsafeBytes { SipHash128.hash($0, under: key) }
            return withUnsafeBytes(of: (digest.first, digest.second)) { Array($0) }
        }
        XCTAssertEqual(hash([]), hex("a3817f04ba25a8e66df67214c7550293"))
        XCTAssertEqual(hash([0]), hex("da87c1d86b99af44347659119b22fc45"))
    }
}
