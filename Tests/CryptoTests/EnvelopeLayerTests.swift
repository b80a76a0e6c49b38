import Basics
import TestSupport
import Wire
import XCTest

@testable import Crypto

final class EnvelopeLayerTests: XCTestCase {
    func testLayersAreSealedOpenedAndRefusedAsTheReferencesAre() throws {
        try Vectors("private_envelopes.json").run { vector in
            switch vector.kind {
            case "shared_key":
                let key = try XCTUnwrap(NostrSecretKey(vector.bytes("privateKey")))
                let even = try XCTUnwrap(key.sharedPoint(with: XCTUnwrap(NostrPublicKey(vector.bytes("peerXOnly")))))
                let odd = EnvelopeLayer.mirrored(even)
                XCTAssertEqual(even.exposed, try vector.bytes("ecdhEven"), vector.name)
                XCTAssertEqual(odd.exposed, try vector.bytes("ecdhOdd"), vector.name)
                XCTAssertEqual(EnvelopeLayer.key(even).exposed, try vector.bytes("keyEven"), vector.name)
                XCTAssertEqual(EnvelopeLayer.key(odd).exposed, try vector.bytes("keyOdd"), vector.name)
            case "layer":
                let plaintext = Array(try vector.string("plaintext").utf8)
                XCTAssertEqual(try self.open(vector), plaintext, vector.name)
            case "layer_tolerated":
                XCTAssertTrue(try vector.bool("opens"))
                XCTAssertNotNil(try self.open(vector), vector.name)
            case "layer_reject":
                XCTAssertFalse(vector.isNull("opens") ? false : try vector.bool("opens"), vector.name)
                XCTAssertNil(try self.open(vector), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    private func open(_ vector: VectorCase) throws -> [UInt8]? {
        let key = try NostrSecretKey(vector.bytes("recipientPrivateKey"))
        let sender = try NostrPublicKey(vector.bytes("senderPubkey"))
        guard let key, let sender else { return nil }
        return EnvelopeLayer.open(try vector.string("ciphertext"), by: key, from: sender)
    }

    private func key(_ byte: UInt8) throws -> NostrSecretKey {
        try XCTUnwrap(NostrSecretKey([UInt8](repeating: byte, count: 32)))
    }

    func testLongestTextIsSealedAndOneByteMoreIsNot() throws {
        let (a, b) = (try key(0x11), try key(0x22))
        let nonce = [UInt8](repeating: 7, count: 24)
        // (65,536 - 3) digits hold 49,149 bytes, 40 of which are nonce and tag.
        let longest = [UInt8](repeating: 0x61, count: 49_109)
        let text = try XCTUnwrap(EnvelopeLayer.seal(longest, from: a, to: b.publicKey, nonce: nonce))
        XCTAssertLessThanOrEqual(text.utf8.count, 65_536)
        XCTAssertEqual(EnvelopeLayer.open(text, by: b, from: a.publicKey), longest)
        XCTAssertNil(EnvelopeLayer.seal(longest + [1], from: a, to: b.publicKey, nonce: nonce))
        XCTAssertNil(EnvelopeLayer.seal([], from: a, to: b.publicKey, nonce: nonce))
    }

    func testOnlyTheAddresseeOpensAndOnlyFromTheSender() throws {
        let (a, b, c) = (try key(0x11), try key(0x22), try key(0x33))
        let text = try XCTUnwrap(
            EnvelopeLayer.seal([1, 2, 3], from: a, to: b.publicKey, nonce: [UInt8](repeating: 7, count: 24)))
        XCTAssertEqual(EnvelopeLayer.open(text, by: b, from: a.publicKey), [1, 2, 3])
        XCTAssertNil(EnvelopeLayer.open(text, by: c, from: a.publicKey))
        XCTAssertNil(EnvelopeLayer.open(text, by: b, from: c.publicKey))
    }

    func testBytesThatAreNoPointAgreeOnNothing() throws {
        let a = try key(0x11)
        // Above the field's prime, and an x without a point.
        for bytes in [[UInt8](repeating: 0xff, count: 32), [UInt8](repeating: 0, count: 31) + [5]] {
            let other = try XCTUnwrap(NostrPublicKey(bytes))
            XCTAssertNil(a.sharedPoint(with: other))
            XCTAssertNil(EnvelopeLayer.seal([1], from: a, to: other, nonce: [UInt8](repeating: 0, count: 24)))
        }
        XCTAssertNil(EnvelopeLayer.seal([1], from: a, to: a.publicKey, nonce: [UInt8](repeating: 0, count: 12)))
    }
}
