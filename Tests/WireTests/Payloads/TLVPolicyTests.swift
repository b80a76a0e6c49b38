import Basics
import XCTest

@testable import Wire

/// The error policy tables of chapter 01 §1.1, row by row.
final class TLVPolicyTests: XCTestCase {
    private enum Verdict { case ignored, rejected }

    private struct Structure {
        let name: String
        let lengthSize: Int
        /// Bytes before the first field.
        var prefixSize = 0
        let payload: [UInt8]?
        let decode: ([UInt8]) -> AnyHashable?
        /// A second copy of a field, and what is read then; `nil` when it rejects.
        let repeated: (type: UInt8, value: [UInt8], result: AnyHashable?)
        var unknownType = Verdict.ignored
        let partialHeader: Verdict
        /// Known types whose value here has a wrong size and rejects.
        var rejectedSizes: [UInt8: [UInt8]] = [:]
        /// Known types whose value here has a wrong size and only leaves the field as it was.
        var ignoredSizes: [UInt8: [UInt8]] = [:]

        func field(_ type: UInt8, _ value: [UInt8], claiming length: Int? = nil) -> [UInt8] {
            var bytes = [type]
            if lengthSize == 2 {
                bytes.append(bigEndian: UInt16(length ?? value.count))
            } else {
                bytes.append(UInt8(length ?? value.count))
            }
            return bytes + value
        }
    }

    private static let key = [UInt8](repeating: 0x11, count: 32)
    private static let signature = [UInt8](repeating: 0x22, count: 64)
    private static let short: [UInt8] = [1, 2, 3]
    private static let seven = [UInt8](repeating: 0, count: 7)

    private func structures() -> [Structure] {
        [
            announce, announceV2, peerState, privateMessage, post, tombstone, envelope, bundle, carrier, groupState,
            groupEnvelope, groupMessage, file, vouch,
        ]
    }

    func testUnknownTypes() throws {
        for structure in structures() {
            let payload = try XCTUnwrap(structure.payload, structure.name)
            let whole = try XCTUnwrap(structure.decode(payload), structure.name)
            let unknown = structure.field(0x7f, [9])
            let expected = structure.unknownType == .ignored ? whole : nil
            XCTAssertEqual(structure.decode(payload + unknown), expected, structure.name)
            let first = payload.prefix(structure.prefixSize) + unknown + payload.dropFirst(structure.prefixSize)
            XCTAssertEqual(structure.decode([UInt8](first)), expected, structure.name)
        }
    }

    func testRepeatedTypes() throws {
        for structure in structures() {
            let payload = try XCTUnwrap(structure.payload, structure.name)
            let again = structure.field(structure.repeated.type, structure.repeated.value)
            XCTAssertEqual(structure.decode(payload + again), structure.repeated.result, structure.name)
        }
    }

    func testBytesThatCannotHoldAHeader() throws {
        for structure in structures() {
            let payload = try XCTUnwrap(structure.payload, structure.name)
            let expected = structure.partialHeader == .ignored ? structure.decode(payload) : nil
            for count in 1...structure.lengthSize {
                let tail = [UInt8](repeating: 0x7f, count: count)
                XCTAssertEqual(structure.decode(payload + tail), expected, "\(structure.name), \(count)")
            }
        }
    }

    func testLengthsBeyondTheEndReject() throws {
        for structure in structures() {
            let payload = try XCTUnwrap(structure.payload, structure.name)
            XCTAssertNil(structure.decode(payload + structure.field(0x7f, [9], claiming: 2)), structure.name)
            XCTAssertNil(structure.decode([]), structure.name)
        }
    }

    func testKnownTypesOfWrongSize() throws {
        for structure in structures() {
            let payload = try XCTUnwrap(structure.payload, structure.name)
            for (type, value) in structure.rejectedSizes {
                XCTAssertNil(structure.decode(payload + structure.field(type, value)), "\(structure.name), \(type)")
            }
            for (type, value) in structure.ignoredSizes {
                let decoded = structure.decode(payload + structure.field(type, value))
                XCTAssertEqual(decoded, structure.decode(payload), "\(structure.name), \(type)")
                XCTAssertNotNil(decoded, "\(structure.name), \(type)")
            }
        }
    }

    func testVerificationFieldsHaveAFixedOrderAndATolerantEnd() throws {
        let challenge = VerificationChallenge(noiseKeyHex: "ab", nonce: [1])
        let body = try XCTUnwrap(challenge.encoded())
        XCTAssertEqual(VerificationChallenge(body: body + [0x7f, 0x05]), challenge)
        XCTAssertNil(VerificationChallenge(body: [0x7f, 0x00] + body))
        XCTAssertNil(VerificationChallenge(body: hex("020101") + hex("01026162")))
        XCTAssertNil(VerificationChallenge(body: hex("01026162") + hex("010101")))
        XCTAssertNil(VerificationChallenge(body: hex("01026162") + hex("020201")))
        XCTAssertNil(VerificationChallenge(body: hex("0101ff") + hex("020101")), "the key is text")
    }

    // MARK: Rows

    private var announce: Structure {
        let first = Announce(nickname: "a", noisePublicKey: Self.key, signingPublicKey: Self.key)
        var second = first
        second.nickname = "b"
        return Structure(
            name: "announce", lengthSize: 1, payload: first.encoded(), decode: { Announce(payload: $0) },
            repeated: (0x01, [0x62], second), partialHeader: .ignored,
            ignoredSizes: [0x04: Self.short, 0x06: [UInt8](repeating: 0x75, count: 13)])
    }

    private var announceV2: Structure {
        let first = AnnounceV2(epoch: 1, tagBlock: Self.signature)
        var second = first
        second.epoch = 2
        return Structure(
            name: "announce v2", lengthSize: 1, payload: first.encoded(), decode: { AnnounceV2(payload: $0) },
            repeated: (0x01, [0, 0, 0, 2], second), partialHeader: .rejected,
            rejectedSizes: [0x01: Self.short, 0x02: Self.short, 0x03: [], 0x04: [UInt8](repeating: 0x75, count: 13)])
    }

    private var peerState: Structure {
        let state = AuthenticatedPeerState(capabilities: .gateway, signingPublicKey: Self.key)
        return Structure(
            name: "authenticated peer state", lengthSize: 1, prefixSize: 1, payload: state.encoded(),
            decode: { AuthenticatedPeerState(body: $0) }, repeated: (0x01, [4], nil), partialHeader: .rejected,
            rejectedSizes: [0x01: [], 0x02: Self.short])
    }

    private var privateMessage: Structure {
        Structure(
            name: "private message", lengthSize: 1,
            payload: PrivateMessage(messageID: "m", content: "a").encoded(), decode: { PrivateMessage(body: $0) },
            repeated: (0x01, [0x62], PrivateMessage(messageID: "m", content: "b")), unknownType: .rejected,
            partialHeader: .ignored)
    }

    private var post: Structure {
        let first = BoardPost(
            postID: [UInt8](repeating: 1, count: 16), geohash: "", content: "a", authorSigningKey: Self.key,
            authorNickname: "", createdAt: WallTime(milliseconds: 1), expiresAt: WallTime(milliseconds: 2), flags: 0,
            signature: Self.signature)
        var second = first
        second.content = "b"
        return Structure(
            name: "board post", lengthSize: 2, payload: first.encoded(), decode: { BoardPayload(payload: $0) },
            repeated: (0x04, [0x62], BoardPayload.post(second)), partialHeader: .ignored,
            rejectedSizes: [
                0x01: [1, 1], 0x02: Self.short, 0x03: [UInt8](repeating: 0x75, count: 13), 0x04: [],
                0x05: Self.short, 0x06: [UInt8](repeating: 0x75, count: 65), 0x09: [1, 1], 0x0a: Self.short,
            ],
            ignoredSizes: [0x07: Self.seven, 0x08: Self.seven, 0x0b: Self.seven])
    }

    private var tombstone: Structure {
        let first = BoardTombstone(
            postID: [UInt8](repeating: 1, count: 16), authorSigningKey: Self.key,
            deletedAt: WallTime(milliseconds: 1), signature: Self.signature)
        var second = first
        second.deletedAt = WallTime(milliseconds: 2)
        return Structure(
            name: "board tombstone", lengthSize: 2, payload: first.encoded(), decode: { BoardPayload(payload: $0) },
            repeated: (0x0b, [0, 0, 0, 0, 0, 0, 0, 2], BoardPayload.tombstone(second)), partialHeader: .ignored,
            rejectedSizes: [0x02: Self.short, 0x05: Self.short, 0x0a: Self.short],
            ignoredSizes: [0x07: Self.seven, 0x08: Self.seven, 0x0b: Self.seven])
    }

    private var envelope: Structure {
        let tag = [UInt8](repeating: 1, count: 16)
        let time = WallTime(milliseconds: 1)
        let first = CourierEnvelope(recipientTag: tag, expiry: time, ciphertext: [1], copies: 2)
        let second = CourierEnvelope(recipientTag: tag, expiry: time, ciphertext: [1], copies: 3)
        return Structure(
            name: "courier envelope", lengthSize: 2, payload: first.encoded(),
            decode: { CourierEnvelope(payload: $0) }, repeated: (0x04, [3], second), partialHeader: .rejected,
            rejectedSizes: [0x01: Self.short, 0x02: Self.seven, 0x03: [], 0x04: [1, 1], 0x05: Self.short])
    }

    private var bundle: Structure {
        let first = PrekeyBundle(
            noisePublicKey: Self.key, prekeys: [PrekeyBundle.Prekey(id: 1, publicKey: Self.key)],
            generatedAt: WallTime(milliseconds: 1), signature: Self.signature)
        var second = first
        second.generatedAt = WallTime(milliseconds: 2)
        return Structure(
            name: "prekey bundle", lengthSize: 2, payload: first.encoded(), decode: { PrekeyBundle(payload: $0) },
            repeated: (0x03, [0, 0, 0, 0, 0, 0, 0, 2], second), partialHeader: .rejected,
            rejectedSizes: [0x01: Self.short, 0x02: Self.key, 0x03: Self.seven, 0x04: Self.short])
    }

    private var carrier: Structure {
        let first = NostrCarrier(direction: .toGateway, geohash: "u", event: [0x7b])
        var second = first
        second.direction = .fromBridge
        return Structure(
            name: "nostr carrier", lengthSize: 2, payload: first.encoded(), decode: { NostrCarrier(payload: $0) },
            repeated: (0x01, [4], second), partialHeader: .rejected,
            rejectedSizes: [0x01: [1, 1], 0x02: [], 0x03: []])
    }

    private var groupState: Structure {
        let first = GroupState(
            groupID: [UInt8](repeating: 1, count: 16), name: "a", key: Self.key, epoch: 1,
            members: [GroupMember(fingerprint: Self.key, signingKey: Self.key, nickname: "n")],
            creatorFingerprint: Self.key, signature: Self.signature)
        var second = first
        second.name = "b"
        return Structure(
            name: "group state", lengthSize: 2, payload: first.encoded(), decode: { GroupState(body: $0) },
            repeated: (0x02, [0x62], second), partialHeader: .rejected, rejectedSizes: [0x05: [0]],
            ignoredSizes: [0x01: Self.short, 0x03: Self.short, 0x04: Self.short, 0x06: Self.short, 0x07: Self.short])
    }

    private var groupEnvelope: Structure {
        let first = GroupEnvelope(
            groupID: [UInt8](repeating: 1, count: 16), epoch: 1, nonce: [UInt8](repeating: 1, count: 12),
            ciphertext: [1])
        var second = first
        second.epoch = 2
        return Structure(
            name: "group envelope", lengthSize: 2, payload: first.encoded(), decode: { GroupEnvelope(payload: $0) },
            repeated: (0x02, [0, 0, 0, 2], second), partialHeader: .rejected, rejectedSizes: [0x02: Self.short],
            ignoredSizes: [0x01: Self.short, 0x03: Self.short, 0x04: []])
    }

    private var groupMessage: Structure {
        let first = GroupMessage(
            messageID: "m", senderSigningKey: Self.key, senderNickname: "", timestamp: WallTime(milliseconds: 1),
            content: "a", signature: Self.signature)
        var second = first
        second.content = "b"
        return Structure(
            name: "group inner", lengthSize: 2, payload: first.encoded(), decode: { GroupMessage(plaintext: $0) },
            repeated: (0x05, [0x62], second), partialHeader: .rejected, rejectedSizes: [0x01: []],
            ignoredSizes: [0x02: Self.short, 0x04: Self.seven, 0x06: Self.short])
    }

    private var file: Structure {
        let first = FileTransfer(fileName: "a", mimeType: nil, content: [1], fileSize: 1)
        var second = first
        second.fileName = "b"
        return Structure(
            name: "file", lengthSize: 2, payload: first.encoded(), decode: { FileTransfer(payload: $0) },
            repeated: (0x01, [0x62], second), partialHeader: .rejected, ignoredSizes: [0x02: Self.short])
    }

    private var vouch: Structure {
        let first = VouchAttestation(
            fingerprint: Self.key, signingPublicKey: Self.key, timestamp: WallTime(milliseconds: 1),
            signature: Self.signature)
        var second = first
        second.timestamp = WallTime(milliseconds: 2)
        return Structure(
            name: "vouch attestation", lengthSize: 1, payload: first.encoded(),
            decode: { VouchAttestation(payload: $0) }, repeated: (0x03, [0, 0, 0, 0, 0, 0, 0, 2], second),
            partialHeader: .rejected,
            rejectedSizes: [0x01: Self.short, 0x02: Self.short, 0x03: Self.seven, 0x04: Self.short])
    }
}
