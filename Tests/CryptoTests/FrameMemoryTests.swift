import Basics
import Crypto
import Wire
import XCTest

final class FrameMemoryTests: XCTestCase {
    private var random = SeededRandom(seed: 1)

    private func signed(_ text: String, by identity: NodeIdentity) throws -> Frame {
        var packet = Packet(
            type: .message, timestamp: WallTime(milliseconds: 1_700_000_000_000), senderID: identity.peerID,
            payload: Array(text.utf8))
        try identity.sign(&packet)
        return try Frame(packet.encoded())
    }

    func testCopiesWithAnotherTTLOrSyncFlagCostNoSecondCheck() throws {
        let identity = NodeIdentity.generate(using: &random)
        let memory = FrameMemory(capacity: 8)
        var frame = try signed("hello", by: identity)
        for ttl: UInt8 in [7, 6, 0] {
            frame.setTTL(ttl)
            frame.setSyncResponse(ttl == 0)
            let verified = VerifiedFrame(verifying: frame, under: identity.signing.publicKey, memory: memory)
            XCTAssertEqual(verified?.frame, frame)
        }
        XCTAssertEqual(memory.checks, 1)
    }

    func testForgedCopyIsNotTakenForTheGenuineOneNorAnotherKeyForTheRightOne() throws {
        let identity = NodeIdentity.generate(using: &random)
        let stranger = NodeIdentity.generate(using: &random)
        let memory = FrameMemory(capacity: 8)
        let genuine = try signed("hello", by: identity)
        XCTAssertNotNil(VerifiedFrame(verifying: genuine, under: identity.signing.publicKey, memory: memory))
        for offset in genuine.bytes.indices where offset != 2 {
            var bytes = genuine.bytes
            bytes[offset] ^= 1
            guard let forged = try? Frame(bytes) else { continue }
            for _ in 0..<2 {
                XCTAssertNil(VerifiedFrame(verifying: forged, under: identity.signing.publicKey, memory: memory))
            }
        }
        for _ in 0..<2 {
            XCTAssertNil(VerifiedFrame(verifying: genuine, under: stranger.signing.publicKey, memory: memory))
        }
        XCTAssertNotNil(VerifiedFrame(verifying: genuine, under: identity.signing.publicKey, memory: memory))
    }

    func testMemoryIsBoundedAndForgettingOnlyCostsAnotherCheck() throws {
        let identity = NodeIdentity.generate(using: &random)
        let memory = FrameMemory(capacity: 4)
        let frames = try (0..<20).map { try signed("message \($0)", by: identity) }
        for frame in frames + frames {
            XCTAssertNotNil(VerifiedFrame(verifying: frame, under: identity.signing.publicKey, memory: memory))
            XCTAssertLessThanOrEqual(memory.count, 8)
        }
        XCTAssertGreaterThan(memory.checks, 20)
    }
}
