import Basics
import TestSupport
import Wire
import XCTest

@testable import Crypto

final class KeyTests: XCTestCase {
    // MARK: Peers' names

    func testNamesOfPeersFollowFromTheirKeysAsInTheReference() throws {
        try Vectors("peer_ids.json").run { vector in
            switch vector.kind {
            case "derive":
                let key = try XCTUnwrap(NoiseStaticKey(privateKey: vector.bytes("privateKey")))
                XCTAssertEqual(key.publicKey.bytes, try vector.bytes("publicKey"))
                XCTAssertEqual(key.publicKey.fingerprint.hex, try vector.string("fingerprint"))
                XCTAssertEqual(key.publicKey.peerID.hex, try vector.string("peerID"))
            default: throw vector.unknownKind
            }
        }
    }

    func testNamesOfTheWireExamples() throws {
        let a = try Examples.a()
        XCTAssertEqual(a.noise.publicKey.hex, "07a37cbc142093c8b755dc1b10e86cb426374ad16aa853ed0bdfc0b2b86d1c7c")
        XCTAssertEqual(a.fingerprint.hex, "aaa8fff703b50b2297f4f6e13508f72420d96fd01ebb84cb074449caaef64041")
        XCTAssertEqual(a.peerID, PeerID(hex: "aaa8fff703b50b22"))
        XCTAssertEqual(a.signing.publicKey.hex, "e7f162a10bec559afea195e4dce84b69568d5d2cb0963eb446c0685e2b17f2f0")
        let b = try Examples.b()
        XCTAssertEqual(b.noise.publicKey.hex, "64b101b1d0be5a8704bd078f9895001fc03e8e9f9522f188dd128d9846d48466")
        XCTAssertEqual(b.fingerprint.hex, "bc841db8fea3efd84555a7f8eeb925033c90c9d5034b1a4c48a6c87de3c0ebde")
        XCTAssertEqual(b.peerID, PeerID(hex: "bc841db8fea3efd8"))
        XCTAssertEqual(b.signing.publicKey.hex, "882d0ea3b2864e7a587f3e698cea4459998312e655e05fa5e8b5119d8baac8cd")
    }

    /// Chapter 02 §13: private keys are one byte repeated.
    func testNamesOfTheNoiseExamples() throws {
        func key(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }
        let a = NodeIdentity(
            noise: try XCTUnwrap(NoiseStaticKey(privateKey: key(0x11))),
            signing: try XCTUnwrap(SigningKey(seed: key(0x55))))
        let b = NodeIdentity(
            noise: try XCTUnwrap(NoiseStaticKey(privateKey: key(0x22))),
            signing: try XCTUnwrap(SigningKey(seed: key(0x66))))
        XCTAssertEqual(a.noise.publicKey.hex, "7b4e909bbe7ffe44c465a220037d608ee35897d31ef972f07f74892cb0f73f13")
        XCTAssertEqual(b.noise.publicKey.hex, "0faa684ed28867b97f4a6a2dee5df8ce974e76b7018e3f22a1c4cf2678570f20")
        XCTAssertEqual(a.signing.publicKey.hex, "c6822637c7d310ec57627be00ba259d253749f4aaf644470cffbe53a35f73242")
        XCTAssertEqual(b.signing.publicKey.hex, "34b4d9043156cb6dcf0beb0a2949b7559c940d2bcb6dbe8c53a9b30278e3a746")
        XCTAssertEqual(a.fingerprint.hex, "d19bf3f082782c87b783fe7134698aeff6e66d9f86afaf7cf9e9b8bf40bab3ff")
        XCTAssertEqual(b.fingerprint.hex, "65cf5c9b1de5d41f758cb67f2d05f3e316a203fcb56351d9e3f158e02962c74d")
        XCTAssertEqual(a.peerID.hex, "d19bf3f082782c87")
        XCTAssertEqual(b.peerID.hex, "65cf5c9b1de5d41f")
        XCTAssertLessThan(b.peerID, a.peerID)
    }

    // MARK: Acceptance of X25519 keys

    func testKeysAreAcceptedAndRefusedAsTheReferenceDoes() throws {
        try Vectors("noise_xx.json").run { vector in
            switch vector.kind {
            case "invalid_key":
                let isAccepted = try NoisePublicKey(vector.bytes("key"))?.isAcceptable ?? false
                XCTAssertEqual(isAccepted, try vector.bool("accepted"), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    func testRefusedKeysAgreeOnNothing() throws {
        let own = try Examples.a().noise
        let refused = [
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000000",
            "0000000000000000000000000000000000000000000000000000000000000001",
            "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800",
            "5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157",
            "daffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            "dbffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        ]
        for text in refused {
            let key = try XCTUnwrap(NoisePublicKey(hex: text))
            XCTAssertFalse(key.isAcceptable, text)
            XCTAssertNil(own.sharedSecret(with: key), text)
        }
    }

    /// Low-order points outside the list of eight give an all-zero result (chapter 02 §1.3 rule 3).
    func testAllZeroAgreementsAreRefused() throws {
        let own = try Examples.a().noise
        for text in [
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        ] {
            let key = try XCTUnwrap(NoisePublicKey(hex: text))
            XCTAssertTrue(key.isAcceptable, text)
            XCTAssertNil(own.sharedSecret(with: key), text)
        }
    }

    /// RFC 7748 §6.1.
    func testPublishedAgreement() throws {
        let alice = try XCTUnwrap(
            NoiseStaticKey(privateKey: hex("77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a")))
        let bob = try XCTUnwrap(
            NoiseStaticKey(privateKey: hex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")))
        XCTAssertEqual(alice.publicKey.hex, "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
        XCTAssertEqual(bob.publicKey.hex, "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f")
        let secret = try XCTUnwrap(alice.sharedSecret(with: bob.publicKey))
        XCTAssertEqual(Hex.encode(secret.exposed), "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742")
        XCTAssertEqual(secret, bob.sharedSecret(with: alice.publicKey))
    }

    // MARK: Sizes and generation

    func testKeysOfAnotherSizeAreRefused() {
        for count in [0, 31, 33, 64] {
            let bytes = [UInt8](repeating: 1, count: count)
            XCTAssertNil(NoisePublicKey(bytes))
            XCTAssertNil(NoiseStaticKey(privateKey: bytes))
            XCTAssertNil(SigningPublicKey(bytes))
            XCTAssertNil(SigningKey(seed: bytes))
            XCTAssertNil(Fingerprint(bytes))
            XCTAssertNil(NostrPublicKey(bytes))
            XCTAssertNil(NostrSecretKey(bytes))
            XCTAssertNil(DeviceSeed(bytes))
        }
        XCTAssertNil(NoisePublicKey(hex: "zz"))
    }

    func testSameGeneratorSameIdentity() {
        var first = SeededRandom(seed: 1)
        var second = SeededRandom(seed: 1)
        var third = SeededRandom(seed: 2)
        let identity = NodeIdentity.generate(using: &first)
        XCTAssertEqual(identity.peerID, NodeIdentity.generate(using: &second).peerID)
        XCTAssertNotEqual(identity.peerID, NodeIdentity.generate(using: &third).peerID)
        XCTAssertNotEqual(identity.noise.privateKey, identity.signing.seed)
        XCTAssertNotEqual(
            NostrSecretKey.generate(using: &first).publicKey, NostrSecretKey.generate(using: &first).publicKey)
        XCTAssertEqual(DeviceSeed.generate(using: &first).secret.count, 32)
    }

    func testPublicValuesCompareByAllTheirBytes() throws {
        let bytes = Array(UInt8(1)...32)
        let key = try XCTUnwrap(NoisePublicKey(bytes))
        for position in 0..<32 {
            var other = bytes
            other[position] ^= 0x80
            XCTAssertNotEqual(key, NoisePublicKey(other))
        }
        XCTAssertEqual(key, NoisePublicKey(hex: key.hex.uppercased()))
        XCTAssertEqual(Set([key, key]).count, 1)
        XCTAssertEqual(key.description, key.hex)
    }
}
