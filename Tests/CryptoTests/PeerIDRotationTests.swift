import Basics
import TestSupport
import Wire
import XCTest

@testable import Crypto

final class PeerIDRotationTests: XCTestCase {
    func testRotatedIDsAndRecognitionTagsAreTheReferences() throws {
        try Vectors("announce_v2.json").run { vector in
            switch vector.kind {
            case "epoch": try checkEpoch(vector)
            case "peer_id":
                let key = try XCTUnwrap(NoiseStaticKey(privateKey: vector.bytes("noiseStaticPrivate")))
                let secret = PeerIDRotation.rotationSecret(of: key)
                XCTAssertEqual(secret.exposed, try vector.bytes("rotationSecret"), vector.name)
                XCTAssertEqual(
                    PeerIDRotation.peerID(secret: secret, epoch: try epoch(vector)).hex, try vector.string("peerID"),
                    vector.name)
            case "recognition": try checkRecognition(vector)
            case "block_match": try checkBlock(vector)
            case "binding":
                let message = PeerIDRotation.bindingMessage(
                    epoch: try epoch(vector), peerID: try XCTUnwrap(PeerID(vector.bytes("peerID"))),
                    noiseKey: try publicKey(vector, "noiseStaticPublic"))
                XCTAssertEqual(message, try vector.bytes("message"), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    private func checkEpoch(_ vector: VectorCase) throws {
        let epoch = PeerIDRotation.epoch(unixSeconds: Int64(try vector.double("unixSeconds").rounded(.down)))
        XCTAssertEqual(epoch, try self.epoch(vector), vector.name)
        let candidates = try vector.array("candidates").compactMap { $0 as? Int }
        XCTAssertEqual(PeerIDRotation.candidates(around: epoch).map(Int.init), candidates, vector.name)
    }

    private func checkRecognition(_ vector: VectorCase) throws {
        let a = try XCTUnwrap(NoiseStaticKey(privateKey: vector.bytes("aPrivate")))
        let b = try XCTUnwrap(NoiseStaticKey(privateKey: vector.bytes("bPrivate")))
        let key = try XCTUnwrap(PeerIDRotation.recognitionKey(a, with: b.publicKey))
        XCTAssertEqual(key.exposed, try vector.bytes("recognitionKey"), vector.name)
        XCTAssertEqual(key, PeerIDRotation.recognitionKey(b, with: a.publicKey), vector.name)
        let epoch = try epoch(vector)
        let aToB = PeerIDRotation.tag(
            key: key, epoch: epoch, sender: a.publicKey, recipient: b.publicKey,
            senderID: try XCTUnwrap(PeerID(vector.bytes("aPeerID"))))
        XCTAssertEqual(aToB, try vector.bytes("tagAtoB"), vector.name)
        let bToA = PeerIDRotation.tag(
            key: key, epoch: epoch, sender: b.publicKey, recipient: a.publicKey,
            senderID: try XCTUnwrap(PeerID(vector.bytes("bPeerID"))))
        XCTAssertEqual(bToA, try vector.bytes("tagBtoA"), vector.name)
    }

    private func checkBlock(_ vector: VectorCase) throws {
        let epoch = PeerIDRotation.epoch(unixSeconds: Int64(try vector.double("unixSeconds").rounded(.down)))
        let matches = PeerIDRotation.block(
            try vector.bytes("block"), matches: SecretBytes(copying: try vector.bytes("recognitionKey")),
            around: epoch, sender: try publicKey(vector, "senderPublic"),
            recipient: try publicKey(vector, "recipientPublic"),
            senderID: try XCTUnwrap(PeerID(vector.bytes("peerID"))))
        XCTAssertEqual(matches, try vector.bool("matches"), vector.name)
    }

    private func epoch(_ vector: VectorCase) throws -> UInt32 { UInt32(try vector.int("epoch")) }

    private func publicKey(_ vector: VectorCase, _ member: String) throws -> NoisePublicKey {
        try XCTUnwrap(NoisePublicKey(vector.bytes(member)))
    }

    /// Chapter 01 §13 and chapter 02 §13.8.
    func testRotatedIDsAndTagsOfTheExamplesAreAsWritten() throws {
        let secret = PeerIDRotation.rotationSecret(of: try Examples.a().noise)
        XCTAssertEqual(secret.exposed, hex("fb82dfec0c0a2a4677beca44e2f72c80e7c5de773dd5fce6ee47af83d3c25f09"))
        XCTAssertEqual(PeerIDRotation.peerID(secret: secret, epoch: 100).hex, "f7c08c528506a374")

        let key = PeerIDRotation.recognitionKey(
            sharedSecret: SecretBytes(copying: [UInt8](repeating: 0x42, count: 32)))
        let a = try XCTUnwrap(NoisePublicKey([UInt8](repeating: 0x0a, count: 32)))
        let b = try XCTUnwrap(NoisePublicKey([UInt8](repeating: 0x0b, count: 32)))
        let id = PeerID(value: 0xa1a1_a1a1_a1a1_a1a1)
        XCTAssertEqual(
            PeerIDRotation.tag(key: key, epoch: 100, sender: a, recipient: b, senderID: id), hex("4568f61d61d6cbfb"))
        XCTAssertEqual(
            PeerIDRotation.tag(key: key, epoch: 100, sender: b, recipient: a, senderID: id), hex("5313c7731f629959"))
    }

    func testEpochsAtTheEndsHaveNoNeighbourBeyond() {
        XCTAssertEqual(PeerIDRotation.candidates(around: 0), [0, 1])
        XCTAssertEqual(PeerIDRotation.candidates(around: .max), [.max - 1, .max])
        XCTAssertEqual(PeerIDRotation.epoch(unixSeconds: .min), 0)
        XCTAssertEqual(PeerIDRotation.epoch(unixSeconds: .max), .max)
    }
}
