import XCTest

@testable import Uplink

final class AddressTests: XCTestCase {
    func testPartsOfAnAddress() throws {
        let cases: [(String, Bool, String, UInt16, String, String)] = [
            ("ws://h", false, "h", 80, "/", "h"),
            ("WSS://Relay.Example.com", true, "relay.example.com", 443, "/", "relay.example.com"),
            ("wss://h:444/a/b?c=d/e", true, "h", 444, "/a/b?c=d/e", "h:444"),
            ("wss://h:443", true, "h", 443, "/", "h"),
            ("ws://h?q", false, "h", 80, "/?q", "h"),
            ("ws://127.0.0.1:7777/", false, "127.0.0.1", 7_777, "/", "127.0.0.1:7777"),
            ("ws://[::1]:7777", false, "::1", 7_777, "/", "[::1]:7777"),
            ("ws://[::1]/x", false, "::1", 80, "/x", "[::1]"),
        ]
        for (url, isSecure, host, port, resource, header) in cases {
            let address = try WebSocketAddress(parsing: url)
            XCTAssertEqual(address.isSecure, isSecure, url)
            XCTAssertEqual(address.host, host, url)
            XCTAssertEqual(address.port, port, url)
            XCTAssertEqual(address.resource, resource, url)
            XCTAssertEqual(address.hostHeader, header, url)
            XCTAssertEqual(try WebSocketAddress(parsing: address.description), address, url)
        }
    }

    func testBadAddressesAreRefusedForTheirReason() {
        let cases: [(String, WebSocketAddress.ParseError)] = [
            ("", .badScheme), ("h", .badScheme), ("http://h", .badScheme), ("ws:/h", .badScheme), ("ws://", .badHost),
            ("ws:///x", .badHost), ("ws://:80", .badHost), ("ws://[::1", .badHost), ("ws://[]", .badHost),
            ("ws://[g]", .badHost), ("ws://h%41", .badHost), ("ws://" + String(repeating: "a", count: 254), .badHost),
            ("ws://h:", .badPort), ("ws://h:0", .badPort), ("ws://h:65536", .badPort), ("ws://h:+80", .badPort),
            ("ws://h:8x", .badPort), ("ws://[::1]80", .badPort), ("ws://h:123456", .badPort),
            ("ws://user@h", .userInfo), ("ws://u:p@h/", .userInfo), ("ws://h/#top", .fragment),
            ("ws://h/a b", .badCharacter), ("ws://h/\r\nHost: x", .badCharacter), ("ws://hé", .badCharacter),
            ("ws://h/" + String(repeating: "a", count: 2_048), .tooLong),
        ]
        for (url, reason) in cases {
            XCTAssertThrowsError(try WebSocketAddress(parsing: url), url) {
                XCTAssertEqual($0 as? WebSocketAddress.ParseError, reason, url)
            }
        }
    }
}
