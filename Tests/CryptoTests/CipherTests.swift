import Basics
import TestSupport
import XCTest

@testable import Crypto

final class CipherTests: XCTestCase {
    func testXChaChaSealsAndOpensAsTheReferenceDoes() throws {
        try Vectors("xchacha.json").run { vector in
            switch vector.kind {
            case "seal":
                let key = SecretBytes(copying: try vector.bytes("key"))
                let nonce = try vector.bytes("nonce")
                let associated = try vector.optionalBytes("aad") ?? []
                let plaintext = try vector.bytes("plaintext")
                let sealed = try vector.bytes("ciphertext") + vector.bytes("tag")
                XCTAssertEqual(
                    XChaChaPoly.seal(plaintext, key: key, nonce: nonce, associated: associated), sealed, vector.name)
                XCTAssertEqual(
                    XChaChaPoly.open(sealed, key: key, nonce: nonce, associated: associated), plaintext, vector.name)
            case "open_reject":
                XCTAssertFalse(try vector.bool("opens"))
                let sealed = try vector.bytes("ciphertext") + vector.bytes("tag")
                let opened = XChaChaPoly.open(
                    sealed, key: SecretBytes(copying: try vector.bytes("key")), nonce: try vector.bytes("nonce"),
                    associated: try vector.optionalBytes("aad") ?? [])
                XCTAssertNil(opened, vector.name)
            case "bad_sizes":
                let isAccepted = try vector.bool("accepted")
                let key = SecretBytes(copying: [UInt8](repeating: 0, count: try vector.int("keyLength")))
                let nonce = [UInt8](repeating: 0, count: try vector.int("nonceLength"))
                let sealed = XChaChaPoly.seal([1], key: key, nonce: nonce)
                XCTAssertEqual(sealed != nil, isAccepted, vector.name)
                let opened = XChaChaPoly.open(sealed ?? [UInt8](repeating: 0, count: 32), key: key, nonce: nonce)
                XCTAssertEqual(opened != nil, isAccepted, vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    /// RFC 8439 §2.8.2.
    func testPublishedChaChaPoly() throws {
        let key = SecretBytes(copying: Array(0x80...0x9f))
        let nonce = hex("070000004041424344454647")
        let associated = hex("50515253c0c1c2c3c4c5c6c7")
        let text = "Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
        let plaintext = Array((text + "sunscreen would be it.").utf8)
        let sealed = try XCTUnwrap(ChaChaPoly.seal(plaintext, key: key, nonce: nonce, associated: associated))
        XCTAssertEqual(Array(sealed.prefix(16)), hex("d31a8d34648e60db7b86afbc53ef7ec2"))
        XCTAssertEqual(Array(sealed.suffix(16)), hex("1ae10b594f09e26a7e902ecbd0600691"))
        XCTAssertEqual(sealed.count, plaintext.count + ChaChaPoly.tagSize)
        XCTAssertEqual(ChaChaPoly.open(sealed, key: key, nonce: nonce, associated: associated), plaintext)
    }

    func testAnyChangeFailsToOpen() throws {
        let key = SecretBytes(copying: Array(1...32))
        let nonce = Array(UInt8(1)...12)
        let sealed = try XCTUnwrap(ChaChaPoly.seal([1, 2, 3], key: key, nonce: nonce, associated: [7]))
        XCTAssertNil(ChaChaPoly.open(sealed, key: SecretBytes(copying: Array(2...33)), nonce: nonce, associated: [7]))
        XCTAssertNil(ChaChaPoly.open(sealed, key: key, nonce: Array(2...13), associated: [7]))
        XCTAssertNil(ChaChaPoly.open(sealed, key: key, nonce: nonce))
        for position in sealed.indices {
            var changed = sealed
            changed[position] ^= 1
            XCTAssertNil(ChaChaPoly.open(changed, key: key, nonce: nonce, associated: [7]))
        }
        for length in 0..<ChaChaPoly.tagSize {
            XCTAssertNil(ChaChaPoly.open(Array(sealed.prefix(length)), key: key, nonce: nonce, associated: [7]))
        }
    }

    func testKeysAndNoncesOfAnotherSizeAreRefused() {
        let key = SecretBytes(copying: Array(1...32))
        for count in [0, 11, 13, 24] {
            let nonce = [UInt8](repeating: 0, count: count)
            XCTAssertNil(ChaChaPoly.seal([1], key: key, nonce: nonce))
            XCTAssertNil(ChaChaPoly.open([UInt8](repeating: 0, count: 32), key: key, nonce: nonce))
        }
        let nonce = [UInt8](repeating: 0, count: 12)
        for count in [0, 31, 33] {
            let short = SecretBytes(copying: [UInt8](repeating: 0, count: count))
            XCTAssertNil(ChaChaPoly.seal([1], key: short, nonce: nonce))
            XCTAssertNil(ChaChaPoly.open([UInt8](repeating: 0, count: 32), key: short, nonce: nonce))
        }
    }

    // MARK: Key derivation

    /// RFC 4231 §4.2, §4.3 and §4.7, the last with a key longer than a block.
    func testPublishedHMAC() {
        XCTAssertEqual(
            HMACSHA256.code(of: Array("Hi There".utf8), key: [UInt8](repeating: 0x0b, count: 20)),
            hex("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"))
        XCTAssertEqual(
            HMACSHA256.code(of: Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8)),
            hex("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"))
        XCTAssertEqual(
            HMACSHA256.code(
                of: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
                key: [UInt8](repeating: 0xaa, count: 131)),
            hex("60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"))
    }

    /// RFC 5869 appendix A, tests 1 to 3.
    func testPublishedHKDF() {
        let first = HKDFSHA256.derive(
            SecretBytes(copying: [UInt8](repeating: 0x0b, count: 22)), salt: Array(0x00...0x0c),
            info: Array(0xf0...0xf9), count: 42)
        XCTAssertEqual(
            first.exposed,
            hex("3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"))
        let second = HKDFSHA256.derive(
            SecretBytes(copying: Array(0x00...0x4f)), salt: Array(0x60...0xaf), info: Array(0xb0...0xff), count: 82)
        XCTAssertEqual(
            second.exposed,
            hex(
                """
                b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09
                da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87
                """))
        let third = HKDFSHA256.derive(
            SecretBytes(copying: [UInt8](repeating: 0x0b, count: 22)), info: [], count: 42)
        XCTAssertEqual(
            third.exposed,
            hex("8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"))
    }

    func testHKDFOutputIsBounded() {
        let input = SecretBytes(copying: [1])
        XCTAssertEqual(HKDFSHA256.derive(input, info: [], count: 0).count, 0)
        XCTAssertEqual(HKDFSHA256.derive(input, info: [], count: -1).count, 0)
        XCTAssertEqual(HKDFSHA256.derive(input, info: [], count: 8_160).count, 8_160)
        XCTAssertEqual(HKDFSHA256.derive(input, info: [], count: 100_000).count, 8_160)
    }
}
