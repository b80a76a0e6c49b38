import Basics
import XCTest

@testable import Station

final class LogTests: XCTestCase {
    private var time = Instant.zero
    private var lines: [String] = []

    private func log(_ level: LogLevel, prefixed: Bool = false) -> Log {
        Log(level: level, hasPriorityPrefix: prefixed, clock: { self.time }, write: { self.lines.append($0) })
    }

    func testALevelLeavesOutWhatIsLessImportant() {
        let log = log(.warning)
        log.error("e")
        log.warning("w")
        log.info("i")
        log.debug("d")
        XCTAssertEqual(lines, ["error: e\n", "warning: w\n"])
    }

    func testTheJournalGetsPriorities() {
        let log = log(.debug, prefixed: true)
        log.error("a")
        log.warning("b")
        log.info("c")
        log.debug("d")
        XCTAssertEqual(lines, ["<3>a\n", "<4>b\n", "<6>c\n", "<7>d\n"])
    }

    func testNumbersStatesAndPathsCanBeLogged() {
        log(.info).info("links \(3), tor \(Configuration.Network.Tor.off), file \(path: "/etc/x"): \(errno: ENOENT)")
        XCTAssertEqual(lines, ["info: links 3, tor off, file /etc/x: No such file or directory\n"])
    }

    func testAPathCannotBreakALine() {
        log(.info).info("\(path: "/a\n<0>b\u{1B}")")
        XCTAssertEqual(lines, ["info: /a\\n<0>b\\u{1B}\n"])
    }

    func testTheRateIsBoundedAndWhatIsLeftOutIsCounted() {
        let log = log(.info)
        for _ in 0..<1_000 { log.info("x") }
        XCTAssertEqual(lines.count, Int(LogLimits.burst))
        XCTAssertEqual(log.suppressed, 1_000 - UInt64(LogLimits.burst))
        time = time + .seconds(2)
        log.info("y")
        XCTAssertEqual(lines.suffix(2), ["warning: 960 log lines were left out\n", "info: y\n"])
        XCTAssertEqual(log.suppressed, 0)
    }
}
