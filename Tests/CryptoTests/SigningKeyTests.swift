import Crypto
import XCTest

final class SigningKeyTests: XCTestCase {
    /// RFC 8032 §7.1, tests 1 to 3.
    func testPublishedSignatures() throws {
        let cases = [
            (
                "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
                "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
                """
                e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b
                d25bf5f0595bbe24655141438e7a100b
                """
            ),
            (
                "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
                "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
                """
                92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c
                387b2eaeb4302aeeb00d291612bb0c00
                """
            ),
            (
                "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
                "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
                """
                6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659
                4a7c15e9716ed28dc027beceea1ec40a
                """
            ),
        ]
        for (seed, publicKey, message, signature) in cases {
            let key = try XCTUnwrap(SigningKey(seed: hex(seed)))
            XCTAssertEqual(key.publicKey.hex, publicKey)
            XCTAssertEqual(key.sign(hex(message)), hex(signature))
            XCTAssertTrue(key.publicKey.verify(hex(signature), over: hex(message)))
        }
    }

    func testAnyChangeFailsVerification() throws {
        let key = try XCTUnwrap(SigningKey(seed: Array(1...32)))
        let other = try XCTUnwrap(SigningKey(seed: Array(2...33)))
        let message: [UInt8] = [1, 2, 3]
        let signature = key.sign(message)
        XCTAssertTrue(key.publicKey.verify(signature, over: message))
        XCTAssertFalse(key.publicKey.verify(signature, over: [1, 2, 4]))
        XCTAssertFalse(key.publicKey.verify(signature, over: []))
        XCTAssertFalse(other.publicKey.verify(signature, over: message))
        for position in [0, 31, 32, 63] {
            var changed = signature
            changed[position] ^= 1
            XCTAssertFalse(key.publicKey.verify(changed, over: message))
        }
        for length in [0, 63] { XCTAssertFalse(key.publicKey.verify(Array(signature.prefix(length)), over: message)) }
        XCTAssertFalse(key.publicKey.verify(signature + [0], over: message))
    }

    /// Strict verification (chapter 02 §15.4): a key of small order signs everything, and S + L is a second spelling.
    func testSmallOrderKeysAndSecondSpellingsAreRefused() throws {
        let smallOrder = try XCTUnwrap(
            SigningPublicKey(hex: "0100000000000000000000000000000000000000000000000000000000000000"))
        var signature = [UInt8](repeating: 0, count: 64)
        signature[0] = 1
        XCTAssertFalse(smallOrder.verify(signature, over: [1, 2, 3]))

        let order = hex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010")
        let key = try XCTUnwrap(SigningKey(seed: Array(1...32)))
        var second = key.sign([1])
        var carry = 0
        for position in 0..<32 {
            carry += Int(second[32 + position]) + Int(order[position])
            second[32 + position] = UInt8(carry & 0xff)
            carry >>= 8
        }
        XCTAssertEqual(carry, 0)
        XCTAssertFalse(key.publicKey.verify(second, over: [1]))
    }

    func testUnparsableKeyVerifiesNothing() throws {
        let noPoint = try XCTUnwrap(SigningPublicKey([2] + [UInt8](repeating: 0, count: 31)))
        let signature = try XCTUnwrap(SigningKey(seed: Array(1...32))).sign([1])
        XCTAssertFalse(noPoint.verify(signature, over: [1]))
    }
}
