import Basics
import Crypto
import TestSupport
import Wire
import XCTest

final class VerifiedFrameTests: XCTestCase {
    func testFramesAreSignedAndVerifiedAsTheReferenceDoes() throws {
        try Vectors("packets.json").run { vector in
            switch vector.kind {
            case "sign": try checkSign(vector)
            case "verify":
                let key = try SigningPublicKey(vector.bytes("publicKey"))
                let frame = try? Frame(vector.bytes("frame"))
                let verified = frame.flatMap { frame in key.flatMap { VerifiedFrame(verifying: frame, under: $0) } }
                XCTAssertEqual(verified != nil, try vector.bool("valid"), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    private func checkSign(_ vector: VectorCase) throws {
        let key = try XCTUnwrap(SigningKey(seed: vector.bytes("ed25519Seed")))
        XCTAssertEqual(key.publicKey.bytes, try vector.bytes("publicKey"), vector.name)
        let identity = NodeIdentity(noise: try Examples.a().noise, signing: key)
        var packet = try Packet(vector.object("packet"))
        XCTAssertEqual(try packet.signingInput(), try vector.bytes("signingInput"), vector.name)
        try identity.sign(&packet)
        XCTAssertEqual(packet.signature, try vector.bytes("signature"), vector.name)
        let encoded = try packet.encoded()
        XCTAssertEqual(encoded, try vector.bytes("signedEncodedUnpadded"), vector.name)
        XCTAssertEqual(try Frame(encoded).layout.isCompressed, try vector.bool("compressed"), vector.name)
        XCTAssertEqual(try packet.encoded(padded: true), try vector.bytes("signedEncodedPadded"), vector.name)
        let verified = try XCTUnwrap(VerifiedFrame(verifying: Frame(encoded), under: key.publicKey), vector.name)
        XCTAssertEqual(verified.packet.payload, packet.payload, vector.name)
    }

    // MARK: Worked examples of chapter 01 §17.3 to §17.8

    private struct Example {
        let packet: Packet
        /// The real bytes of the preimage; the rest is padding.
        let preimage: String
        let padding: (byte: UInt8, count: Int)
        let signature: String
    }

    private func check(_ example: Example, line: UInt = #line) throws {
        let a = try Examples.a()
        var packet = example.packet
        let preimage = hex(example.preimage) + [UInt8](repeating: example.padding.byte, count: example.padding.count)
        XCTAssertEqual(try packet.signingInput(), preimage, line: line)
        try a.sign(&packet)
        XCTAssertEqual(packet.signature, hex(example.signature), line: line)
        let frame = try Frame(packet.encoded())
        XCTAssertEqual(frame.signingInput(), preimage, line: line)
        XCTAssertEqual(VerifiedFrame(verifying: frame, under: a.signing.publicKey)?.packet, packet, line: line)
    }

    private func packet(
        _ type: MessageType, ttl: UInt8 = 7, to recipient: PeerID? = nil, _ payload: [UInt8]
    ) throws -> Packet {
        Packet(
            type: type, ttl: ttl, timestamp: Examples.time, senderID: try Examples.a().peerID,
            recipientID: recipient, payload: payload)
    }

    func testPublicMessageOfEitherPlatform() throws {
        try check(
            Example(
                packet: packet(.message, Array("hello mesh".utf8)),
                preimage: "010200000001977420dc7b00000aaaa8fff703b50b2268656c6c6f206d657368",
                padding: (0xe0, 224),
                signature: """
                    98613c09cfbe390954671b6cea0f176f23143810e60b5202fb1b1c9825ed124fb4cbcdb5f48fd7dce5c2b31a0d69a1a5
                    fbb918e15dea4736afb0e8875cb7040d
                    """))
        try check(
            Example(
                packet: packet(.message, to: .broadcast, Array("hello mesh".utf8)),
                preimage: "010200000001977420dc7b01000aaaa8fff703b50b22ffffffffffffffff68656c6c6f206d657368",
                padding: (0xd8, 216),
                signature: """
                    272b68f63caedd8211d2fdae9955defffaad7cbaa6261b032a766057997a0cddab4058fcb7fd6b455e90515e1bf7cd3b
                    df49c9f4e89dab141d3496cf01c7ea0f
                    """))
    }

    func testCompressedMessage() throws {
        let text =
            "radio check radio check from the roof of the library, anyone hear this? "
            + "reply with your street and battery level please, over"
        let deflated = """
            4d8ac10dc3300cc456b901b2436751920b6c548d82b39a42dbd7fd15e0830029db7b606bdc9ed09f1f8a17b2118a3830
            f9b9f755a65a6067c549349a66e8e301f1f2c2a76743c55b182932e7b863b54caae0bce9b89c36b8206eea0b
            """
        try check(
            Example(
                packet: packet(.message, Array(text.utf8)),
                preimage: "010200000001977420dc7b04005eaaa8fff703b50b22007d" + deflated, padding: (0x8c, 140),
                signature: """
                    84bb5573e4fe89c3de09c1036ad528c84b47f200bf322be42ab0fa46f0f512283ab96f44b80522ab42314bb9f5c482dc
                    494492c55d8529e960d5e78a9ad1fe09
                    """))
    }

    func testAnnounceLeaveAndRequestSync() throws {
        let announce = """
            010a676174657761792d7069022007a37cbc142093c8b755dc1b10e86cb426374ad16aa853ed0bdfc0b2b86d1c7c0320
            e7f162a10bec559afea195e4dce84b69568d5d2cb0963eb446c0685e2b17f2f00410bc841db8fea3efd8001122334455
            66770501840606753470727579
            """
        try check(
            Example(
                packet: packet(.announce, hex(announce)),
                preimage: "010100000001977420dc7b00006daaa8fff703b50b22" + announce, padding: (0x7d, 125),
                signature: """
                    a08201235b48621cd66a559befc72991e13f00bbe91da2da4f79ac60a74ef03333ea908b2a57dc4d123874531c730c43
                    1e940af3420909abf4f6f5b9c8bdf40b
                    """))
        try check(
            Example(
                packet: packet(.leave, []), preimage: "010300000001977420dc7b000000aaa8fff703b50b22",
                padding: (0xea, 234),
                signature: """
                    50bf11a2edd7b007ed2d956467e13a6ea7908270fcb77058c38175e80dab03bb3f61171090a9bff83b129132dc1357f0
                    bb22fa72866fcbb8cd3ee6e371f93c0e
                    """))
        let request = "01000107020004000001800300037b4a630400010305000800000197741ff21b"
        try check(
            Example(
                packet: packet(.requestSync, ttl: 0, to: try Examples.b().peerID, hex(request)),
                preimage: "012100000001977420dc7b010020aaa8fff703b50b22bc841db8fea3efd8" + request,
                padding: (0xc2, 194),
                signature: """
                    76a3a9a22f35b495ee079302f013abd7d610c8b92d95a61003701fd5c3f7b4dc1cd7d072db2d71653a49a239cf7eea8b
                    8aa9e80bd706c68d425197ae9134d00c
                    """))
    }

    // MARK: What the signature covers

    func testTTLAndSyncFlagMayChangeOnTheWay() throws {
        let a = try Examples.a()
        var packet = try packet(.message, Array("hello mesh".utf8))
        try a.sign(&packet)
        var frame = try Frame(packet.encoded())
        frame.setTTL(3)
        frame.setSyncResponse(true)
        let verified = try XCTUnwrap(VerifiedFrame(verifying: frame, under: a.signing.publicKey))
        XCTAssertEqual(verified.packet.ttl, 3)
        XCTAssertTrue(verified.packet.isSyncResponse)
        XCTAssertEqual(verified.frame, frame)
    }

    func testEveryOtherByteIsCovered() throws {
        let a = try Examples.a()
        var packet = try packet(.message, to: try Examples.b().peerID, Array("hello mesh".utf8))
        packet.version = 2
        packet.route = [PeerID(value: 1), PeerID(value: 2)]
        try a.sign(&packet)
        let bytes = try packet.encoded()
        XCTAssertNotNil(VerifiedFrame(verifying: try Frame(bytes), under: a.signing.publicKey))
        // Byte 2 is the TTL; of the flags in byte 11 only those that have a meaning are covered.
        for position in bytes.indices where position != 2 {
            for bit in 0..<8 where position != 11 || bit < 4 {
                var changed = bytes
                changed[position] ^= 1 << UInt8(bit)
                guard let frame = try? Frame(changed) else { continue }
                XCTAssertNil(VerifiedFrame(verifying: frame, under: a.signing.publicKey), "byte \(position) bit \(bit)")
            }
        }
    }

    func testUnsignedFramesAndOtherKeysAreRefused() throws {
        let a = try Examples.a()
        var packet = try packet(.message, Array("hello mesh".utf8))
        XCTAssertNil(VerifiedFrame(verifying: try Frame(packet.encoded()), under: a.signing.publicKey))
        try a.sign(&packet)
        let other = try Examples.b().signing.publicKey
        XCTAssertNil(VerifiedFrame(verifying: try Frame(packet.encoded()), under: other))
    }

    func testUnencodablePacketsAreNotSigned() throws {
        var packet = try packet(.message, [UInt8](repeating: 0, count: 65_536))
        XCTAssertThrowsError(try Examples.a().sign(&packet))
        XCTAssertNil(packet.signature)
    }
}

extension Packet {
    init(_ fields: VectorCase) throws {
        let hops = fields.isNull("route") ? [] : try fields.bytesList("route")
        self.init(
            version: UInt8(try fields.int("version")), type: MessageType(rawValue: UInt8(try fields.int("type"))),
            ttl: UInt8(try fields.int("ttl")), timestamp: WallTime(milliseconds: try fields.uint64("timestamp")),
            senderID: try XCTUnwrap(PeerID(fields.bytes("senderID"))),
            recipientID: try fields.optionalBytes("recipientID").map { try XCTUnwrap(PeerID($0)) },
            route: try hops.map { try XCTUnwrap(PeerID($0)) }, payload: try fields.bytes("payload"),
            signature: try fields.optionalBytes("signature"), isSyncResponse: try fields.bool("isRSR"))
    }
}
