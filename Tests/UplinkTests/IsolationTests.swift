import Basics
import XCTest

@testable import Uplink

final class IsolationTests: XCTestCase {
    func testPasswordIsTheHashOfTokenAndURL() {
        // SHA-256 of the token, the generator's first 32 bytes, followed by the URL (chapter 05 §15.2).
        var random = SeededRandom(seed: 7)
        let token = random.bytes(32)
        let keys = IsolationKeys(random: SeededRandom(seed: 7))
        let isolation = keys.isolation(.relay, "wss://relay.example")
        XCTAssertEqual(isolation.user, "relay")
        XCTAssertEqual(isolation.password, Hex.encode(SHA256.hash(token + Array("wss://relay.example".utf8))))
        XCTAssertEqual(isolation.password.utf8.count, 64)
        XCTAssertTrue(isolation.isUsable)
    }

    func testRedialKeepsTheCircuitAndEverythingElseGetsItsOwn() {
        var keys = IsolationKeys(random: SeededRandom(seed: 1))
        let relay = keys.isolation(.relay, "wss://a")
        XCTAssertEqual(keys.isolation(.relay, "wss://a"), relay)
        let all = [
            relay, keys.isolation(.relay, "wss://b"), keys.isolation(.directory, "wss://a"), keys.once(), keys.once(),
        ]
        XCTAssertEqual(Set(all).count, all.count)
        keys.renew()
        XCTAssertNotEqual(keys.isolation(.relay, "wss://a"), relay)
    }

    func testPasswordIsNeverPrinted() {
        let isolation = StreamIsolation(user: "relay", password: "hunter2")
        XCTAssertFalse("\(isolation) \(String(reflecting: isolation))".contains("hunter2"))
        var dumped = ""
        dump([isolation], to: &dumped)
        XCTAssertFalse(dumped.contains("hunter2"))
    }

    func testCredentialsThatTheProtocolCannotCarryAreUnusable() {
        let long = String(repeating: "x", count: 256)
        for (user, password) in [("", "p"), ("u", ""), (long, "p"), ("u", long), ("<torS0X>0", "p")] {
            XCTAssertFalse(StreamIsolation(user: user, password: password).isUsable)
        }
        XCTAssertTrue(StreamIsolation(user: "u", password: String(long.dropLast())).isUsable)
    }
}
