import Basics
import TestSupport
import XCTest

@testable import Wire

final class VerificationTests: XCTestCase {
    func testCodesAndChallengesDecodeAndEncodeAsTheReferenceDoes() throws {
        try Vectors("verification.json").run { vector in
            switch vector.kind {
            case "qr": try self.checkCode(vector)
            case "qr_scan": try self.checkScan(vector)
            case "challenge":
                let challenge = VerificationChallenge(
                    noiseKeyHex: try vector.string("noiseKeyHex"), nonce: try vector.bytes("nonceA"))
                XCTAssertEqual(
                    challenge.encoded().map { NoisePayload(type: .verifyChallenge, body: $0).encoded() },
                    try vector.bytes("payload"), vector.name)
            case "response":
                let payload = try XCTUnwrap(NoisePayload(payload: vector.bytes("payload")))
                let response = try XCTUnwrap(VerificationResponse(body: payload.body))
                XCTAssertEqual(payload.type, .verifyResponse, vector.name)
                XCTAssertEqual(response.noiseKeyHex, try vector.string("noiseKeyHex"), vector.name)
                XCTAssertEqual(response.nonce, try vector.bytes("nonceA"), vector.name)
                XCTAssertEqual(response.encoded(), payload.body, vector.name)
            case "challenge_parse":
                let challenge = VerificationChallenge(body: try vector.bytes("body"))
                XCTAssertEqual(challenge?.noiseKeyHex, try vector.optionalString("noiseKeyHex"), vector.name)
                XCTAssertEqual(challenge?.nonce, try vector.optionalBytes("nonceA"), vector.name)
            case "response_parse":
                let response = VerificationResponse(body: try vector.bytes("body"))
                XCTAssertEqual(response?.noiseKeyHex, try vector.optionalString("noiseKeyHex"), vector.name)
                XCTAssertEqual(response?.nonce, try vector.optionalBytes("nonceA"), vector.name)
                XCTAssertEqual(response?.signature, try vector.optionalBytes("signature"), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    private func checkCode(_ vector: VectorCase) throws {
        let code = try code(vector.object("fields"))
        XCTAssertEqual(VerificationCode(text: try vector.string("text")), code, vector.name)
        XCTAssertEqual(VerificationCode(text: code.text), code, vector.name)
        XCTAssertEqual(code.nonce, Base64URL.encode(try vector.bytes("nonceBytes")), vector.name)
        XCTAssertEqual(code.signedBytes, try vector.object("fields").bytes("canonicalBytes"), vector.name)
    }

    private func checkScan(_ vector: VectorCase) throws {
        let now = WallTime(milliseconds: try vector.uint64("nowUnix") * 1_000)
        let code = VerificationCode(text: try vector.string("text"))
        if let fields = try vector.optionalObject("fields") {
            XCTAssertEqual(code, try self.code(fields), vector.name)
            XCTAssertEqual(code?.signedBytes, try fields.bytes("canonicalBytes"), vector.name)
            XCTAssertEqual(code?.isCurrent(at: now), true, vector.name)
        } else {
            // What is well-formed and current fails by its signature, which CryptoTests.SignedPayloadTests checks.
            XCTAssertFalse(try vector.bool("accepted"), vector.name)
        }
    }

    private func code(_ fields: VectorCase) throws -> VerificationCode {
        VerificationCode(
            version: Int64(try fields.int("v")), noiseKeyHex: try fields.string("noise"),
            signingKeyHex: try fields.string("sign"), nickname: try fields.string("nick"),
            timestamp: Int64(try fields.int("ts")), nonce: try fields.string("nonce"),
            signatureHex: try fields.string("sig"), npub: try fields.optionalString("npub"))
    }

    private static let code = VerificationCode(
        noiseKeyHex: Hex.encode(Example.A.noisePublicKey), signingKeyHex: Hex.encode(Example.A.signingPublicKey),
        nickname: "gateway-pi", timestamp: 1_750_000_000, nonce: "AAECAwQFBgcICQoLDA0ODw",
        signatureHex: """
            572ac1257b343229cdc8b76b5f4b0885bb2a958a97d1a6fe6e0987e5b8dddc9901982c23e4c9b1eb664fcc2a2e70e029\
            930cff5db94f230e32c266096a3b9104
            """)

    /// Chapter 01 §17.16.
    func testCodeExample() {
        XCTAssertEqual(
            Self.code.signedBytes,
            hex(
                """
                11626974636861742d7665726966792d7631013140303761333763626331343230393363386237353564633162313065
                383663623432363337346164313661613835336564306264666330623262383664316337634065376631363261313062
                656335353961666561313935653464636538346236393536386435643263623039363365623434366330363835653262
                313766326630000a676174657761792d70690a313735303030303030301641414543417751464267634943516f4c4441
                304f4477
                """))
        XCTAssertEqual(VerificationCode(text: Self.code.text), Self.code)
    }

    /// Chapter 02 §6.6.
    func testPlusInANicknameIsWrittenEscapedAndReadEitherWay() {
        var code = Self.code
        code.nickname = "a+b c&d=é%"
        XCTAssertTrue(code.text.contains("nick=a%2Bb%20c%26d%3D%C3%A9%25&"))
        XCTAssertEqual(VerificationCode(text: code.text), code)
        XCTAssertEqual(VerificationCode(text: code.text.replacing("%2B", with: "+")), code)
    }

    func testItemsMayComeInAnyOrderAndTheFirstOfARepeatedOneCounts() throws {
        let query = Self.code.text.dropFirst("bitchat://verify?".count)
        let reversed = query.split(separator: "&").reversed().joined(separator: "&")
        let text = "bitchat://verify?junk&x=1&" + reversed + "&nick=mallory"
        XCTAssertEqual(VerificationCode(text: text), Self.code)
    }

    func testBrokenCodesAreRefused() {
        let text = Self.code.text
        for name in ["v", "noise", "sign", "nick", "ts", "nonce", "sig"] {
            XCTAssertNil(VerificationCode(text: text.replacing(name + "=", with: "z" + name + "=")), name)
        }
        for (good, bad) in [
            ("v=1", "v=one"), ("ts=1750000000", "ts=1.5"), ("ts=1750000000", "ts=99999999999999999999"),
            ("nick=gateway-pi", "nick=%"), ("nick=gateway-pi", "nick=%4"), ("nick=gateway-pi", "nick=%zz"),
            ("nick=gateway-pi", "nick=%ff"), ("sig=57", "sig="), ("noise=07", "noise=0x"), ("verify?", "verify/x?"),
        ] { XCTAssertNil(VerificationCode(text: text.replacing(good, with: bad)), bad) }
        XCTAssertNil(VerificationCode(text: text + "&x=" + String(repeating: "1", count: 4_096)))
    }

    func testTimesFarAwayAreNotCurrentAndDoNotTrap() {
        var code = Self.code
        for timestamp in [Int64.min, .max] {
            code.timestamp = timestamp
            XCTAssertFalse(code.isCurrent(at: Example.time))
            XCTAssertFalse(code.isCurrent(at: WallTime(milliseconds: .max)))
        }
    }

    /// Chapter 01 §17.13.
    func testChallengeAndResponseExamples() {
        let key = Hex.encode(Example.B.noisePublicKey)
        let nonce = [UInt8](0x00...0x0f)
        let challenge = hex(
            """
            100140363462313031623164306265356138373034626430373866393839353030316663303365386539663935323266
            313838646431323864393834366434383436360210000102030405060708090a0b0c0d0e0f
            """)
        XCTAssertEqual(
            VerificationChallenge(noiseKeyHex: key, nonce: nonce).encoded().map { [0x10] + $0 }, challenge)

        let response = VerificationResponse(
            noiseKeyHex: key, nonce: nonce,
            signature: hex(
                """
                cbc811faf508e961671309d4d9fc5a8a106104554c9066e0050c3ae9ead9c94a7e0db69ae5aef4f81c37849775a8dab9
                a4a0d956d349d3424c2c434dc7244605
                """))
        XCTAssertEqual(
            response.encoded().map { [0x11] + $0 },
            [0x11] + challenge.dropFirst() + hex("0340") + response.signature)
        XCTAssertEqual(
            response.signedBytes,
            hex(
                """
                626974636861742d7665726966792d726573702d76314036346231303162316430626535613837303462643037386639
                383935303031666330336538653966393532326631383864643132386439383436643438343636000102030405060708
                090a0b0c0d0e0f
                """))
    }
}
