import Foundation
import Panel
import XCTest

/// The picture of the header and the guide's table against the lines that bitgated takes.
final class WiringPictureTests: XCTestCase {
    private func text(_ path: String) throws -> String {
        try String(contentsOfFile: Programs.root.path + "/" + path, encoding: .utf8)
    }

    /// Of the guide's table: name, line, pin.
    private func rows() throws -> [String: (line: String, pin: Int)] {
        var rows: [String: (line: String, pin: Int)] = [:]
        for line in try text("docs/hardware.md").split(separator: "\n") where line.contains("| GPIO") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            rows[cells[0]] = (cells[1], try XCTUnwrap(Int(cells[2])))
        }
        return rows
    }

    func testTheGuidesTableHasTheLinesOfTheWiring() throws {
        let rows = try rows()
        XCTAssertEqual(rows.count, Lamp.allCases.count + 1)
        for lamp in Lamp.allCases {
            let row = try XCTUnwrap(rows["\(lamp)"], "\(lamp)")
            XCTAssertEqual(PanelWiring.header.address(of: lamp), LineAddress(row.line))
        }
        XCTAssertEqual(PanelWiring.header.button, LineAddress(try XCTUnwrap(rows["button"]).line))
    }

    func testThePictureIsWhatItsScriptDrawsAndMarksThePinsOfTheTable() throws {
        let scratch = try Scratch()
        let drawn = try Programs.start("/bin/bash", ["deploy/lib/wiring.sh"], in: scratch).wait()
        XCTAssertEqual(drawn.errors, "")
        let picture = try text("docs/wiring.svg")
        XCTAssertEqual(drawn.output, picture, "deploy/lib/wiring.sh >docs/wiring.svg")
        // Two columns of twenty pins, numbered from the top.
        var marked: Set<Int> = []
        for line in picture.split(separator: "\n") where line.hasPrefix("<circle") && line.contains("#ffd24a") {
            let numbers = line.split(separator: "\"").compactMap { Int($0) }
            marked.insert((numbers[1] - 52) / 24 * 2 + (numbers[0] < 380 ? 1 : 2))
        }
        XCTAssertEqual(marked, Set(try rows().values.map(\.pin)))
    }
}
