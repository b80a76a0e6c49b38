import XCTest

@testable import Station

final class TerminalTextTests: XCTestCase {
    func testOrdinaryTextOfAnyScriptPassesUnchanged() {
        for text in ["hello", "Ünïcödé", "日本語", "עברית", "é", "👍", "a b", "tab-less", ""] {
            XCTAssertEqual(TerminalText.escape(text), text)
        }
    }

    func testWhatATerminalWouldObeyIsShownInstead() {
        XCTAssertEqual(TerminalText.escape("\u{1B}[31mred"), "\\u{1B}[31mred")
        XCTAssertEqual(TerminalText.escape("a\nb\rc\td\u{7}\u{8}\u{0}"), "a\\nb\\u{D}c\\td\\u{7}\\u{8}\\u{0}")
        XCTAssertEqual(TerminalText.escape("\u{7F}\u{9B}31m\u{90}\u{9D}"), "\\u{7F}\\u{9B}31m\\u{90}\\u{9D}")
    }

    func testTextThatHidesOrReordersItselfIsShown() {
        XCTAssertEqual(
            TerminalText.escape("a\u{202E}b\u{2066}c\u{200B}d\u{FEFF}"), "a\\u{202E}b\\u{2066}c\\u{200B}d\\u{FEFF}")
        XCTAssertEqual(
            TerminalText.escape("\u{2028}\u{2029}\u{AD}\u{E0001}\u{E000}"),
            "\\u{2028}\\u{2029}\\u{AD}\\u{E0001}\\u{E000}")
    }

    func testNoTextCanImitateAnEscape() {
        XCTAssertEqual(TerminalText.escape("\\u{1B}"), "\\\\u{1B}")
    }

    func testNothingButPrintableScalarsComesOut() {
        for value in (0...0x10FFFF).compactMap({ Unicode.Scalar(UInt32($0)) })
        where value.value % 7 == 0 || value.value < 0x3000 {
            for scalar in TerminalText.escape(String(value)).unicodeScalars {
                XCTAssertGreaterThanOrEqual(scalar.value, 0x20)
                XCTAssertFalse((0x7F...0x9F).contains(scalar.value))
                XCTAssertNotEqual(scalar.properties.generalCategory, .format)
            }
        }
    }
}
