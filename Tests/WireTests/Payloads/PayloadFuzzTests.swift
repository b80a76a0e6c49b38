import Basics
import TestSupport
import XCTest

@testable import Wire

/// Damaged payloads, always the same ones: no decoder may trap, and what one accepts has one stable encoding.
final class PayloadFuzzTests: XCTestCase {
    private static let files = [
        "announce", "announce_v2", "capabilities", "files", "messages", "noise_payloads", "courier", "prekeys",
        "board", "groups", "vouch", "verification", "nostr_carrier", "mesh_misc",
    ]
    private static let rounds = 4

    func testDamagedPayloadsNeverTrapAndReencodeStably() throws {
        var random = SeededRandom(seed: 1)
        for file in Self.files {
            var payloads = 0
            for vector in try Vectors(file + ".json").cases {
                for member in ["payload", "encoded", "body", "blob"] {
                    guard let bytes = try? vector.bytes(member), bytes.count <= 2_048 else { continue }
                    payloads += 1
                    check(bytes)
                    for _ in 0..<Self.rounds { check(damage(bytes, &random)) }
                }
            }
            XCTAssertGreaterThan(payloads, 0, "\(file).json has no payloads under the names known here")
        }
    }

    func testNoiseOfEveryShortLength() {
        var random = SeededRandom(seed: 2)
        for length in 0..<200 {
            for _ in 0..<10 { check(random.bytes(length)) }
        }
    }

    func testDamagedTextsNeverTrap() throws {
        var random = SeededRandom(seed: 3)
        let texts =
            try Vectors("verification.json").cases.compactMap { try? $0.string("text") }
            + Vectors("noise_payloads.json").cases.compactMap { try? $0.string("text") }
        XCTAssertFalse(texts.isEmpty)
        for text in texts {
            let damaged = String(decoding: damage(Array(text.utf8), &random), as: UTF8.self)
            if let code = VerificationCode(text: damaged) { XCTAssertEqual(VerificationCode(text: code.text), code) }
            if let packet = EmbeddedPacket(text: damaged) {
                XCTAssertEqual(packet.text.flatMap(EmbeddedPacket.init(text:)), packet)
            }
            _ = PeerIDText(damaged).routingBytes
            _ = Nickname.normalized(damaged)
            _ = Nickname.split(damaged)
        }
    }

    private func damage(_ bytes: [UInt8], _ random: inout SeededRandom) -> [UInt8] {
        var bytes = bytes
        switch UInt8.random(in: 0..<4, using: &random) {
        case 0: bytes.removeLast(Int.random(in: 0...bytes.count, using: &random))
        case 1: bytes.append(contentsOf: random.bytes(Int.random(in: 1...8, using: &random)))
        case 2:
            bytes.insert(UInt8.random(in: 0...255, using: &random), at: Int.random(in: 0...bytes.count, using: &random))
        default: break
        }
        guard !bytes.isEmpty else { return bytes }
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        return bytes
    }

    private func check(_ bytes: [UInt8]) {
        isStable(bytes, Announce.init(payload:)) { $0.encoded() }
        isStable(bytes, AnnounceV2.init(payload:)) { $0.encoded() }
        isStable(bytes, AuthenticatedPeerState.init(body:)) { $0.encoded() }
        isStable(bytes, PrivateMessage.init(body:)) { $0.encoded() }
        isStable(bytes, NoisePayload.init(payload:)) { $0.encoded() }
        isStable(bytes, CourierEnvelope.init(payload:)) { $0.encoded() }
        isStable(bytes, PrekeyBundle.init(payload:)) { $0.encoded() }
        isStable(bytes, BoardPayload.init(payload:)) { $0.encoded() }
        isStable(bytes, NostrCarrier.init(payload:)) { $0.encoded() }
        isStable(bytes, FileTransfer.init(payload:)) { $0.encoded() }
        isStable(bytes, GroupEnvelope.init(payload:)) { $0.encoded() }
        isStable(bytes, GroupState.init(body:)) { $0.encoded() }
        isStable(bytes, GroupMessage.init(plaintext:)) { $0.encoded() }
        isStable(bytes, VoiceBurst.init(payload:)) { $0.encoded() }
        isStable(bytes, VouchAttestation.init(payload:)) { $0.encoded() }
        isStable(bytes, VerificationChallenge.init(body:)) { $0.encoded() }
        isStable(bytes, VerificationResponse.init(body:)) { $0.encoded() }
        isStable(bytes, PingPayload.init(payload:)) { $0.encoded() }
        _ = RichMessage(payload: bytes, fallbackID: "")?.encoded()
        _ = VouchBatch.attestations(in: bytes)
        _ = bytes.withUnsafeBytes { BoardPayload.isUrgent(peeking: $0) }
    }

    private func isStable<Payload>(
        _ bytes: [UInt8], _ decode: ([UInt8]) -> Payload?, _ encode: (Payload) -> [UInt8]?, line: UInt = #line
    ) {
        guard let payload = decode(bytes) else { return }
        let encoded = encode(payload)
        XCTAssertNotNil(encoded, "accepted but not emitted: \(Hex.encode(bytes))", line: line)
        XCTAssertEqual(encoded.flatMap(decode).flatMap(encode), encoded, Hex.encode(bytes), line: line)
    }
}
