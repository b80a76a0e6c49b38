import Basics
import TestSupport
import XCTest

@testable import Crypto

final class NostrKeyTests: XCTestCase {
    func testKeysAndTheirTextsAreTheReferences() throws {
        try Vectors("nostr_events.json").run { vector in
            switch vector.kind {
            case "key":
                let key = try NostrSecretKey(vector.bytes("privateKey"))
                XCTAssertEqual(key?.publicKey.hex, try vector.optionalString("pubkey"), vector.name)
                XCTAssertEqual(key?.publicKey.npub, try vector.optionalString("npub"), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    /// BIP-340 test vectors 0 and 1.
    func testPublishedSignatures() throws {
        let cases = [
            (
                "0000000000000000000000000000000000000000000000000000000000000003",
                "f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9",
                "0000000000000000000000000000000000000000000000000000000000000000",
                "0000000000000000000000000000000000000000000000000000000000000000",
                """
                e907831f80848d1069a5371b402410364bdf1c5f8307b0084c55f1ce2dca8215
                25f66a4a85ea8b71e482a74f382d2ce5ebeee8fdb2172f477df4900d310536c0
                """
            ),
            (
                "b7e151628aed2a6abf7158809cf4f3c762e7160f38b4da56a784d9045190cfef",
                "dff1d77f2a671c5f36183726db2341be58feae1da2deced843240f7b502ba659",
                "0000000000000000000000000000000000000000000000000000000000000001",
                "243f6a8885a308d313198a2e03707344a4093822299f31d0082efa98ec4e6c89",
                """
                6896bd60eeae296db48a229ff71dfe071bde413e6d43f917dc8dcf8c78de3341
                8906d11ac976abccb20b091292bff4ea897efcb639ea871cfa95f6de339e4b0a
                """
            ),
        ]
        for (secret, publicKey, auxiliary, digest, signature) in cases {
            let key = try XCTUnwrap(NostrSecretKey(hex(secret)))
            XCTAssertEqual(key.publicKey.hex, publicKey)
            XCTAssertEqual(key.sign(hex(digest), auxiliary: hex(auxiliary)), hex(signature))
            XCTAssertTrue(key.publicKey.verify(hex(signature), digest: hex(digest)))
        }
    }

    /// BIP-340 test vectors 5 to 14: key not on the curve, wrong parity, negated values, R at infinity, ranges.
    func testPublishedForgeriesAreRefused() throws {
        let digest = hex("243f6a8885a308d313198a2e03707344a4093822299f31d0082efa98ec4e6c89")
        let genuine = "dff1d77f2a671c5f36183726db2341be58feae1da2deced843240f7b502ba659"
        let cases = [
            (
                "eefdea4cdb677750a420fee807eacf21eb9898ae79b9768766e4faa04a2d4a34",
                "6cff5c3ba86c69ea4b7376f31a9bcb4f74c1976089b2d9963da2e5543e177769"
                    + "69e89b4c5564d00349106b8497785dd7d1d713a8ae82b32fa79d5f7fc407d39b"
            ),
            (
                genuine,
                "fff97bd5755eeea420453a14355235d382f6472f8568a18b2f057a1460297556"
                    + "3cc27944640ac607cd107ae10923d9ef7a73c643e166be5ebeafa34b1ac553e2"
            ),
            (
                genuine,
                "1fa62e331edbc21c394792d2ab1100a7b432b013df3f6ff4f99fcb33e0e1515f"
                    + "28890b3edb6e7189b630448b515ce4f8622a954cfe545735aaea5134fccdb2bd"
            ),
            (
                genuine,
                "6cff5c3ba86c69ea4b7376f31a9bcb4f74c1976089b2d9963da2e5543e177769"
                    + "961764b3aa9b2ffcb6ef947b6887a226e8d7c93e00c5ed0c1834ff0d0c2e6da6"
            ),
            (
                genuine,
                "0000000000000000000000000000000000000000000000000000000000000000"
                    + "123dda8328af9c23a94c1feecfd123ba4fb73476f0d594dcb65c6425bd186051"
            ),
            (
                genuine,
                "0000000000000000000000000000000000000000000000000000000000000001"
                    + "7615fbaf5ae28864013c099742deadb4dba87f11ac6754f93780d5a1837cf197"
            ),
            (
                genuine,
                "4a298dacae57395a15d0795ddbfd1dcb564da82b0f269bc70a74f8220429ba1d"
                    + "69e89b4c5564d00349106b8497785dd7d1d713a8ae82b32fa79d5f7fc407d39b"
            ),
            (
                genuine,
                "fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc2f"
                    + "69e89b4c5564d00349106b8497785dd7d1d713a8ae82b32fa79d5f7fc407d39b"
            ),
            (
                genuine,
                "6cff5c3ba86c69ea4b7376f31a9bcb4f74c1976089b2d9963da2e5543e177769"
                    + "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"
            ),
            (
                "fffffffffffffffffffffffffffffffffffffffffffffffffffffffefffffc30",
                "6cff5c3ba86c69ea4b7376f31a9bcb4f74c1976089b2d9963da2e5543e177769"
                    + "69e89b4c5564d00349106b8497785dd7d1d713a8ae82b32fa79d5f7fc407d39b"
            ),
        ]
        for (publicKey, signature) in cases {
            let key = try XCTUnwrap(NostrPublicKey(hex: publicKey))
            XCTAssertFalse(key.verify(hex(signature), digest: digest), signature)
        }
    }

    func testSignaturesAndDigestsOfAnotherSizeAreRefused() throws {
        let key = try XCTUnwrap(NostrSecretKey(Array(1...32)))
        let digest = [UInt8](repeating: 9, count: 32)
        let signature = try XCTUnwrap(key.sign(digest, auxiliary: digest))
        XCTAssertTrue(key.publicKey.verify(signature, digest: digest))
        XCTAssertFalse(key.publicKey.verify(Array(signature.dropLast()), digest: digest))
        XCTAssertFalse(key.publicKey.verify(signature + [0], digest: digest))
        XCTAssertFalse(key.publicKey.verify([], digest: digest))
        XCTAssertFalse(key.publicKey.verify(signature, digest: digest + [9]))
        XCTAssertFalse(key.publicKey.verify(signature, digest: []))
        XCTAssertNil(key.sign(digest + [0], auxiliary: digest))
        XCTAssertNil(key.sign(digest, auxiliary: []))
    }

    func testAuxiliaryRandomnessComesFromTheGivenGenerator() throws {
        let key = try XCTUnwrap(NostrSecretKey(Array(1...32)))
        let digest = [UInt8](repeating: 9, count: 32)
        var first = SeededRandom(seed: 3)
        var second = SeededRandom(seed: 3)
        let signature = try XCTUnwrap(key.sign(digest, using: &first))
        XCTAssertEqual(signature, key.sign(digest, auxiliary: second.bytes(32)))
        XCTAssertNotEqual(signature, key.sign(digest, using: &first))
        XCTAssertTrue(key.publicKey.verify(signature, digest: digest))
    }
}
