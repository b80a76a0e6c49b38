import XCTest

@testable import Station

/// Manual pages say what the help says.
final class ManualMarkupTests: XCTestCase {
    func testUsageParagraphsAndListsBecomeManualMarkup() {
        let page = ManualMarkup.help(
            """
            usage: bitgate x [--json]
                   bitgate x y

            Does a thing, and
            says so.

              --json          one line
                              of it
              --tor required|off
                              off: seen

            .dot and \\ stay.

            """)
        XCTAssertEqual(
            page,
            """
            .PP
            .nf
            \\fBbitgate x [\\-\\-json]\\fR
            \\fBbitgate x y\\fR
            .fi
            .PP
            Does a thing, and
            says so.
            .TP
            \\fB\\-\\-json\\fR
            one line
            of it
            .TP
            \\fB\\-\\-tor required|off\\fR
            off: seen
            .PP
            \\&.dot and \\e stay.

            """)
    }

    func testEveryKeyOfTheConfigurationIsAnEntryOfItsPage() {
        let page = ManualMarkup.configuration(ConfigurationText.defaults)
        let lines = page.split(separator: "\n")
        for setting in ConfigurationTable.settings {
            let entry = "\\fB\(setting.name) = "
            guard let at = lines.firstIndex(where: { $0.hasPrefix(entry) }) else {
                XCTFail("\(setting.key) has no entry")
                continue
            }
            XCTAssertEqual(lines[at - 1], ".TP")
            XCTAssertFalse(lines[at + 1].hasPrefix("."), "\(setting.key) is not explained")
        }
        XCTAssertEqual(lines.filter { $0 == ".TP" }.count, ConfigurationTable.settings.count)
        XCTAssertFalse(page.contains("\n#"))
    }

    func testTheDaemonsPageKeepsEveryWordOfItsHelp() {
        let page = ManualMarkup.help(DaemonHelp.text).replacingOccurrences(of: "\\-", with: "-")
        for word in DaemonHelp.text.split(whereSeparator: \.isWhitespace) where word != "usage:" {
            XCTAssertTrue(page.contains(word), String(word))
        }
    }
}
