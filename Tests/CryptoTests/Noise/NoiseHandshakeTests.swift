import Basics
import TestSupport
import Wire
import XCTest

@testable import Crypto

/// Two parties of an XX handshake with every private key given.
struct XXPair {
    var initiator: NoiseHandshake
    var responder: NoiseHandshake

    init(
        initiatorStatic: [UInt8], initiatorEphemeral: [UInt8], responderStatic: [UInt8], responderEphemeral: [UInt8],
        prologue: [UInt8] = []
    ) throws {
        initiator = NoiseHandshake(
            .initiator, staticKey: try XCTUnwrap(NoiseStaticKey(privateKey: initiatorStatic)),
            ephemeral: try XCTUnwrap(NoiseStaticKey(privateKey: initiatorEphemeral)), prologue: prologue)
        responder = NoiseHandshake(
            .responder, staticKey: try XCTUnwrap(NoiseStaticKey(privateKey: responderStatic)),
            ephemeral: try XCTUnwrap(NoiseStaticKey(privateKey: responderEphemeral)), prologue: prologue)
    }

    init(_ vector: VectorCase) throws {
        try self.init(
            initiatorStatic: vector.bytes("initiatorStaticPrivate"),
            initiatorEphemeral: vector.bytes("initiatorEphemeralPrivate"),
            responderStatic: vector.bytes("responderStaticPrivate"),
            responderEphemeral: vector.bytes("responderEphemeralPrivate"), prologue: vector.bytes("prologue"))
    }

    /// Chapter 02 §13.
    static func example() throws -> XXPair {
        func key(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }
        return try XXPair(
            initiatorStatic: key(0x11), initiatorEphemeral: key(0x33), responderStatic: key(0x22),
            responderEphemeral: key(0x44))
    }

    /// Message `number` from 1, written by its party.
    mutating func write(_ number: Int, _ payload: [UInt8] = []) throws -> [UInt8] {
        try number == 2 ? responder.write(payload) : initiator.write(payload)
    }

    /// Message `number`, read by the other party.
    mutating func read(_ number: Int, _ message: [UInt8]) throws -> [UInt8] {
        try number == 2 ? initiator.read(message) : responder.read(message)
    }

    mutating func run(through last: Int = 3, payloads: [[UInt8]] = [[], [], []]) throws {
        guard last >= 1 else { return }
        for number in 1...last {
            let message = try write(number, payloads[number - 1])
            XCTAssertEqual(try read(number, message), payloads[number - 1])
        }
    }

    static func established() throws -> (initiator: NoiseTransport, responder: NoiseTransport) {
        var pair = try example()
        try pair.run()
        return (try XCTUnwrap(pair.initiator.transport()), try XCTUnwrap(pair.responder.transport()))
    }
}

final class NoiseHandshakeTests: XCTestCase {
    func testHandshakesGoAsTheReferencesDo() throws {
        try Vectors("noise_xx.json").run { vector in
            switch vector.kind {
            case "transcript": try checkTranscript(vector)
            case "reject", "tolerated":
                let step = try vector.int("step")
                var pair = try XXPair(vector)
                try pair.run(through: step - 1, payloads: vector.bytesList("payloads"))
                if step > 1 { _ = try pair.write(step, vector.bytesList("payloads")[step - 1]) }
                let message = try vector.bytes("message")
                let isAccepted = (try? pair.read(step, message)) != nil
                XCTAssertEqual(isAccepted, try vector.string("expected") == "accept", vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    private func checkTranscript(_ vector: VectorCase) throws {
        var pair = try XXPair(vector)
        let messages = try vector.bytesList("messages")
        let payloads = try vector.bytesList("payloads")
        for number in 1...3 {
            XCTAssertEqual(try pair.write(number, payloads[number - 1]), messages[number - 1], vector.name)
            XCTAssertEqual(try pair.read(number, messages[number - 1]), payloads[number - 1], vector.name)
        }
        XCTAssertEqual(pair.initiator.handshakeHash.array, try vector.bytes("handshakeHash"))
        XCTAssertEqual(pair.responder.handshakeHash, pair.initiator.handshakeHash)
        XCTAssertEqual(pair.initiator.remoteStatic?.bytes, try vector.bytes("responderStaticPublic"))
        XCTAssertEqual(pair.responder.remoteStatic?.bytes, try vector.bytes("initiatorStaticPublic"))

        var initiator = try XCTUnwrap(pair.initiator.transport())
        var responder = try XCTUnwrap(pair.responder.transport())
        for step in try vector.objects("transport") {
            let (plaintext, message) = (try step.bytes("plaintext"), try step.bytes("message"))
            if try step.string("from") == "initiator" {
                XCTAssertEqual(try initiator.encrypt(plaintext), message, vector.name)
                XCTAssertEqual(try responder.decrypt(message), plaintext, vector.name)
            } else {
                XCTAssertEqual(try responder.encrypt(plaintext), message, vector.name)
                XCTAssertEqual(try initiator.decrypt(message), plaintext, vector.name)
            }
        }
    }

    /// The public sets of the cacophony and snow projects, with prologues and payloads; what follows the handshake
    /// alternates and carries no counter in front.
    func testHandshakesGoAsThePublishedOnesDo() throws {
        let data = try Vectors.upstream("NoiseTestVectors.json")
        let list = try XCTUnwrap(JSONSerialization.jsonObject(with: data) as? [[String: Any]])
        XCTAssertFalse(list.isEmpty)
        for (index, members) in list.enumerated() {
            let vector = VectorCase(file: "NoiseTestVectors.json", index: index, members: members)
            XCTAssertEqual(try vector.string("protocol_name"), NoisePattern.xx.protocolName)
            XCTAssertEqual(try vector.bytes("init_prologue"), try vector.bytes("resp_prologue"))
            var pair = try XXPair(
                initiatorStatic: vector.bytes("init_static"), initiatorEphemeral: vector.bytes("init_ephemeral"),
                responderStatic: vector.bytes("resp_static"), responderEphemeral: vector.bytes("resp_ephemeral"),
                prologue: vector.bytes("init_prologue"))
            let messages = try vector.objects("messages")
            for number in 1...3 {
                let (payload, ciphertext) = try example(messages[number - 1])
                XCTAssertEqual(try pair.write(number, payload), ciphertext)
                XCTAssertEqual(try pair.read(number, ciphertext), payload)
            }
            if let hash = try vector.optionalBytes("handshake_hash") {
                XCTAssertEqual(pair.initiator.handshakeHash.array, hash)
            }
            var (initiator, responder) = (
                try XCTUnwrap(pair.initiator.split()), try XCTUnwrap(pair.responder.split())
            )
            for (position, message) in messages.dropFirst(3).enumerated() {
                let (payload, ciphertext) = try example(message)
                if position % 2 == 0 {
                    try check(&responder.sending, &initiator.receiving, payload, ciphertext)
                } else {
                    try check(&initiator.sending, &responder.receiving, payload, ciphertext)
                }
            }
        }
    }

    private func example(_ message: VectorCase) throws -> (payload: [UInt8], ciphertext: [UInt8]) {
        (try message.bytes("payload"), try message.bytes("ciphertext"))
    }

    private func check(
        _ sender: inout NoiseCipherState, _ receiver: inout NoiseCipherState, _ payload: [UInt8],
        _ ciphertext: [UInt8]
    ) throws {
        XCTAssertEqual(payload.withUnsafeBytes { sender.encrypt($0, associated: .none) }, ciphertext)
        XCTAssertEqual(ciphertext.withUnsafeBytes { receiver.decrypt($0, associated: .none) }, payload)
    }

    /// Chapter 02 §13.2.
    func testWorkedHandshake() throws {
        var pair = try XXPair.example()
        XCTAssertEqual(
            pair.initiator.handshakeHash.array, hex("f3d15e6108ed9556171207baa58f97d29a13c6be40595166066e2e0958dc002d"))
        let first = try pair.initiator.write()
        XCTAssertEqual(first, hex("7b0d47d93427f8311160781c7c733fd89f88970aef490d8aa0ee19a4cb8a1b14"))
        XCTAssertEqual(try pair.responder.read(first), [])
        XCTAssertEqual(
            pair.responder.handshakeHash.array, hex("d673a29a66827ec12e328bd8d04dda6d50f91fa0dcd53240c92938a23d12ddc3"))
        let second = try pair.responder.write()
        XCTAssertEqual(
            second,
            hex(
                """
                ff2ee45601ec1b67310c7790404585ae697331eee1c1f8cf2419731c1fff3e6bfcadb15080d9fd0434a18565751d3b60
                22bec571f33b6212486a1bffa54d1a1ee7712455070d4e3666e35c1eca6c109eda3b071a7d4f18da9f78b332605f937f
                """))
        XCTAssertEqual(try pair.initiator.read(second), [])
        XCTAssertEqual(
            pair.initiator.handshakeHash.array, hex("93ea7a8adf6070959411c1e41bb4a69c458b6e41a5f0db5a7d8eff1472ac1846"))
        let third = try pair.initiator.write()
        XCTAssertEqual(
            third,
            hex(
                """
                a7ea7dd47dddbcfcd736b91b174c6107b2ad26c161965a119a7b644e0c6b3d069c3aef683d9aae375696c753aa8ad8c4
                57f9186ff51137645a0f9f851bf376ff
                """))
        XCTAssertTrue(pair.initiator.isFinished)
        XCTAssertFalse(pair.responder.isFinished)
        XCTAssertNil(pair.responder.transport())
        XCTAssertEqual(try pair.responder.read(third), [])
        for party in [pair.initiator, pair.responder] {
            XCTAssertEqual(
                party.handshakeHash.array, hex("e9794ac7086d60eb2714ad46badb4cc74959a5e91d74652bc6b6266b00ee89e8"))
        }
        XCTAssertEqual(pair.responder.remoteStatic?.peerID, PeerID(hex: "d19bf3f082782c87"))
        XCTAssertEqual(pair.initiator.remoteStatic?.peerID, PeerID(hex: "65cf5c9b1de5d41f"))
    }

    /// Chapter 02 §13.3.
    func testPacketAroundTheFirstMessage() throws {
        var pair = try XXPair.example()
        let packet = Packet(
            type: .noiseHandshake, timestamp: WallTime(milliseconds: 1_784_000_000_000),
            senderID: try XCTUnwrap(PeerID(hex: "d19bf3f082782c87")), recipientID: PeerID(hex: "65cf5c9b1de5d41f"),
            payload: try pair.initiator.write())
        XCTAssertEqual(
            try packet.encoded(),
            hex(
                """
                0110070000019f5eafb000010020d19bf3f082782c8765cf5c9b1de5d41f7b0d47d93427f8311160781c7c733fd89f88
                970aef490d8aa0ee19a4cb8a1b14
                """))
        let padded = try packet.encoded(padded: true)
        XCTAssertEqual(padded.count, 256)
        XCTAssertEqual(padded.last, 0xc2)
    }

    // MARK: Bad input

    func testEveryTruncationAndEveryBitFlipIsRefusedAndChangesNothing() throws {
        for number in 1...3 {
            var pair = try XXPair.example()
            try pair.run(through: number - 1)
            let message = try pair.write(number)
            for length in 0..<message.count {
                XCTAssertThrowsError(try pair.read(number, Array(message.prefix(length))), "\(number): \(length)")
            }
            // Any 32 bytes are a message 1; what a flip there breaks shows in message 2.
            if number > 1 {
                for bit in 0..<message.count * 8 {
                    var flipped = message
                    flipped[bit / 8] ^= 1 << UInt8(bit % 8)
                    XCTAssertThrowsError(try pair.read(number, flipped), "\(number): bit \(bit)")
                }
            }
            XCTAssertThrowsError(try pair.read(number, [UInt8](repeating: 0, count: 2_049))) {
                XCTAssertEqual($0 as? NoiseRejection, .tooLong)
            }
            XCTAssertEqual(try pair.read(number, message), [], "\(number): the genuine one still counts")
        }
    }

    func testBentFirstMessageIsFoundOutByTheSecond() throws {
        for bit in stride(from: 0, to: 255, by: 7) {
            var pair = try XXPair.example()
            var message = try pair.initiator.write()
            message[bit / 8] ^= 1 << UInt8(bit % 8)
            _ = try pair.responder.read(message)
            let answer = try pair.responder.write()
            XCTAssertThrowsError(try pair.initiator.read(answer), "bit \(bit)")
        }
    }

    func testMessagesOutOfTurnAreRefusedAndChangeNothing() throws {
        var pair = try XXPair.example()
        XCTAssertThrowsError(try pair.responder.write()) { XCTAssertEqual($0 as? NoiseRejection, .outOfTurn) }
        let first = try pair.initiator.write()
        XCTAssertThrowsError(try pair.initiator.write()) { XCTAssertEqual($0 as? NoiseRejection, .outOfTurn) }
        XCTAssertThrowsError(try pair.initiator.read(first), "our own, come back")
        _ = try pair.responder.read(first)
        XCTAssertThrowsError(try pair.responder.read(first), "replayed") {
            XCTAssertEqual($0 as? NoiseRejection, .outOfTurn)
        }
        let second = try pair.responder.write()
        _ = try pair.initiator.read(second)
        let third = try pair.initiator.write()
        XCTAssertThrowsError(try pair.initiator.read(second), "replayed")
        XCTAssertThrowsError(try pair.initiator.write(), "finished")
        _ = try pair.responder.read(third)
        XCTAssertThrowsError(try pair.responder.read(third), "replayed")
        XCTAssertThrowsError(try pair.responder.write(), "finished")
        XCTAssertEqual(pair.initiator.handshakeHash, pair.responder.handshakeHash)
    }

    /// Chapter 02 §1.3: refused strings when they arrive, other low-order points at the first agreement.
    func testLowOrderEphemeralsEndTheHandshake() throws {
        var pair = try XXPair.example()
        XCTAssertThrowsError(try pair.responder.read([UInt8](repeating: 0, count: 32))) {
            XCTAssertEqual($0 as? NoiseRejection, .refusedKey)
        }
        _ = try pair.responder.read(hex("ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f"))
        XCTAssertThrowsError(try pair.responder.write()) { XCTAssertEqual($0 as? NoiseRejection, .refusedKey) }
    }

    func testHandshakesUnderDifferentProloguesDoNotMeet() throws {
        var here = try XXPair.example()
        func key(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }
        var there = try XXPair(
            initiatorStatic: key(0x11), initiatorEphemeral: key(0x33), responderStatic: key(0x22),
            responderEphemeral: key(0x44), prologue: [1])
        _ = try there.responder.read(here.initiator.write())
        XCTAssertThrowsError(try here.initiator.read(there.responder.write()))
    }

    // MARK: One-way seals

    /// Chapter 02 §13.5.
    func testWorkedSeals() throws {
        func key(_ byte: UInt8) throws -> NoiseStaticKey {
            try XCTUnwrap(NoiseStaticKey(privateKey: [UInt8](repeating: byte, count: 32)))
        }
        let (a, b, prekey) = (try key(0x11), try key(0x22), try key(0x88))
        let mail = PrivateMessage(messageID: "0B8E6F9C-6D3D-4C2A-9C1E-6B1E5D3F7A10", content: "hello")
        let payload = NoisePayload(type: .privateMessage, body: try XCTUnwrap(mail.encoded())).encoded()
        let toStatic = try XCTUnwrap(
            NoiseSeal.seal(
                payload, to: b.publicKey, from: a, ephemeral: key(0x77), prologue: Array("bitchat-courier-v1".utf8)))
        XCTAssertEqual(
            toStatic,
            hex(
                """
                1cf579aba45a10ba1d1ef06d91fca2aa9ed0a1150515653155405d0b18cb9a67e0b31bc6d7fbb03e092a4760349dddd4
                f30f22078f0f54ec12a2c216aaf0edb5480d44ba988179acef6c0fa634c376256c9ebc00a800fd1dd3070c003781e67d
                f6b6bbf54294dd57f2a3dd1099d6064e06c4c5c1ac24173579443f0ce9eb4244bb5779fa48cb5b4a0aec42ae8cd7
                """))
        let prologue = Array("bitchat-prekey-v1".utf8) + [0, 0, 0, 7]
        let toPrekey = try XCTUnwrap(
            NoiseSeal.seal(payload, to: prekey.publicKey, from: a, ephemeral: key(0x99), prologue: prologue))
        XCTAssertEqual(
            toPrekey,
            hex(
                """
                ba193836cff1f4e866c139715d306408d26a76f76d638a39afc1001084d2541100cb2b20db546c9abf2317be53750b15
                62d653da605960dfc891ccffad5d7bed84638dffcc6f4a0b9b213398081b84821d3c182a6baa45a3cd8188383c19d9d4
                f4b7b86d74219c30e4ee31b71a5b2db13d34c87e567fb30c5b4f0e55856c2554737166b319783d420092c42dc1e3
                """))
        let opened = try XCTUnwrap(NoiseSeal.open(toPrekey, with: prekey, prologue: prologue))
        XCTAssertEqual(opened.sender, a.publicKey)
        XCTAssertEqual(opened.payload, payload)
        XCTAssertEqual(toStatic.count, payload.count + NoiseSeal.overhead)
    }

    func testBentSealsDoNotOpen() throws {
        var random = SeededRandom(seed: 4)
        let (sender, recipient) = (NoiseStaticKey.generate(using: &random), NoiseStaticKey.generate(using: &random))
        let sealed = try XCTUnwrap(
            NoiseSeal.seal(
                [1, 2, 3], to: recipient.publicKey, from: sender, ephemeral: .generate(using: &random), prologue: [9]))
        XCTAssertEqual(NoiseSeal.open(sealed, with: recipient, prologue: [9])?.payload, [1, 2, 3])
        XCTAssertNil(NoiseSeal.open(sealed, with: recipient, prologue: [8]))
        XCTAssertNil(NoiseSeal.open(sealed, with: sender, prologue: [9]))
        for length in 0..<sealed.count {
            XCTAssertNil(NoiseSeal.open(Array(sealed.prefix(length)), with: recipient, prologue: [9]))
        }
        for bit in 0..<sealed.count * 8 {
            var flipped = sealed
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            XCTAssertNil(NoiseSeal.open(flipped, with: recipient, prologue: [9]), "bit \(bit)")
        }
    }

    func testNothingIsSealedToARefusedKey() throws {
        var random = SeededRandom(seed: 5)
        let sender = NoiseStaticKey.generate(using: &random)
        for text in [
            "0100000000000000000000000000000000000000000000000000000000000000",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        ] {
            XCTAssertNil(
                NoiseSeal.seal(
                    [1], to: try XCTUnwrap(NoisePublicKey(hex: text)), from: sender,
                    ephemeral: .generate(using: &random), prologue: []))
        }
    }
}
