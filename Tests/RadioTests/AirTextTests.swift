import Basics
import XCTest

@testable import Radio

final class AirTextTests: XCTestCase {
    func testNamesAreOneToThirtyTwoOfLowerCaseDigitsAndHyphen() {
        for good in ["a", "gate-7", "0", "-", String(repeating: "z", count: 32)] { XCTAssertNotNil(AirName(good)) }
        for bad in ["", "A", "a b", "a_b", "a.b", "ä", "a/b", String(repeating: "z", count: 33)] {
            XCTAssertNil(AirName(bad), bad)
        }
    }

    func testGreetingsAreWrittenAsTheyAreRead() throws {
        let hello = AirHello(name: try XCTUnwrap(AirName("gate-7")), mtu: 517)
        XCTAssertEqual(hello.bytes, Array("AIR1 gate-7 517".utf8))
        XCTAssertEqual(hello.bytes.withUnsafeBytes { AirHello(parsing: $0) }, hello)
        XCTAssertEqual(
            Array("AIR1 x 23".utf8).withUnsafeBytes { AirHello(parsing: $0) },
            AirHello(name: try XCTUnwrap(AirName("x")), mtu: 23))
    }

    func testRandomGreetingsNeverTrap() {
        var random = SeededRandom(seed: 5)
        for _ in 0..<20_000 {
            var bytes = Array("AIR1 name 517".utf8)
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            _ = bytes.prefix(Int.random(in: 0...bytes.count, using: &random)).withUnsafeBytes { AirHello(parsing: $0) }
        }
    }

    func testRangeIsSymmetricAndSkipsWhatIsNoPair() throws {
        let table = RangeTable(parsing: Array("#x y\n a\tb\r\n\nb c#d\nc c\nd e f\ng\n".utf8))
        func hears(_ a: String, _ b: String) throws -> Bool {
            table.hears(try XCTUnwrap(AirName(a)), try XCTUnwrap(AirName(b)))
        }
        XCTAssertTrue(try hears("a", "b") && hears("b", "a") && hears("c", "b"))
        XCTAssertFalse(try hears("x", "y") || hears("a", "c") || hears("d", "e") || hears("c", "c"))
        XCTAssertEqual(table.problem, "line 5: expected two different names of a-z, 0-9 and -")
    }

    func testLinkOptionsAreRead() throws {
        XCTAssertEqual(
            try Impairment(parsing: "loss=0.05 delay=20ms..80ms"),
            Impairment(loss: 0.05, delay: .milliseconds(20) ... .milliseconds(80)))
        XCTAssertEqual(
            try Impairment(parsing: " seed=9  delay=1s "),
            Impairment(delay: .seconds(1) ... .seconds(1), seed: 9))
        XCTAssertTrue(try Impairment(parsing: "").isNone)
        XCTAssertTrue(Impairment.none.isNone)
        XCTAssertFalse(try Impairment(parsing: "loss=1").isNone)
    }

    func testBadLinkOptionsNameTheirPlace() {
        let cases: [(String, Int)] = [
            ("loss", 1), ("loss=2", 1), ("loss=nan", 1), ("loss=-0.1", 1), ("loss=0.1 delay=80ms..20ms", 10),
            ("delay=20", 1), ("delay=ms", 1), ("delay=61s", 1), ("delay=60001ms", 1), ("delay=1s..", 1),
            ("delay=-1ms", 1), ("seed=-1", 1), ("loss=0.1 loss=0.2", 10), ("  jitter=3", 3),
            ("delay=99999999999999999999s", 1),
        ]
        for (text, column) in cases {
            XCTAssertThrowsError(try Impairment(parsing: text), text) {
                XCTAssertEqual(($0 as? Impairment.ParseError)?.column, column, text)
            }
        }
    }

    func testImpairmentsOutsideTheirBoundsAreClamped() {
        let wild = Impairment(loss: 7, delay: .seconds(-5) ... .hours(2))
        XCTAssertEqual(wild, Impairment(loss: 1, delay: .zero ... .seconds(60)))
    }
}
