import Basics
import Crypto
import TestSupport
import Wire
import XCTest

final class VerifiedAnnounceTests: XCTestCase {
    func testAnnouncesAreTrustedAndRefusedAsTheReferenceDoes() throws {
        try Vectors("announce_packets.json").run { vector in
            switch vector.kind {
            case "signed": try checkSigned(vector)
            case "preflight": try checkPreflight(vector)
            case "trust": try checkTrust(vector)
            default: throw vector.unknownKind
            }
        }
    }

    private func checkSigned(_ vector: VectorCase) throws {
        let identity = NodeIdentity(
            noise: try XCTUnwrap(NoiseStaticKey(privateKey: vector.bytes("noisePrivateKey"))),
            signing: try XCTUnwrap(SigningKey(seed: vector.bytes("ed25519Seed"))))
        XCTAssertEqual(identity.fingerprint.hex, try vector.string("fingerprint"), vector.name)
        XCTAssertEqual(identity.peerID.hex, try vector.string("peerID"), vector.name)

        let fields = try vector.object("announce")
        let neighbors = fields.isNull("directNeighbors") ? nil : try fields.bytesList("directNeighbors")
        let announce = Announce(
            nickname: try fields.string("nickname"), noisePublicKey: identity.noise.publicKey.bytes,
            signingPublicKey: identity.signing.publicKey.bytes,
            directNeighbors: try neighbors?.map { try XCTUnwrap(PeerID($0)) },
            capabilities: try fields.optionalUInt64("capabilities").map { Capabilities(rawValue: $0) },
            bridgeGeohash: try fields.optionalString("bridgeGeohash"))
        var packet = Packet(
            type: .announce, timestamp: WallTime(milliseconds: try vector.uint64("timestamp")),
            senderID: identity.peerID, payload: try XCTUnwrap(announce.encoded()))
        try identity.sign(&packet)
        XCTAssertEqual(packet.signature, try vector.bytes("signature"), vector.name)
        let frame = try vector.bytes("frame")
        XCTAssertEqual(try packet.encoded(), frame, vector.name)
        XCTAssertEqual(try Frame(frame).layout.isCompressed, try vector.bool("compressed"), vector.name)

        let claim = try ClaimedAnnounce(Frame(frame), local: .broadcast, at: packet.timestamp)
        let verified = try VerifiedAnnounce(verifying: claim, against: PeerPins())
        XCTAssertEqual(verified.announce, announce, vector.name)
        XCTAssertEqual(verified.fingerprint, identity.fingerprint, vector.name)
    }

    private func checkPreflight(_ vector: VectorCase) throws {
        var bytes = try vector.bytes("frame")
        // The claimed ID takes the place of the sender ID, bytes 14 to 21 of a version 1 frame.
        bytes.replaceSubrange(14..<22, with: try vector.bytes("claimedPeerID"))
        let expected: [String: AnnounceRejection] = [
            "senderMismatch": .senderMismatch, "selfAnnounce": .selfAnnounce, "stale": .stale,
        ]
        let result = try vector.string("result")
        let rejection = rejection {
            _ = try ClaimedAnnounce(
                Frame(bytes), local: try XCTUnwrap(PeerID(vector.bytes("localPeerID"))),
                at: WallTime(milliseconds: try vector.uint64("nowMs")))
        }
        XCTAssertEqual(rejection, result == "accept" ? nil : try XCTUnwrap(expected[result]), vector.name)
    }

    private func checkTrust(_ vector: VectorCase) throws {
        let author = try Examples.a()
        let other = try Examples.b()
        var pins = PeerPins()
        pins.noiseKey = try pin(vector, "knownNoiseKey", author.noise.publicKey, other.noise.publicKey)
        pins.signingKey = try pin(vector, "knownSigningKey", author.signing.publicKey, other.signing.publicKey)
        pins.authenticatedSigningKey = try pin(
            vector, "sessionAuthenticatedSigningKey", author.signing.publicKey, other.signing.publicKey)

        var packet = try announcePacket(of: author)
        if try vector.bool("hasSignature") {
            try author.sign(&packet)
            if !(try vector.bool("signatureValid")) { packet.signature?[5] ^= 1 }
        }
        let claim = try ClaimedAnnounce(Frame(packet.encoded()), local: other.peerID, at: packet.timestamp)
        let rejection = rejection { _ = try VerifiedAnnounce(verifying: claim, against: pins) }
        let expected: [String: AnnounceRejection] = [
            "keyMismatch": .keyMismatch, "authenticatedSigningKeyMismatch": .authenticatedSigningKeyMismatch,
            "signingKeyMismatch": .signingKeyMismatch, "missingSignature": .missingSignature,
            "invalidSignature": .invalidSignature,
        ]
        let result = try vector.string("result")
        XCTAssertEqual(rejection, result == "verified" ? nil : try XCTUnwrap(expected[result]), vector.name)
    }

    private func pin<Key>(_ vector: VectorCase, _ member: String, _ same: Key, _ different: Key) throws -> Key? {
        switch try vector.string(member) {
        case "none": nil
        case "same": same
        case "different": different
        default: throw VectorError.malformed("member '\(member)' is none of none, same, different")
        }
    }

    private func announcePacket(
        of identity: NodeIdentity, noiseKey: [UInt8]? = nil, signingKey: [UInt8]? = nil
    ) throws -> Packet {
        let announce = Announce(
            nickname: "anna", noisePublicKey: noiseKey ?? identity.noise.publicKey.bytes,
            signingPublicKey: signingKey ?? identity.signing.publicKey.bytes)
        return Packet(
            type: .announce, timestamp: Examples.time, senderID: identity.peerID,
            payload: try XCTUnwrap(announce.encoded()))
    }

    private func rejection(_ check: () throws -> Void) -> AnnounceRejection? {
        do {
            try check()
            return nil
        } catch {
            guard let rejection = error as? AnnounceRejection else {
                XCTFail("\(error)")
                return nil
            }
            return rejection
        }
    }

    // MARK: Beyond the vectors

    func testKeysOfAnotherSizeAreMalformed() throws {
        let author = try Examples.a()
        for count in [0, 31, 33] {
            let key = [UInt8](repeating: 1, count: count)
            for packet in [
                try announcePacket(of: author, noiseKey: key), try announcePacket(of: author, signingKey: key),
            ] {
                let rejection = rejection {
                    _ = try ClaimedAnnounce(Frame(packet.encoded()), local: .broadcast, at: Examples.time)
                }
                XCTAssertEqual(rejection, .malformed, "\(count) bytes")
            }
        }
    }

    func testOtherTypesAndUndecodablePayloadsAreMalformed() throws {
        let author = try Examples.a()
        var message = try announcePacket(of: author)
        message.type = .message
        var empty = try announcePacket(of: author)
        empty.payload = []
        for packet in [message, empty] {
            let rejection = rejection {
                _ = try ClaimedAnnounce(Frame(packet.encoded()), local: .broadcast, at: Examples.time)
            }
            XCTAssertEqual(rejection, .malformed)
        }
    }

    /// The signing key inside must have signed; a victim's Noise key with a foreign signing key is no proof of either.
    func testAnnounceIsVerifiedUnderTheKeyInsideItself() throws {
        let author = try Examples.a()
        var packet = try announcePacket(of: author)
        packet.signature = try Examples.b().signing.sign(packet.signingInput())
        let claim = try ClaimedAnnounce(Frame(packet.encoded()), local: .broadcast, at: Examples.time)
        XCTAssertEqual(rejection { _ = try VerifiedAnnounce(verifying: claim, against: PeerPins()) }, .invalidSignature)
    }
}
