import Basics
import TestSupport
import Wire
import XCTest

@testable import Crypto

final class NoiseTransportTests: XCTestCase {
    func testTransportMessagesAreSealedAndRefusedAsTheReferenceDoes() throws {
        try Vectors("noise_transport.json").run { vector in
            let cipher = NoiseCipherState(key: SecretBytes(copying: try vector.bytes("key")))
            switch vector.kind {
            case "script": try checkScript(vector, cipher)
            case "encrypt":
                var sender = NoiseSender(cipher: cipher, nextNonce: try vector.uint64("nonce"))
                let message = try? sender.encrypt(vector.bytes("plaintext"))
                XCTAssertEqual(message, try vector.optionalBytes("message"), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    /// The scripts were recorded with the phones' faulty window. The right one differs where a message was accepted
    /// before, and where one not yet accepted is less than 1024 behind (chapter 02 §3.5); so does the model of the
    /// faulty one nowhere.
    private func checkScript(_ vector: VectorCase, _ cipher: NoiseCipherState) throws {
        var receiver = NoiseReceiver(cipher: cipher)
        var phone = PhoneReplayWindow()
        var accepted: Set<UInt32> = []
        for step in try vector.objects("steps") {
            let message = try step.bytes("message")
            let label = "\(vector.name) \(try step.optionalString("label") ?? "")"
            let nonce = message.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
            let highest = accepted.max() ?? 0
            let wasAccepted = accepted.contains(nonce)
            let isNear = nonce > highest || highest - nonce < 1_024
            let outcome = Result { try receiver.decrypt(message) }
            let recorded = try step.string("result")
            if message.count >= NoiseLimits.transportOverhead {
                XCTAssertEqual(phone.accepts(nonce), recorded != "replay", label)
                if recorded == "ok" { phone.mark(nonce) }
            }
            switch outcome {
            case .success(let plaintext):
                XCTAssertFalse(wasAccepted, label)
                if recorded == "ok" { XCTAssertEqual(plaintext, try step.bytes("plaintext"), label) }
                XCTAssertTrue(recorded == "ok" || recorded == "replay" && isNear, label)
                accepted.insert(nonce)
            case .failure(NoiseRejection.replayed):
                XCTAssertTrue(recorded == "replay" || recorded == "ok" && wasAccepted, label)
            case .failure: XCTAssertEqual(recorded, "reject", label)
            }
        }
    }

    /// Chapter 02 §13.4.
    func testWorkedTransport() throws {
        var (a, b) = try XXPair.established()
        let stateOfA = AuthenticatedPeerState(
            capabilities: Capabilities(rawValue: 0x0329),
            signingPublicKey: hex("c6822637c7d310ec57627be00ba259d253749f4aaf644470cffbe53a35f73242"))
        let first = NoisePayload(type: .authenticatedPeerState, body: try XCTUnwrap(stateOfA.encoded())).encoded()
        XCTAssertEqual(
            first, hex("2101010229030220c6822637c7d310ec57627be00ba259d253749f4aaf644470cffbe53a35f73242"))
        let message = try a.encrypt(first)
        XCTAssertEqual(
            message,
            hex(
                """
                00000000f331d3f9bc72fe0cd1e12f56a39464292816392ddc5790d2b15d705c3096e1056a938fe7beec70fc8027e613
                daf3c58d13f496c56201bbc7
                """))
        XCTAssertEqual(try b.decrypt(message), first)

        let stateOfB = AuthenticatedPeerState(
            capabilities: [.gateway, .bridge],
            signingPublicKey: hex("34b4d9043156cb6dcf0beb0a2949b7559c940d2bcb6dbe8c53a9b30278e3a746"))
        let answer = NoisePayload(type: .authenticatedPeerState, body: try XCTUnwrap(stateOfB.encoded())).encoded()
        XCTAssertEqual(
            try b.encrypt(answer),
            hex(
                """
                0000000035e1f9113018398d3a1b865253109bf7b4f148ba7afb24cb05d23cab8b46465b7d85a67c18d72f9463c8c133
                ee33a906d9f9fcdd87de9d
                """))

        let id = "0B8E6F9C-6D3D-4C2A-9C1E-6B1E5D3F7A10"
        let mail = NoisePayload(
            type: .privateMessage, body: try XCTUnwrap(PrivateMessage(messageID: id, content: "hello").encoded()))
        XCTAssertEqual(
            try a.encrypt(mail.encoded()),
            hex(
                """
                000000013d7d0e7ceae8718f087de08e15b824182fa256e7d107bba04e52a3edd614b8c5afd88158bdf78a923e3107f9
                18494c4cbdcb0b596a18adf2870aa160e72c
                """))
        let delivered = try b.encrypt(NoisePayload.delivered(messageID: id).encoded())
        XCTAssertEqual(
            delivered,
            hex(
                """
                0000000134289de72e494e3ed44432deb4378e7cebfb5bd1f2111fa572bad523b38b0b9aa84bc908142709deac6b53a0
                004083e5f1ce396575
                """))
        XCTAssertEqual(try a.decrypt(delivered), NoisePayload.delivered(messageID: id).encoded())

        // Far ahead of everything before, and still in order.
        let read = hex(
            """
            01020304caeacba6824ecd302ec1ce93b8f7e21ae1702c2dcd716d36ce7ec5c92728887b4b9ca7d7689ef5afa41f26a9
            2e87c201c7b3522e2a
            """)
        XCTAssertEqual(try b.decrypt(read), NoisePayload.readReceipt(messageID: id).encoded())
    }

    // MARK: Replay window

    /// Against the plain definition: a set of everything accepted.
    func testWindowAgreesWithItsDefinition() {
        for seed in 0..<20 as Range<UInt64> {
            var random = SeededRandom(seed: seed)
            var window = ReplayWindow()
            var accepted: Set<UInt32> = []
            var highest: UInt32?
            for _ in 0..<4_000 {
                let reach = [4, 40, 1_100, 3_000].randomElement(using: &random) ?? 4
                let around = Int(highest ?? 0) + Int.random(in: -reach...reach / 8, using: &random)
                let nonce = UInt32(clamping: around)
                let isTooOld = highest.map { $0 >= 1_024 && nonce <= $0 - 1_024 } ?? false
                let expected = !isTooOld && !accepted.contains(nonce)
                XCTAssertEqual(window.accepts(nonce), expected, "\(nonce) after \(highest ?? 0)")
                if expected {
                    window.mark(nonce)
                    accepted.insert(nonce)
                    highest = max(highest ?? 0, nonce)
                }
            }
        }
    }

    func testWindowAtBothEndsOfTheCounter() {
        var window = ReplayWindow()
        XCTAssertTrue(window.accepts(0))
        window.mark(0)
        XCTAssertFalse(window.accepts(0))
        XCTAssertTrue(window.accepts(.max))
        window.mark(.max)
        XCTAssertFalse(window.accepts(.max))
        XCTAssertFalse(window.accepts(0))
        XCTAssertFalse(window.accepts(.max - 1_024))
        XCTAssertTrue(window.accepts(.max - 1_023))
    }

    func testPhonesAcceptWhatAtMostEightOvertook() {
        for overtakers in 1...8 as ClosedRange<UInt32> {
            var phone = PhoneReplayWindow()
            for nonce in 0..<100 as Range<UInt32> { phone.mark(nonce) }
            for nonce in 101...100 + overtakers { phone.mark(nonce) }
            XCTAssertTrue(phone.accepts(100), "\(overtakers)")
        }
        var phone = PhoneReplayWindow()
        for nonce in 0..<100 as Range<UInt32> { phone.mark(nonce) }
        for nonce in 101...109 as ClosedRange<UInt32> { phone.mark(nonce) }
        XCTAssertFalse(phone.accepts(100), "nine are too many, which is why sending keeps the order")
    }

    // MARK: Bad input

    /// A length floor of counter and tag: shorter ones once ended a peer.
    func testEveryTruncationAndEveryBitFlipIsRefusedAndChangesNothing() throws {
        var (sender, receiver) = try XXPair.established()
        let message = try sender.encrypt([1, 2, 3, 4])
        for length in 0..<message.count {
            XCTAssertThrowsError(try receiver.decrypt(Array(message.prefix(length)))) {
                let expected: NoiseRejection = length < 20 ? .truncated : .notAuthentic
                XCTAssertEqual($0 as? NoiseRejection, expected, "\(length)")
            }
        }
        for bit in 0..<message.count * 8 {
            var flipped = message
            flipped[bit / 8] ^= 1 << UInt8(bit % 8)
            XCTAssertThrowsError(try receiver.decrypt(flipped)) {
                XCTAssertEqual($0 as? NoiseRejection, .notAuthentic, "bit \(bit)")
            }
        }
        XCTAssertEqual(try receiver.decrypt(message), [1, 2, 3, 4])
        XCTAssertThrowsError(try receiver.decrypt(message)) { XCTAssertEqual($0 as? NoiseRejection, .replayed) }
    }

    func testReorderedAndRepeatedMessagesArriveOnceEach() throws {
        for seed in 1...5 as ClosedRange<UInt64> {
            var random = SeededRandom(seed: seed)
            var (sender, receiver) = try XXPair.established()
            let messages = try (0..<200 as Range<UInt8>).map { try sender.encrypt([$0]) }
            var arrived: [UInt8] = []
            for message in (messages + messages + messages).shuffled(using: &random) {
                if let plaintext = try? receiver.decrypt(message) { arrived += plaintext }
            }
            XCTAssertEqual(arrived.sorted(), Array(0..<200))
        }
    }

    func testRandomBytesNeverPass() throws {
        var (_, receiver) = try XXPair.established()
        var random = SeededRandom(seed: 9)
        for length in 0..<400 { XCTAssertThrowsError(try receiver.decrypt(random.bytes(length))) }
    }

    func testDirectionsHaveKeysOfTheirOwn() throws {
        var (a, b) = try XXPair.established()
        let message = try a.encrypt([7])
        XCTAssertThrowsError(try a.decrypt(message), "reflected")
        XCTAssertEqual(try b.decrypt(message), [7])
    }

    // MARK: Limits

    func testCounterEndsBeforeItsLastValue() throws {
        let cipher = NoiseCipherState(key: SecretBytes(copying: [UInt8](repeating: 1, count: 32)))
        var sender = NoiseSender(cipher: cipher, nextNonce: 4_294_967_294)
        XCTAssertEqual(try sender.encrypt([]).prefix(4), [0xff, 0xff, 0xff, 0xfe])
        XCTAssertThrowsError(try sender.encrypt([])) { XCTAssertEqual($0 as? NoiseRejection, .exhausted) }
        XCTAssertThrowsError(try sender.encrypt([])) { XCTAssertEqual($0 as? NoiseRejection, .exhausted) }
    }

    func testOnlyPrivateFilesMayBeLong() throws {
        var (sender, receiver) = try XXPair.established()
        XCTAssertEqual(try sender.encrypt([UInt8](repeating: 1, count: 65_535)).count, 65_555)
        XCTAssertThrowsError(try sender.encrypt([UInt8](repeating: 1, count: 65_536))) {
            XCTAssertEqual($0 as? NoiseRejection, .tooLong)
        }
        for type in [0x20, 0x09] as [UInt8] {
            let file = [type] + [UInt8](repeating: 1, count: 1_179_707)
            XCTAssertEqual(try receiver.decrypt(sender.encrypt(file)), file)
            XCTAssertThrowsError(try sender.encrypt(file + [1]))
        }
        XCTAssertThrowsError(try receiver.decrypt([UInt8](repeating: 1, count: 1_179_729))) {
            XCTAssertEqual($0 as? NoiseRejection, .tooLong)
        }
        // A peer that does not keep to it.
        let cipher = NoiseCipherState(key: SecretBytes(copying: [UInt8](repeating: 1, count: 32)))
        let long = [UInt8](repeating: 1, count: 65_536)
        var sealed = [UInt8](repeating: 0, count: long.count + 16)
        sealed.withUnsafeMutableBytes { output in
            long.withUnsafeBytes { cipher.seal($0, associated: .none, nonce: 0, to: output) }
        }
        var other = NoiseReceiver(cipher: cipher)
        XCTAssertThrowsError(try other.decrypt([0, 0, 0, 0] + sealed)) {
            XCTAssertEqual($0 as? NoiseRejection, .tooLong)
        }
    }

    func testSecretsDoNotPrint() throws {
        let (transport, _) = try XXPair.established()
        XCTAssertEqual("\(transport)", "NoiseTransport(…)")
        XCTAssertEqual(String(reflecting: try XXPair.example().initiator), "NoiseHandshake(…)")
        XCTAssertTrue(Mirror(reflecting: transport).children.isEmpty)
    }
}

/// The window as phones ship it: bits counted from the least significant end and moved as if from the other (chapter 02
/// §3.5).
struct PhoneReplayWindow {
    private var map = [UInt8](repeating: 0, count: 128)
    private var highest: UInt32?

    func accepts(_ nonce: UInt32) -> Bool {
        guard let highest, nonce <= highest else { return true }
        let offset = Int(highest - nonce)
        guard offset < 1_024 else { return false }
        return map[offset >> 3] & 1 << UInt8(offset & 7) == 0
    }

    mutating func mark(_ nonce: UInt32) {
        if let former = highest, nonce <= former {
            let offset = Int(former - nonce)
            map[offset >> 3] |= 1 << UInt8(offset & 7)
            return
        }
        let distance = highest.map { Int(nonce - $0) } ?? 0
        if distance >= 1_024 { map = [UInt8](repeating: 0, count: 128) } else { move(by: distance) }
        highest = nonce
        map[0] |= 1
    }

    private mutating func move(by distance: Int) {
        let (bytes, bits) = (distance >> 3, distance & 7)
        let former = map
        let old = { (index: Int) in index >= 0 ? Int(former[index]) : 0 }
        map = map.indices.map { index in
            let carried = bits > 0 ? old(index - bytes - 1) << (8 - bits) : 0
            return UInt8((old(index - bytes) >> bits | carried) & 0xff)
        }
    }
}
