import Nostr
import TestSupport
import XCTest

final class NostrRelayURLTests: XCTestCase {
    func testAddressesAreNormalisedAsTheReferenceDoes() throws {
        try Vectors("relay_urls.json").run { vector in
            guard vector.kind == "normalize" else { throw vector.unknownKind }
            let url = NostrRelayURL(
                try vector.string("input"), defaultScheme: try vector.optionalString("defaultScheme"))
            XCTAssertEqual(url?.text, try vector.optionalString("output"), vector.name)
            if let url { XCTAssertEqual(NostrRelayURL(url.text), url, "\(vector.name): normal form is stable") }
        }
    }

    /// Chapter 05 §4.1.
    func testAddressesOfTheExamplesAreNormalisedAsWritten() {
        XCTAssertEqual(NostrRelayURL("WSS://Relay.Example.com:443/")?.text, "wss://relay.example.com")
        XCTAssertEqual(NostrRelayURL("http://h.com:80")?.text, "ws://h.com")
        XCTAssertNil(NostrRelayURL("ftp://h"))
    }

    func testPartsNeededToDial() throws {
        let url = try XCTUnwrap(NostrRelayURL("wss://Relay.example.com:4848/Path?x=1#f"))
        XCTAssertEqual(url.host, "relay.example.com")
        XCTAssertEqual(url.port, 4_848)
        XCTAssertEqual(url.resource, "/Path?x=1")
        XCTAssertTrue(url.isSecure)
        XCTAssertEqual(NostrRelayURL("wss://a.b?x=1")?.resource, "/?x=1")
        XCTAssertEqual(NostrRelayURL("ws://[::1]:7")?.host, "::1")
        XCTAssertEqual(NostrRelayURL("ws://a.b")?.port, 80)
    }

    func testOddAddressesAreRefused() {
        for text in [
            "wss://münchen.example", "wss://a b.example", "wss://h:", "wss://h:0", "wss://h:65536", "wss://h:+1",
            "wss://[::1", "wss://[::1]x", "wss://[zz::]", "wss://[1]", "wss://h\u{0}", "wss://h\nx", "wss://h%41",
            "wss://\(String(repeating: "a", count: 254))", "wss://h/" + String(repeating: "a", count: 2_048),
        ] {
            XCTAssertNil(NostrRelayURL(text), text)
        }
    }

    func testClearTextOnlyToOnionsAndByTestSwitchToThisMachine() throws {
        let strict = RelayURLPolicy()
        let test = RelayURLPolicy(allowsLoopback: true)
        func permits(_ policy: RelayURLPolicy, _ text: String) throws -> Bool {
            policy.permits(try XCTUnwrap(NostrRelayURL(text)))
        }
        XCTAssertTrue(try permits(strict, "wss://relay.example.com"))
        XCTAssertTrue(try permits(strict, "ws://abcdef.onion"))
        XCTAssertFalse(try permits(strict, "ws://relay.example.com"))
        XCTAssertFalse(try permits(strict, "ws://abcdef.onion.example.com"))
        XCTAssertFalse(try permits(strict, "wss://user@relay.example.com"))
        XCTAssertFalse(try permits(strict, "ws://127.0.0.1:7000"))
        XCTAssertTrue(try permits(test, "ws://127.0.0.1:7000"))
        XCTAssertTrue(try permits(test, "ws://[::1]:7000"))
        XCTAssertFalse(try permits(test, "ws://127.example.com"))
    }

    func testDefaultSetIsBuiltInThenOwnWithoutRepetitions() throws {
        var set = RelaySet()
        XCTAssertEqual(
            set.all.map(\.text),
            ["wss://relay.damus.io", "wss://nos.lol", "wss://relay.primal.net", "wss://offchain.pub"])
        XCTAssertThrowsError(try set.add("ftp://x")) { XCTAssertEqual($0 as? RelaySetError, .malformed) }
        XCTAssertThrowsError(try set.add("NOS.lol:443")) { XCTAssertEqual($0 as? RelaySetError, .alreadyPresent) }
        for index in 0..<8 { try set.add("r\(index).example.com") }
        XCTAssertThrowsError(try set.add("wss://r0.example.com/")) {
            XCTAssertEqual($0 as? RelaySetError, .alreadyPresent, "reported before the limit")
        }
        XCTAssertThrowsError(try set.add("r8.example.com")) { XCTAssertEqual($0 as? RelaySetError, .limitReached) }
        XCTAssertEqual(set.all.count, 12)

        let stored = ["wss://b.example", "nonsense://", "wss://B.example/", "ws://plain.example", "wss://a.example"]
        XCTAssertEqual(RelaySet(custom: stored).custom.map(\.text), ["wss://b.example", "wss://a.example"])
    }
}
