import Foundation
import XCTest

@testable import Panel

/// What people are told of the lamps, compared with what the lamps do.
final class PanelTableTests: XCTestCase {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func document(_ name: String) throws -> String {
        try String(contentsOf: PanelTableTests.root.appendingPathComponent("docs/" + name), encoding: .utf8)
    }

    func testTheGuidesTableIsWhatTheLampsDo() throws {
        let guide = try document("operator.md")
        let begin = "<!-- what bitgate panel --markdown prints -->\n"
        let end = "<!-- end of what it prints -->"
        let parts = guide.components(separatedBy: begin)
        XCTAssertEqual(parts.count, 2, "docs/operator.md holds the table once, between its marks")
        let table = (parts.last ?? "").components(separatedBy: end).first ?? ""
        XCTAssertEqual(table, PanelTable.markdown, "put there what bitgate panel --markdown prints")
    }

    func testTheGuidesPictureIsWhatTheLampsDo() throws {
        XCTAssertEqual(try document("lamps.svg"), PanelPicture.svg, "put there what bitgate panel --svg prints")
    }

    func testEverySignIsToldAndIsSeenOnSomeLamp() {
        XCTAssertEqual(PanelTable.rows.map(\.sign), PanelSign.allCases.filter { $0 != .dark })
        for row in PanelTable.rows {
            XCTAssertFalse(row.lamps.isEmpty, "\(row.sign)")
            XCTAssertTrue(PanelTable.text.contains(row.meaning), "\(row.sign)")
        }
        XCTAssertEqual(PanelTable.lamps(of: .wiped), "status")
        XCTAssertEqual(PanelTable.lamps(of: .mailWaiting), "mail")
        XCTAssertEqual(PanelTable.lamps(of: .waitingForTime), "status, internet")
        XCTAssertEqual(PanelTable.lamps(of: .torAlmost), "internet; status where it is the only lamp")
        XCTAssertEqual(PanelTable.lamps(of: .noRelay), "status where it is the only lamp")
    }

    func testPatternsAreDescribedInWordsThatFit() {
        XCTAssertEqual(PanelSign.well.pattern.looks, "lit, and dark once for 0.15 s every 5 s")
        XCTAssertEqual(PanelSign.starting.pattern.looks, "blinks, 0.5 s lit and 0.5 s dark")
        XCTAssertEqual(PanelSign.torBeginning.pattern.looks, "3 flashes of 0.15 s every 2.3 s")
        XCTAssertEqual(PanelSign.wipeArmed.pattern.looks, "lit")
        XCTAssertEqual(PanelSign.silent.pattern.looks, "dark")
        XCTAssertEqual(
            PanelSign.wipeFailed.pattern.looks, "3 flashes of 0.2 s, 3 flashes of 0.6 s, 3 flashes of 0.2 s every 6.7 s"
        )
        let looks = PanelSign.allCases.filter { !$0.pattern.spans.isEmpty }.map(\.pattern.looks)
        XCTAssertEqual(Set(looks).count, looks.count, "no two read alike")
    }

    func testThePictureShowsEveryPatternForTenSeconds() {
        let picture = PanelPicture.svg
        XCTAssertEqual(picture.components(separatedBy: "<circle").count - 1, 2 * PanelTable.signs.count)
        for sign in PanelTable.signs { XCTAssertTrue(picture.contains(">\(sign.rawValue)</text>"), sign.rawValue) }
    }

    func testTheWiringOfTheHeaderUsesEachLineOnce() {
        let all = Lamp.allCases.map { PanelWiring.header.address(of: $0) } + [PanelWiring.header.button]
        XCTAssertEqual(Set(all.compactMap { $0?.description }).count, 5)
        XCTAssertNil(PanelWiring.none.address(of: .status))
        XCTAssertNil(PanelWiring.none.button)
    }
}
