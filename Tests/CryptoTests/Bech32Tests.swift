import Crypto
import TestSupport
import XCTest

final class Bech32Tests: XCTestCase {
    func testTextsAreCodedAndRefusedAsTheReferenceDoes() throws {
        try Vectors("encodings.json").run { vector in
            switch vector.kind {
            case "bech32_encode":
                let text = Bech32.encode(prefix: try vector.string("hrp"), data: try vector.bytes("data"))
                XCTAssertEqual(text, try vector.string("text"), vector.name)
            case "bech32_decode":
                let decoded = Bech32.decode(try vector.string("text"))
                XCTAssertEqual(decoded?.prefix, try vector.optionalString("hrp"), vector.name)
                XCTAssertEqual(decoded?.data, try vector.optionalBytes("data"), vector.name)
            default: throw vector.unknownKind
            }
        }
    }

    func testNpubTakesNothingElse() throws {
        let key = [UInt8](repeating: 7, count: 32)
        let npub = try XCTUnwrap(Bech32.encode(prefix: "npub", data: key))
        XCTAssertEqual(NostrPublicKey(npub: npub)?.bytes, key)
        XCTAssertNil(NostrPublicKey(npub: npub.uppercased()))
        XCTAssertNil(NostrPublicKey(npub: try XCTUnwrap(Bech32.encode(prefix: "nsec", data: key))))
        for count in [0, 31, 33] {
            let other = try XCTUnwrap(Bech32.encode(prefix: "npub", data: [UInt8](repeating: 7, count: count)))
            XCTAssertNil(NostrPublicKey(npub: other))
        }
    }

    /// A key of 32 bytes leaves four pad bits. Texts computed with a second implementation of BIP-173 and BIP-350.
    func testLeftoverBitsAreIgnoredAndBech32mIsRefused() {
        let common = "npub1qurswpc8qurswpc8qurswpc8qurswpc8qurswpc8qurswpc8qur"
        let key = [UInt8](repeating: 7, count: 32)
        XCTAssertEqual(NostrPublicKey(npub: common + "snvjvl7")?.npub, common + "snvjvl7")
        XCTAssertEqual(NostrPublicKey(npub: common + "lvppsqx")?.bytes, key)
        XCTAssertNil(NostrPublicKey(npub: common + "sxszq6u"))
        XCTAssertNil(Bech32.decode("a1lqfn3a"))
    }

    func testSizeAndPrefixAreBounded() {
        XCTAssertNil(Bech32.encode(prefix: "", data: [1]))
        XCTAssertNil(Bech32.encode(prefix: "Npub", data: [1]))
        XCTAssertNil(Bech32.encode(prefix: "n b", data: [1]))
        XCTAssertNil(Bech32.encode(prefix: "npub", data: [UInt8](repeating: 0, count: 60)))
        XCTAssertNil(Bech32.decode("npub1" + String(repeating: "q", count: 100_000)))
    }
}
