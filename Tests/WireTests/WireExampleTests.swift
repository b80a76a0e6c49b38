import Basics
import XCTest

@testable import Wire

/// The worked examples of chapter 01 §17 and chapter 03 D2 that concern the outer packet. Fragments, padding and
/// streams have theirs beside their other tests.
final class WireExampleTests: XCTestCase {
    // MARK: §17.2

    func testBareFrame() throws {
        let bytes = hex("01020701020304050607080000031011121314151617aabbcc")
        let packet = Packet(
            type: .message, timestamp: WallTime(milliseconds: 0x0102_0304_0506_0708),
            senderID: PeerID(value: 0x1011_1213_1415_1617), payload: hex("aabbcc"))
        XCTAssertEqual(try packet.encoded(), bytes)
        XCTAssertEqual(Packet(decoding: bytes), packet)

        var flagged = bytes
        flagged[11] = 0xe8
        XCTAssertEqual(Packet(decoding: flagged), packet)
    }

    func testRoutedFrame() throws {
        let bytes = octets(
            """
            021105000000000000002a0b00000002 0102030405060708 1112131415161718
            02 2122232425262728 3132333435363738 dead 5a*64
            """)
        let packet = Packet(
            version: 2, type: .noiseEncrypted, ttl: 5, timestamp: WallTime(milliseconds: 42),
            senderID: PeerID(value: 0x0102_0304_0506_0708), recipientID: PeerID(value: 0x1112_1314_1516_1718),
            route: [PeerID(value: 0x2122_2324_2526_2728), PeerID(value: 0x3132_3334_3536_3738)],
            payload: hex("dead"), signature: octets("5a*64"))
        XCTAssertEqual(Packet(decoding: bytes), packet)
        XCTAssertEqual(try packet.encoded(), bytes)
    }

    func testEmptyRouteDisappearsWhenReencoded() throws {
        let packet = try XCTUnwrap(Packet(decoding: octets("0202070000000000000000 08 00000001 00*8 00 41")))
        XCTAssertEqual(packet.route, [])
        XCTAssertEqual(packet.payload, [0x41])
        XCTAssertEqual(try packet.encoded().count, 25)
        XCTAssertEqual(try packet.encoded()[11], 0)
    }

    // MARK: §17.3

    private let greeting = Packet(
        type: .message, timestamp: Example.time, senderID: Example.A.peerID, payload: Array("hello mesh".utf8))

    func testSignedMessageWithoutRecipient() throws {
        let preimage = octets("010200000001977420dc7b00000aaaa8fff703b50b2268656c6c6f206d657368 e0*224")
        let frame = octets(
            """
            010207000001977420dc7b02000aaaa8fff703b50b2268656c6c6f206d65736898613c09cfbe390954671b6cea0f176f
            23143810e60b5202fb1b1c9825ed124fb4cbcdb5f48fd7dce5c2b31a0d69a1a5fbb918e15dea4736afb0e8875cb7040d
            """)
        XCTAssertEqual(try greeting.signingInput(), preimage)
        XCTAssertEqual(try Frame(frame).signingInput(), preimage)
        var signed = greeting
        signed.signature = Array(frame.suffix(64))
        XCTAssertEqual(try signed.encoded(), frame)
        try checkIdentifiers(frame)
    }

    func testSignedMessageToAllOnes() throws {
        let preimage = octets(
            "010200000001977420dc7b01000aaaa8fff703b50b22ffffffffffffffff68656c6c6f206d657368 d8*216")
        let frame = octets(
            """
            010207000001977420dc7b03000aaaa8fff703b50b22ffffffffffffffff68656c6c6f206d657368272b68f63caedd82
            11d2fdae9955defffaad7cbaa6261b032a766057997a0cddab4058fcb7fd6b455e90515e1bf7cd3bdf49c9f4e89dab14
            1d3496cf01c7ea0f
            """)
        XCTAssertEqual(try Frame(frame).signingInput(), preimage)
        try checkIdentifiers(frame)
    }

    /// Both forms of "everybody" have the same identifiers.
    private func checkIdentifiers(_ bytes: [UInt8]) throws {
        let packet = try XCTUnwrap(Packet(decoding: bytes))
        XCTAssertEqual(packet.id.hex, "ae170875dba3a5ce89b267c76e6c86e7")
        XCTAssertEqual(messageIDText(packet), "aaa8fff703b50b22-1750000000123-2-0d86592c")
        XCTAssertEqual(
            StableMessageID.make(sender: packet.senderID, timestamp: packet.timestamp, content: "hello mesh"),
            "38f19d48be17060a01745ca09855b77f")
    }

    func testStableIDReferenceVector() {
        let id = StableMessageID.make(
            sender: PeerID(value: 0x0011_2233_4455_6677), timestamp: Example.time, content: "hello mesh")
        XCTAssertEqual(id, "b83f94d81dcdd1b0c0048f6645995dd4")
    }

    // MARK: §17.4

    private let longText = Array(
        ("radio check radio check from the roof of the library, anyone hear this? "
            + "reply with your street and battery level please, over").utf8)
    private let longDeflate = octets(
        """
        4d8ac10dc3300cc456b901b2436751920b6c548d82b39a42dbd7fd15e0830029db7b606bdc9ed09f1f8a17b2118a3830
        f9b9f755a65a6067c549349a66e8e301f1f2c2a76743c55b182932e7b863b54caae0bce9b89c36b8206eea0b
        """)
    private let longSignature = octets(
        """
        84bb5573e4fe89c3de09c1036ad528c84b47f200bf322be42ab0fa46f0f512283ab96f44b80522ab42314bb9f5c482dc
        494492c55d8529e960d5e78a9ad1fe09
        """)

    func testCompressedSignedMessage() throws {
        var packet = Packet(
            type: .message, timestamp: Example.time, senderID: Example.A.peerID, payload: longText)
        let preimage = octets("010200000001977420dc7b04005eaaa8fff703b50b22007d") + longDeflate + octets("8c*140")
        XCTAssertEqual(try packet.signingInput(), preimage)

        packet.signature = longSignature
        let frame = octets("010207000001977420dc7b06005eaaa8fff703b50b22007d") + longDeflate + longSignature
        XCTAssertEqual(frame.count, 180)
        XCTAssertEqual(try packet.encoded(), frame)
        XCTAssertEqual(try Frame(frame).signingInput(), preimage)
        XCTAssertEqual(packet.id.hex, "43b5c08e94eea2953ca8b0525b73d3fc")

        packet.version = 2
        packet.signature = nil
        let long = octets("020207000001977420dc7b0400000060aaa8fff703b50b220000007d") + longDeflate
        XCTAssertEqual(try packet.encoded(), long)
    }

    func testASmallerOriginalSizeIsAPrefixAndALargerOneARejection() throws {
        var frame = octets("010207000001977420dc7b06005eaaa8fff703b50b22007d") + longDeflate + longSignature
        frame[23] = 0x20
        XCTAssertEqual(Packet(decoding: frame)?.payload, Array(longText.prefix(32)))
        frame[23] = 0xff
        XCTAssertThrowsError(try Packet.decode(frame)) { XCTAssertEqual($0 as? FrameRejection, .inflateFailed) }
    }

    // MARK: §17.6

    func testTheLeaveOfTheExampleIsEncodedAsWritten() throws {
        var packet = Packet(type: .leave, timestamp: Example.time, senderID: Example.A.peerID)
        XCTAssertEqual(
            try packet.signingInput(), octets("010300000001977420dc7b000000aaa8fff703b50b22 ea*234"))
        packet.signature = octets("5a*64")
        let frame = octets("010307000001977420dc7b020000aaa8fff703b50b22 5a*64")
        XCTAssertEqual(frame.count, 86)
        XCTAssertEqual(try packet.encoded(), frame)
    }

    func testPaddedHandshake() throws {
        let packet = Packet(
            type: .noiseHandshake, timestamp: Example.time, senderID: Example.A.peerID,
            recipientID: Example.B.peerID, payload: Array(0x80...0x9f))
        let unpadded = octets(
            """
            011007000001977420dc7b010020aaa8fff703b50b22bc841db8fea3efd8808182838485868788898a8b8c8d8e8f9091
            92939495969798999a9b9c9d9e9f
            """)
        XCTAssertEqual(try packet.encoded(), unpadded)
        XCTAssertEqual(try packet.encoded(padded: true), unpadded + octets("c2*194"))
        XCTAssertEqual(try Frame(unpadded).transmitted(), unpadded + octets("c2*194"))
    }

    func testPingAndPongFrames() throws {
        let nonce = octets("e0e1e2e3e4e5e6e707")
        let ping = Packet(
            type: .ping, timestamp: Example.time, senderID: Example.A.peerID, recipientID: Example.B.peerID,
            payload: nonce)
        XCTAssertEqual(
            try ping.encoded(),
            octets("012607000001977420dc7b010009aaa8fff703b50b22bc841db8fea3efd8e0e1e2e3e4e5e6e707"))
        let pong = Packet(
            type: .pong, timestamp: WallTime(milliseconds: Example.time.milliseconds + 40),
            senderID: Example.B.peerID, recipientID: Example.A.peerID, payload: nonce)
        XCTAssertEqual(
            try pong.encoded(),
            octets("012707000001977420dca3010009bc841db8fea3efd8aaa8fff703b50b22e0e1e2e3e4e5e6e707"))
    }

    // MARK: Chapter 03 D2

    func testFrameAndMessageID() throws {
        let packet = Packet(
            type: .message, timestamp: WallTime(milliseconds: 1_700_000_000_123),
            senderID: PeerID(value: 0x0011_2233_4455_6677), payload: Array("hello mesh".utf8))
        let frame = octets(
            "01 02 07 00 00 01 8b cf e5 68 7b 00 00 0a 00 11 22 33 44 55 66 77 68 65 6c 6c 6f 20 6d 65 73 68")
        XCTAssertEqual(try packet.encoded(), frame)
        XCTAssertEqual(messageIDText(packet), "0011223344556677-1700000000123-2-0d86592c")
        XCTAssertEqual(
            StableMessageID.make(sender: packet.senderID, timestamp: packet.timestamp, content: "hello mesh"),
            "605e5efc78ee3489bebb8d68e41b9310")
    }

    // MARK: Trimming (§11.3)

    func testTrimmingRemovesTheListedWhiteSpaceOnly() {
        let white =
            "\u{9}\u{a}\u{b}\u{c}\u{d} \u{85}\u{a0}\u{1680}\u{2000}\u{200b}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}"
        XCTAssertEqual(TextTrimming.trim(white + "a b" + white), "a b")
        XCTAssertEqual(TextTrimming.trim(white), "")
        for kept in ["\u{feff}", "\u{180e}", "\u{200c}", "\u{0}", "\u{1f}", "\u{86}"] {
            XCTAssertEqual(TextTrimming.trim(kept + "a" + kept), kept + "a" + kept)
        }
    }

    func testTrimmingGoesByCodePointNotByCharacter() {
        XCTAssertEqual(Array(TextTrimming.trim("a\r\n").unicodeScalars), ["a"])
        XCTAssertEqual(Array(TextTrimming.trim(" \u{301}a").unicodeScalars), ["\u{301}", "a"])
    }
}
