import Basics
import TestSupport
import XCTest

@testable import Crypto

final class DeviceSeedTests: XCTestCase {
    func testIdentitiesOfPlacesAreTheReferences() throws {
        try Vectors("geohash_identity.json").run { vector in
            let seed = try XCTUnwrap(DeviceSeed(vector.bytes("deviceSeed")))
            let key: NostrSecretKey
            switch vector.kind {
            case "geohash":
                let geohash = try vector.string("geohash")
                key = seed.derive(label: geohash)
                // A channel's key is that of its name in lower case.
                if geohash == geohash.lowercased() {
                    XCTAssertEqual(seed.channel(geohash).publicKey, key.publicKey, vector.name)
                }
            case "bridge":
                let cell = try vector.string("cell")
                key = seed.derive(label: "bridge|" + cell)
                XCTAssertEqual(seed.bridge(cell: cell).publicKey, key.publicKey, vector.name)
            default: throw vector.unknownKind
            }
            XCTAssertEqual(key.privateKey.exposed, try vector.bytes("privateKey"), vector.name)
            XCTAssertEqual(key.publicKey.hex, try vector.string("pubkey"), vector.name)
            XCTAssertEqual(key.publicKey.npub, try vector.string("npub"), vector.name)
            XCTAssertEqual(key.publicKey, NostrPublicKey(npub: try vector.string("npub")), vector.name)
        }
    }

    /// Chapter 05 §17.4 and chapter 06 §19.2.
    func testIdentitiesOfPlacesAndCellsAreThoseOfTheExamples() throws {
        let seed = try XCTUnwrap(DeviceSeed(Array(0...31)))
        let channels = [
            (
                "u4pruyd", "cf5ac3b3b7c4374def478bcb8d927209a210726928e0a6f4d9cc148f33f8077d",
                "21f15217b6c6bc19d2c0a9d405eda1fc2bf8e27dcf6c78c0be079bb17af28949"
            ),
            (
                "u4pru", "9ce9938a6f04c00050540c83837f1787255fa8613c31936cf2f98c1de5813517",
                "007e6b733d0044dd63e6f110079b9ff53ebce38712b17e755e97ced9a3cdfb01"
            ),
            (
                "9q8yy", "acc10d6d715537e9b172fa3528d1bd855819c870f61012e194d221d4cb81cc9d",
                "ad81f34942c33c34c169d255c89da40f563573747f55073503203a20e0261acc"
            ),
            (
                "u4pruy", "8a6077fa211f5edd2480c33e53e2fa334b679b43b833ff9885d92bd4aed14e6c",
                "c4607abb02b2f7fb2b775f7137fde98182397684ca00c993793f574178977c66"
            ),
        ]
        for (geohash, privateKey, publicKey) in channels {
            let key = seed.channel(geohash)
            XCTAssertEqual(Hex.encode(key.privateKey.exposed), privateKey)
            XCTAssertEqual(key.publicKey.hex, publicKey)
            XCTAssertEqual(seed.channel(geohash.uppercased()).publicKey.hex, publicKey)
        }
        let bridge = seed.bridge(cell: "u4pruy")
        XCTAssertEqual(
            Hex.encode(bridge.privateKey.exposed), "0867663fa69a705bae2b33e3e22c71b00994c18516a90401a50ffc96b388ea16")
        XCTAssertEqual(
            bridge.publicKey.hex, "94ea4d35fb35a3487b07f4465f77e902411be809d0960ce104b1ad1b98412f2d")
        XCTAssertEqual(bridge.publicKey, seed.derive(label: "bridge|u4pruy").publicKey)
    }

    /// Chapter 05 §17.4, last lines: the second candidate counts big-endian; the fallback hashes seed and label.
    func testFurtherCandidatesWhenEarlierOnesAreNoScalars() throws {
        let seed = try XCTUnwrap(DeviceSeed(Array(0...31)))
        var candidates = [String]()
        let key: Int = seed.derive(label: "u4pruyd") { candidate in
            candidates.append(Hex.encode(candidate.exposed))
            return candidates.count == 13 ? 13 : nil
        }
        XCTAssertEqual(key, 13)
        XCTAssertEqual(candidates[0], "cf5ac3b3b7c4374def478bcb8d927209a210726928e0a6f4d9cc148f33f8077d")
        XCTAssertEqual(candidates[1], "135e1c3abcdfc45bc640c8d5c87cab4daf1467d7f8a53a3ac438f44213b71384")
        XCTAssertEqual(candidates[10], "a2ca6ee127e4ac8da0a1a09c16e52741031470b50a9cb7653a17771bb8e20e34")
        XCTAssertEqual(Set(candidates).count, 13)
    }

    func testNpubOfTheEventExample() throws {
        let three = [UInt8](repeating: 0, count: 31) + [3]
        let key = try XCTUnwrap(NostrSecretKey(three))
        XCTAssertEqual(key.publicKey.npub, "npub1lycg5qvjtrp3qjf5f7zl382j9x6nrjz9sdhenvyxq8c3808qxmus6gq266")
    }
}
