import Foundation
import XCTest

@testable import Simulation

final class PictureTests: XCTestCase {
    private func picture(_ kind: any Scenario.Type, nodes: Int) throws -> String {
        let run = SimulationRun(kind, Setting(nodes: nodes, span: .minutes(3), seed: 2), takesPictures: true)
        run.play()
        return try XCTUnwrap(run.album?.picture)
    }

    func testPictureIsWellFormedAndShowsEveryNodeOnce() throws {
        let svg = try picture(LineScenario.self, nodes: 5)
        XCTAssertTrue(XMLChecker.isWellFormed(svg))
        for node in 0..<5 {
            XCTAssertEqual(svg.components(separatedBy: "<title>node \(node), ").count, 2, "node \(node)")
        }
        XCTAssertTrue(svg.contains("line, seed 2"))
    }

    func testPictureOfTwoHallsShowsGatesAndRelays() throws {
        let svg = try picture(TwoHallsScenario.self, nodes: 8)
        XCTAssertTrue(XMLChecker.isWellFormed(svg))
        for word in ["hall 0", "hall 1", "gate", "relay 0", "relay 1"] {
            XCTAssertTrue(svg.contains(">\(word)<"), word)
        }
    }

    func testTextIsEscaped() {
        var drawing = Drawing(width: 10, height: 10)
        drawing.text("a < b & c", x: 0, y: 0, size: 10, colour: "black")
        XCTAssertTrue(drawing.svg.contains("a &lt; b &amp; c"))
    }

    /// Elements open and close in order.
    private enum XMLChecker {
        static func isWellFormed(_ text: String) -> Bool {
            var open: [Substring] = []
            for part in text.split(separator: "<") {
                guard let end = part.firstIndex(of: ">") else { return false }
                let tag = part[..<end]
                if tag.hasPrefix("/") {
                    guard open.popLast() == tag.dropFirst() else { return false }
                } else if !tag.hasSuffix("/") {
                    open.append(tag.prefix { $0 != " " })
                }
            }
            return open.isEmpty
        }
    }
}
