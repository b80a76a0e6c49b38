import Basics
import Panel
import XCTest

@testable import Station

/// What the operator says of the panel, and is told of it.
final class PanelSettingsTests: XCTestCase {
    private func read(_ text: String) throws -> Configuration.Panel {
        try Configuration(parsing: Array(text.utf8), file: "p.toml").panel
    }

    private func problems(_ text: String) -> [String] {
        do {
            _ = try Configuration(parsing: Array(text.utf8), file: "p.toml")
            return []
        } catch { return error.problems.map(\.description) }
    }

    private func line(_ text: String) throws -> LineAddress { try XCTUnwrap(LineAddress(text)) }

    func testWithoutASettingThereIsNoPanel() throws {
        XCTAssertTrue(try read("").configuration.isEmpty)
        XCTAssertEqual(try read("").lines.count, 0)
    }

    func testTheUsualWiringTakesFourLampsAndAButtonToGround() throws {
        let panel = try read("panel.wiring = \"header\"").configuration
        XCTAssertEqual(panel.lamps[.status], PanelWire(try line("GPIO17")))
        XCTAssertEqual(panel.lamps[.mesh], PanelWire(try line("GPIO27")))
        XCTAssertEqual(panel.lamps[.internet], PanelWire(try line("GPIO22")))
        XCTAssertEqual(panel.lamps[.mail], PanelWire(try line("GPIO23")))
        XCTAssertEqual(panel.button, PanelWire(try line("GPIO24"), [.activeLow, .pullUp]))
        XCTAssertEqual(panel.debounce, .milliseconds(30))
        XCTAssertFalse(panel.isQuiet)
    }

    func testWhoWiresOneLampOnTheHeaderHasAPanelThatKnowsIt() throws {
        let panel = try read("panel.wiring = \"header-one-lamp\"").configuration
        XCTAssertEqual(panel.lamps, [.status: PanelWire(try line("GPIO17"))], "so that it tells of the internet too")
        XCTAssertEqual(panel.button, PanelWire(try line("GPIO24"), [.activeLow, .pullUp]))
    }

    func testEveryLineCanBeElsewhereOrLeftOut() throws {
        let panel = try read(
            """
            [panel]
            wiring = "header"
            status = "pinctrl-bcm2711:5"
            mesh = "none"
            internet = "none"
            mail = "none"
            lamps_active_low = true
            button_active_low = false
            button_bias = "pull-down"
            debounce_ms = 50
            quiet = true
            """
        ).configuration
        XCTAssertEqual(panel.lamps, [.status: PanelWire(try line("pinctrl-bcm2711:5"), .activeLow)])
        XCTAssertEqual(panel.button, PanelWire(try line("GPIO24"), .pullDown))
        XCTAssertEqual(panel.debounce, .milliseconds(50))
        XCTAssertTrue(panel.isQuiet)
        XCTAssertEqual(
            try read("panel.button = \"GPIO3\"\npanel.button_bias = \"none\"").configuration.button?.options, .activeLow
        )
    }

    func testChipsByNumberAndLinesNamedTwiceAreRefused() {
        for bad in ["gpiochip0:17", "0:17", "", "GPIO 17", "x:70000"] {
            XCTAssertEqual(problems("panel.status = \"\(bad)\"").count, 1, bad)
        }
        XCTAssertEqual(problems("panel.debounce_ms = 4").count, 1)
        XCTAssertEqual(
            problems("[panel]\nstatus = \"GPIO5\"\nbutton = \"GPIO5\""),
            ["p.toml:3:1: panel.button: names GPIO5, which is the line of panel.status already"])
        XCTAssertEqual(
            problems("[panel]\nwiring = \"header\"\nstatus = \"GPIO24\""),
            ["p.toml:3:1: panel.status: names GPIO24, which is the line of panel.button already"])
    }

    func testAWipeKeepsWhereTheLinesAre() throws {
        let text = "[panel]\nwiring = \"header\"\nmail = \"none\"\n"
        let configuration = try Configuration(parsing: Array(text.utf8), file: "p.toml")
        let redacted = ConfigurationRedaction.text(of: configuration)
        XCTAssertEqual(try Configuration(parsing: Array(redacted.utf8), file: "r.toml").panel, configuration.panel)
    }

    // MARK: What is told

    func testStatusTellsWhatEachLampShowsAndWhatTheButtonIs() throws {
        let panel = StatusReport.Panel(
            lamps: [.init(name: "status", shows: "well"), .init(name: "mail", shows: nil)], button: "listening")
        XCTAssertEqual(OperatorText.panel(panel), "status: well, mail: line missing, button listening")
        XCTAssertEqual(try StatusReport.Panel(json: JSONValue(parsing: panel.json.encoded())), panel)
    }

    func testTheDoctorTellsWhereLinesWereFoundAndWhichAreMissing() throws {
        var facts = DoctorFacts()
        facts.panel = [
            .init(key: "panel.status", address: try line("GPIO17"), place: "gpiochip3 line 17", problem: nil),
            .init(
                key: "panel.button", address: try line("x:9"), place: nil,
                problem: .noSuchLine(try line("x:9"), chips: ["pinctrl-rp1"])),
        ]
        let diagnosis = Diagnosis(facts)
        let finding = try XCTUnwrap(diagnosis.findings.first { $0.code == "panel-line" })
        XCTAssertEqual(finding.message, "panel.button: x:9: no such line; chips here: pinctrl-rp1.")
        XCTAssertEqual(finding.weight, .warning)
        let text = DoctorReport.text(diagnosis)
        XCTAssertTrue(text.contains("status GPIO17 (gpiochip3 line 17), button x:9 (missing), by libgpiod "), text)
        XCTAssertTrue(DoctorReport.text(Diagnosis(DoctorFacts())).contains("panel       none\n"))
    }
}
