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

    func testJoinersStayWhereAScriptNeedsThemAndNowhereElse() {
        let persian = "می\u{200C}خواهم"
        let family = "👩\u{200D}👧"
        XCTAssertEqual(TerminalText.escapeProse("\(persian) \(family)"), "\(persian) \(family)")
        XCTAssertEqual(TerminalText.escapeProse("pass\u{200D}word \u{200C}"), "pass\\u{200D}word \\u{200C}")
        XCTAssertEqual(TerminalText.escapeProse("ü\u{200D}\u{200D}"), "ü\u{200D}\\u{200D}")
        XCTAssertEqual(TerminalText.escapeProse("ü\u{202E}\u{1B}\n\\"), "ü\\u{202E}\\u{1B}\\n\\\\")
        XCTAssertEqual(TerminalText.escape(persian), "می\\u{200C}خواهم")
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

final class TerminalCursorTests: XCTestCase {
    /// Columns by the row's width: Chinese characters take two, and one character here cannot be shown.
    private func row(_ text: String, columns: Int) -> Int {
        TerminalCursor.row(after: text, columns: columns) { $0.value > 0x2e80 ? 2 : $0 == "\u{200D}" ? -1 : 1 }
    }

    func testAFullRowEndsAtOnce() {
        XCTAssertEqual(row("", columns: 10), 0)
        XCTAssertEqual(row("123456789", columns: 10), 0)
        XCTAssertEqual(row("1234567890", columns: 10), 1)
        XCTAssertEqual(row("1234567890123456789", columns: 10), 1)
        XCTAssertEqual(row("12345678901234567890", columns: 10), 2)
    }

    func testAWideCharacterThatDoesNotFitBeginsTheNextRow() {
        XCTAssertEqual(row("漢字漢字", columns: 9), 0)
        XCTAssertEqual(row("漢字漢字漢", columns: 9), 1)
        XCTAssertEqual(row("漢字漢字漢字漢字漢", columns: 9), 2)
    }

    func testWhatCannotBeShownCountsAsTheEditorShowsIt() {
        XCTAssertEqual(row("\u{1}\u{7F}", columns: 5), 0)
        XCTAssertEqual(row("\u{1}\u{7F}", columns: 4), 1)
        XCTAssertEqual(row("\u{200D}", columns: 8), 0)
        XCTAssertEqual(row("\u{200D}", columns: 7), 1)
        XCTAssertEqual(row("1\t", columns: 9), 0)
        XCTAssertEqual(row("1\t", columns: 8), 1)
    }

    func testATerminalOfNoWidthIsNoTrap() {
        XCTAssertGreaterThan(row("ab漢", columns: 0), 2)
    }
}
