import Foundation
import XCTest

@testable import Station

final class JSONTests: XCTestCase {
    private func parse(_ text: String) throws(JSONSyntaxError) -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

    func testEveryKindIsReadAndWritten() throws {
        for (text, value) in [
            ("null", .null), ("true", .truth(true)), ("false", .truth(false)), ("0", .integer(0)), ("-7", .integer(-7)),
            ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
            ("[]", .list([])), ("{}", .object([:])), ("[1,[2]]", .list([.integer(1), .list([.integer(2)])])),
            (#"{"a":1,"b":"x"}"#, .object(["b": .text("x"), "a": .integer(1)])),
            (#""ü\u0001\n\"\\""#, .text("ü\u{1}\n\"\\")),
        ] as [(String, JSONValue)] {
            XCTAssertEqual(try parse(text), value, text)
            XCTAssertEqual(String(decoding: value.encoded(), as: UTF8.self), text)
        }
        XCTAssertEqual(try parse(#""\/\b\f\r\t\u00e4\ud83d\ude00""#), .text("/\u{8}\u{c}\r\tä😀"))
        XCTAssertEqual(try parse(#"{"a":1,"a":2}"#), ["a": .integer(2)])
    }

    func testWhatTheLibraryRefusesIsRefused() {
        for text in [
            "", "-", "+1", ".5", "1.", "1e", "{\"a\"}", "\"\t\"", #""\u12g4""#, "01", "[1 2]", "nul", "[",
            "{",
            "\"", #""\"#, "1 2", "{1:2}", #""\ud800""#, #""\ud800\u0041""#, #""\udc00""#,
        ] {
            XCTAssertThrowsError(try parse(text), text)
            XCTAssertThrowsError(
                try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed), text)
        }
        // The library lets these pass; the last three are numbers that no message has.
        for text in ["{\"a\":1,}", "[1,]", "\u{feff}1", "1.5", "1e2", "9223372036854775808"] {
            XCTAssertThrowsError(try parse(text), text)
        }
        XCTAssertThrowsError(try JSONValue(parsing: [0x22, 0xff, 0x22]))
    }

    func testNestingIsBounded() {
        XCTAssertNoThrow(try parse(String(repeating: "[", count: 32) + String(repeating: "]", count: 32)))
        XCTAssertThrowsError(try parse(String(repeating: "[", count: 33) + String(repeating: "]", count: 33)))
        XCTAssertThrowsError(try parse(String(repeating: "[", count: 100_000)))
    }

    func testWhatIsWrittenTheLibraryReads() throws {
        let text = String(String.UnicodeScalarView((0..<0x300).compactMap { Unicode.Scalar(UInt32($0)) }))
        let value: JSONValue = ["t": .text(text), "n": .list([.integer(.min), .null])]
        let object = try JSONSerialization.jsonObject(with: Data(value.encoded())) as? [String: Any]
        XCTAssertEqual(object?["t"] as? String, text)
        XCTAssertEqual(try JSONValue(parsing: value.encoded()), value)
    }

    func testDamagedTextNeverTraps() {
        let bytes = Array(#"{"a":[1,-2.5e3,"x\u00e4\n",{"b":null}],"c":true}"#.utf8)
        for index in bytes.indices {
            _ = try? JSONValue(parsing: Array(bytes[..<index]))
            for replacement: UInt8 in [0, 0x22, 0x5c, 0x7d, 0xff] {
                var damaged = bytes
                damaged[index] = replacement
                _ = try? JSONValue(parsing: damaged)
            }
        }
    }
}
