import Basics
import Crypto
import TestSupport
import XCTest

@testable import Nostr

final class NostrEventTests: XCTestCase {
    func testEventsAreSignedVerifiedAndReadAsTheReferenceDoes() throws {
        try Vectors("nostr_events.json").run { vector in
            switch vector.kind {
            case "sign": try checkSigning(vector)
            case "verify":
                let event = try vector.object("event").nostrEvent()
                XCTAssertEqual(VerifiedEvent(verifying: event) != nil, try vector.bool("valid"), vector.name)
            case "parse_accept":
                let event = try NostrEvent(json: [UInt8](vector.string("json").utf8))
                XCTAssertEqual(event, try vector.object("event").nostrEvent(), vector.name)
            case "parse_reject":
                let json = [UInt8](try vector.string("json").utf8)
                XCTAssertThrowsError(try NostrEvent(json: json), vector.name) { error in
                    XCTAssertTrue(error is NostrEventRejection)
                }
            default: throw vector.unknownKind
            }
        }
    }

    private func checkSigning(_ vector: VectorCase) throws {
        let key = try XCTUnwrap(NostrSecretKey(vector.bytes("privateKey")))
        var event = NostrEvent(
            pubkey: try vector.string("pubkey"), createdAt: Int64(try vector.int("created_at")),
            kind: try vector.int("eventKind"), tags: try XCTUnwrap(vector.array("tags") as? [[String]]),
            content: try vector.string("content"))
        XCTAssertEqual(key.publicKey.hex, event.pubkey, vector.name)
        XCTAssertEqual(event.canonicalBytes, [UInt8](try vector.string("serialized").utf8), vector.name)
        XCTAssertEqual(event.id, try vector.string("id"), vector.name)
        if let auxiliary = try vector.optionalBytes("auxRand") {
            let signature = try XCTUnwrap(key.sign(event.computedID.bytes, auxiliary: auxiliary))
            XCTAssertEqual(Hex.encode(signature), try vector.string("sig"), vector.name)
        }
        event.sig = try vector.string("sig")
        XCTAssertEqual(try NostrEvent(json: [UInt8](vector.string("json").utf8)), event, vector.name)
        XCTAssertEqual(try NostrEvent(json: event.json()), event, vector.name)
        XCTAssertNotNil(VerifiedEvent(verifying: event), vector.name)
    }

    /// Chapter 05 §17.1.
    private static let worked = NostrEvent(
        pubkey: "f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9", createdAt: 1_700_000_000,
        kind: 20_000, tags: [["g", "u4pruyd"], ["n", "älpha"], ["t", "teleport"]],
        content: "hi/there\n\u{01}é😀\u{2028}<&>\\\"")

    func testWorkedExampleOfTheCanonicalForm() throws {
        let expected = """
            5b302c2266393330386130313932353863333130343933343466383566383964353232396235333163383435383336663939
            623038363031663131336263653033366639222c313730303030303030302c32303030302c5b5b2267222c22753470727579
            64225d2c5b226e222c22c3a46c706861225d2c5b2274222c2274656c65706f7274225d5d2c2268692f74686572655c6e5c75
            30303031c3a9f09f9880e280a83c263e5c5c5c22225d
            """
        XCTAssertEqual(Hex.encode(Self.worked.canonicalBytes), expected.split(separator: "\n").joined())
        XCTAssertEqual(Self.worked.canonicalBytes.count, 172)
        XCTAssertEqual(Self.worked.id, "e5d4b951b8df84acde7270e5ea750f515d38ab5cd95d494de134ee97f015a7a6")
        let key = try XCTUnwrap(NostrSecretKey([UInt8](repeating: 0, count: 31) + [3]))
        let signature = try XCTUnwrap(
            key.sign(Self.worked.computedID.bytes, auxiliary: [UInt8](repeating: 0, count: 32)))
        XCTAssertEqual(
            Hex.encode(signature),
            "c81e1628fe6e9d62ef305030383b33fd004a5f518cae9deec3aa059ccbfb513d"
                + "c7b017e565322a6ee923bce2318b83c20fc81cb09fabdb9fd7c7ced0301906c5")
    }

    func testWorkedExampleOfPresence() {
        let event = NostrEvent(
            pubkey: Self.worked.pubkey, createdAt: 1_700_000_000, kind: 20_001, tags: [["g", "u4pru"]], content: "")
        XCTAssertEqual(event.id, "7d196c7be471c8c780ae8287c8de494b4eaf797439105e33e841f67468f35018")
    }

    func testIDsOfOtherSpellingsOfTheCanonicalFormDoNotVerify() {
        for wrong in [
            "94b0e9e32c20bea2cb3e594bef578024b2586350e3de860ce54a233f961b1ab7",
            "ac8f783c70d4d60bfc3869641907da1962462dcabb3bbcab4d58dc4036cfe75d",
        ] {
            var event = Self.worked
            event.id = wrong
            event.sig = String(repeating: "0", count: 128)
            XCTAssertNil(VerifiedEvent(verifying: event))
        }
    }

    func testSigningGivesAnEventThatVerifiesAfterARoundTrip() throws {
        var random = SeededRandom(seed: 1)
        let key = NostrSecretKey.generate(using: &random)
        let signed = try XCTUnwrap(
            VerifiedEvent.signed(
                kind: 1, tags: [["t", "\"\\/"], []], content: "\u{0}\u{1f}\u{7f}\u{85}\u{2029}", createdAt: -1,
                key: key,
                using: &random))
        let parsed = try NostrEvent(json: signed.json())
        XCTAssertEqual(VerifiedEvent(verifying: parsed), signed)
        XCTAssertEqual(signed.author, key.publicKey)
        XCTAssertEqual(signed.id.hex, parsed.id)
    }

    func testNothingBeyondTheLimitsIsSigned() {
        var random = SeededRandom(seed: 1)
        let key = NostrSecretKey.generate(using: &random)
        let long = String(repeating: "é", count: 513)
        for tags in [Array(repeating: ["a"], count: 65), [Array(repeating: "a", count: 17)], [["a", long]]] {
            XCTAssertNil(
                VerifiedEvent.signed(kind: 1, tags: tags, content: "", createdAt: 0, key: key, using: &random))
        }
    }

    func testDistinctSpellingsThatUnicodeCallsEqualAreDistinctTags() {
        var event = Self.worked
        event.tags = [["n", "e\u{301}"]]
        XCTAssertFalse(event.hasTag("n", "é"))
        XCTAssertTrue(event.hasTag("n", "e\u{301}"))
    }

    func testTheSignaturesCaseIsFreeAndNothingElseIs() throws {
        var random = SeededRandom(seed: 2)
        let key = NostrSecretKey.generate(using: &random)
        let signed = try XCTUnwrap(
            VerifiedEvent.signed(kind: 1, tags: [], content: "x", createdAt: 1, key: key, using: &random)?.event)
        var upper = signed
        upper.sig = signed.sig?.uppercased()
        XCTAssertNotNil(VerifiedEvent(verifying: upper))
        for change in [\NostrEvent.id, \NostrEvent.pubkey] {
            var event = signed
            event[keyPath: change] = event[keyPath: change].uppercased()
            XCTAssertNil(VerifiedEvent(verifying: event))
            event[keyPath: change] = " " + signed[keyPath: change]
            XCTAssertNil(VerifiedEvent(verifying: event))
        }
    }
}

extension VectorCase {
    /// An event object of the vector files.
    func nostrEvent() throws -> NostrEvent {
        guard let tags = try array("tags") as? [[String]] else { throw VectorError.malformed("tags") }
        return NostrEvent(
            id: try optionalString("id") ?? "", pubkey: try string("pubkey"), createdAt: Int64(try int("created_at")),
            kind: try int("kind"), tags: tags, content: try string("content"), sig: try optionalString("sig"))
    }
}
