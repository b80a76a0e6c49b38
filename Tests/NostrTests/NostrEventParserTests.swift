import Basics
import Foundation
import TestSupport
import Wire
import XCTest

@testable import Nostr

/// Chapter 05 §1.1, §1.4 and RFC 8259: which texts are events, and that the others cost nothing.
final class NostrEventParserTests: XCTestCase {
    func testEventsInCarriers() throws {
        try Vectors("nostr_carrier.json").run { vector in
            guard vector.kind == "accept" else { throw vector.unknownKind }
            let event = try? NostrEvent(
                json: try vector.bytes("eventJSON"), limit: NostrCarrier.eventSizes.upperBound)
            XCTAssertEqual(event != nil, try vector.bool("eventParses"), vector.name)
            XCTAssertEqual(
                event.flatMap { VerifiedEvent(verifying: $0) } != nil, try vector.bool("eventValid"), vector.name)
        }
    }

    private func parse(_ text: String) throws -> NostrEvent { try NostrEvent(json: [UInt8](text.utf8)) }

    private func rejection(_ text: String) -> NostrEventRejection? { rejection([UInt8](text.utf8)) }

    private func rejection(_ bytes: [UInt8]) -> NostrEventRejection? {
        do throws(NostrEventRejection) {
            _ = try NostrEvent(json: bytes)
            return nil
        } catch {
            return error
        }
    }

    /// An event whose members can be replaced one by one.
    private func text(
        pubkey: String = "\"p\"", createdAt: String = "1", kind: String = "2", tags: String = "[]",
        content: String = "\"c\"", more: String = ""
    ) -> String {
        "{\"pubkey\":\(pubkey),\"created_at\":\(createdAt),\"kind\":\(kind),\"tags\":\(tags),"
            + "\"content\":\(content)\(more)}"
    }

    func testAnyOrderWhiteSpaceAndUnknownMembersAreAccepted() throws {
        let event = try parse(
            """
             {\t"x" : [1, {"a": null, "b": [true, false, -0.5e+7]}, "\\u0041"] ,\r
              "content": "c", "sig":"s", "tags" : [ [ "a" , "b" ] , [ ] ], "kind":2,"id":"i",
              "created_at" : -1 , "pubkey":"p", "y": {} }
            """ + "\n")
        XCTAssertEqual(
            event,
            NostrEvent(
                id: "i", pubkey: "p", createdAt: -1, kind: 2, tags: [["a", "b"], []], content: "c", sig: "s"))
    }

    func testEveryLegalEscapeIsDecodedInNamesAndValues() throws {
        let event = try parse(
            text(content: "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\ude00\\u0000\\u2028<\\u003c\"")
                .replacingOccurrences(of: "\"kind\"", with: "\"\\u006bin\\u0064\""))
        XCTAssertEqual(Array(event.content.utf8), Array("\"\\/\u{8}\u{c}\n\r\té😀\u{0}\u{2028}<<".utf8))
        XCTAssertEqual(event.kind, 2)
    }

    func testOfEqualNamesTheLastCounts() throws {
        let event = try parse(text(more: ",\"content\":\"last\",\"kind\":7,\"tags\":[[\"t\"]]"))
        XCTAssertEqual(event.content, "last")
        XCTAssertEqual(event.kind, 7)
        XCTAssertEqual(event.tags, [["t"]])
        XCTAssertEqual(rejection(text(more: ",\"kind\":\"7\"")), .missingMember)
        XCTAssertNil(rejection(text(kind: "\"x\"", more: ",\"kind\":7")))
    }

    func testIDAndSignatureMayBeMissingOrOfAnotherType() throws {
        for more in ["", ",\"id\":null,\"sig\":null", ",\"id\":5,\"sig\":[]"] {
            let event = try parse(text(more: more))
            XCTAssertEqual(event.id, "")
            XCTAssertNil(event.sig)
            XCTAssertNil(VerifiedEvent(verifying: event))
        }
    }

    func testIntegersMustBeIntegerTokensOf64Bits() throws {
        for good in ["0", "-0", "9223372036854775807", "-9223372036854775808"] {
            XCTAssertEqual(try parse(text(createdAt: good)).createdAt, Int64(good))
        }
        for wrong in [
            "1.0", "1e3", "1E3", "true", "null", "\"1\"", "[]", "9223372036854775808", "-9223372036854775809",
            "99999999999999999999999999",
        ] {
            XCTAssertEqual(rejection(text(createdAt: wrong)), .missingMember, wrong)
            XCTAssertEqual(rejection(text(kind: wrong)), .missingMember, wrong)
        }
        for malformed in ["01", "-", "+1", ".5", "1.", "1e", "0x10", "1 2", "--1", "1.e3", "-a", "NaN"] {
            XCTAssertEqual(rejection(text(createdAt: malformed)), .malformedJSON, malformed)
        }
    }

    func testTheStructuralLimitsAreThoseOfTheSpecification() {
        func tags(_ count: Int, _ tag: String = "[\"a\"]") -> String {
            "[" + Array(repeating: tag, count: count).joined(separator: ",") + "]"
        }
        func values(_ count: Int) -> String { "[" + tags(count, "\"a\"") + "]" }
        func value(_ text: String) -> String { "[[\"" + text + "\"]]" }
        XCTAssertNil(rejection(text(tags: tags(64))))
        XCTAssertEqual(rejection(text(tags: tags(65))), .tooManyTags)
        XCTAssertEqual(rejection(text(tags: tags(65, "[]"))), .tooManyTags)
        XCTAssertNil(rejection(text(tags: values(16))))
        XCTAssertEqual(rejection(text(tags: values(17))), .tooManyTagValues)
        XCTAssertNil(rejection(text(tags: value(String(repeating: "x", count: 1_024)))))
        XCTAssertEqual(rejection(text(tags: value(String(repeating: "x", count: 1_025)))), .tagValueTooLong)
        // Bytes of the decoded value count, not of its spelling.
        XCTAssertNil(rejection(text(tags: value(String(repeating: "\\u00e9", count: 512)))))
        XCTAssertEqual(
            rejection(text(tags: value(String(repeating: "\\u00e9", count: 512) + "x"))), .tagValueTooLong)
        XCTAssertEqual(
            rejection(text(tags: value(String(repeating: "\\ud83d\\ude00", count: 256) + "x"))), .tagValueTooLong)
    }

    func testSizesAreBoundedBeforeAnythingElse() {
        let long = text(content: "\"" + String(repeating: "x", count: 262_144) + "\"")
        XCTAssertEqual(rejection(long), .oversized)
        let carried = [UInt8](text(content: "\"" + String(repeating: "x", count: 16_384) + "\"").utf8)
        XCTAssertThrowsError(try NostrEvent(json: carried, limit: NostrCarrier.eventSizes.upperBound))
        XCTAssertNil(rejection(carried))
    }

    func testNestingIsBounded() {
        func nested(_ depth: Int) -> String {
            text(more: ",\"x\":" + String(repeating: "[", count: depth) + String(repeating: "]", count: depth))
        }
        XCTAssertNil(rejection(nested(32)))
        XCTAssertEqual(rejection(nested(33)), .nestedTooDeep)
        XCTAssertEqual(rejection(String(repeating: "{\"a\":", count: 50_000)), .nestedTooDeep)
        XCTAssertEqual(rejection("{\"a\":" + String(repeating: "[", count: 100_000)), .nestedTooDeep)
    }

    func testTextsThatAreNotStrictJSONAreRefused() {
        let good = text()
        XCTAssertNil(rejection(good))
        for wrong in [
            "", " ", "null", "[]", "\"x\"", "{", "{}x", good + ",", good + good, "\u{feff}" + good, good + "\u{0}",
            text(more: ","), text(more: ",,\"x\":1"), text(more: ",\"x\""), text(more: ",\"x\":"),
            text(more: ",x:1"), text(more: ",\"x\":'a'"), text(more: ",\"x\":[1,]"), text(more: ",\"x\":{\"a\"}"),
            text(more: ",\"x\":tru"), text(more: ",\"x\":nul l"), text(more: " \"x\":1"), text(more: ",\"x\":[1}"),
            text(more: "/**/"), text(content: "\"\u{1}\""), text(content: "\"\n\""), text(content: "\"\\x\""),
            text(content: "\"\\u12\""), text(content: "\"\\u12g4\""), text(content: "\"\\ud83d\""),
            text(content: "\"\\ude00\""), text(content: "\"\\ud83d\\u0041\""), text(content: "\"\\ud83dx\""),
            text(content: "\"\\"), text(content: "\"\\u"), text(tags: "[[\"a\" \"b\"]]"), text(tags: "[[\"a\",]]"),
        ] {
            let reason = rejection(wrong)
            XCTAssertTrue(reason == .malformedJSON || reason == .missingMember, "\(wrong): \(reason as Any)")
        }
        for wrong in ["[[1]]", "[\"a\"]", "[[[\"a\"]]]", "{}", "null", "[[\"a\"],null]"] {
            XCTAssertEqual(rejection(text(tags: wrong)), .missingMember, wrong)
        }
    }

    func testBytesThatAreNotUTF8AreRefusedEverywhere() {
        let bad: [[UInt8]] = [
            [0x80], [0xc0, 0x80], [0xc1, 0xbf], [0xc3], [0xe0, 0x9f, 0xbf], [0xe2, 0x82], [0xed, 0xa0, 0x80],
            [0xf0, 0x8f, 0xbf, 0xbf], [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xf0, 0x9f, 0x98], [0xff],
            [0xe2, 0x28, 0xa1], [0xf0, 0x28, 0x8c, 0xbc],
        ]
        for bytes in bad {
            for place in ["\"c", "\"pubk", ",\"x\":\""] {
                var json = [UInt8](text(more: ",\"x\":\"12345678\"").utf8)
                let needle = [UInt8](place.utf8)
                guard let at = json.indices.first(where: { json[$0...].starts(with: needle) }) else {
                    return XCTFail("no \(place)")
                }
                json.insert(contentsOf: bytes, at: at + needle.count)
                XCTAssertEqual(rejection(json), .invalidUTF8, "\(bytes) \(place)")
            }
            XCTAssertFalse(([UInt8]("12345678".utf8) + bytes).withUnsafeBytes { $0.isValidUTF8 })
        }
        for good in ["", "a", "é", "€", "😀", "\u{d7ff}\u{e000}\u{ffff}\u{10000}\u{10ffff}", "12345678é"] {
            XCTAssertTrue([UInt8](good.utf8).withUnsafeBytes { $0.isValidUTF8 })
        }
    }

    func testStringsSpanningEveryAlignmentComeOutWhole() throws {
        for length in 0..<40 {
            for escape in ["", "\\n", "\\ud83d\\ude00", "é"] {
                let plain = String(repeating: "x", count: length)
                let decoded = escape == "\\n" ? "\n" : escape == "\\ud83d\\ude00" ? "😀" : escape
                let event = try parse(text(content: "\"\(plain)\(escape)\(plain)\""))
                XCTAssertEqual(event.content, plain + decoded + plain)
                XCTAssertEqual(try NostrEvent(json: event.json()), event)
            }
        }
    }

    func testEveryStringSurvivesWritingAndReading() throws {
        var random = SeededRandom(seed: 5)
        for _ in 0..<500 {
            var scalars = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...40, using: &random) {
                let limit: UInt32 = Bool.random(using: &random) ? 0x80 : 0x11_0000
                if let scalar = Unicode.Scalar(UInt32.random(in: 0..<limit, using: &random)) { scalars.append(scalar) }
            }
            let string = String(scalars)
            let event = NostrEvent(pubkey: "p", createdAt: 0, kind: 0, tags: [[string]], content: string)
            let parsed = try NostrEvent(json: event.json())
            XCTAssertEqual(Array(parsed.content.utf8), Array(string.utf8))
            XCTAssertEqual(parsed.id, event.computedID.hex)
        }
    }

    func testIDsAreReadStrictly() throws {
        let hex = String(repeating: "0123456789abcdef", count: 4)
        let id = try XCTUnwrap(EventID(hex: hex))
        XCTAssertEqual(id.hex, hex)
        XCTAssertEqual(EventID(id.bytes), id)
        for wrong in [
            "", hex.uppercased(), String(hex.dropLast()), hex + "0", "0x" + hex.dropLast(2), hex.dropLast() + "g",
        ] { XCTAssertNil(EventID(hex: wrong)) }
        XCTAssertNil(EventID([UInt8](repeating: 0, count: 31)))
        // Every byte at every place.
        for place in 0..<64 {
            for byte in UInt8.min...UInt8.max {
                var digits = Array(hex.utf8)
                digits[place] = byte
                let isDigit = (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
                let id = digits.withUnsafeBytes { EventID(hexDigits: $0) }
                XCTAssertEqual(id.map { Array($0.hex.utf8) }, isDigit ? digits : nil)
            }
        }
    }
}
