import Basics
import EventLoop
import Radio
import XCTest

@testable import Station

final class SupervisionTests: XCTestCase {
    private final class ScriptedBox: Box {
        var liveness: [RadioLiveness] = []
        var summary = "1 neighbour"
        func start() {}
        func stop() {}
        let exitStatus = ExitStatus.ok
        func reload(_ next: Configuration) {}
        func refusedToReload(from file: String) {}
    }

    private let loop = EmbeddedLoop()
    private let box = ScriptedBox()
    private var told: [String] = []

    private func supervision(watchdog: Interval? = .seconds(60)) -> Supervision {
        Supervision(box, loop: loop, watchdog: watchdog) { [unowned self] in told.append($0) }
    }

    private func signs(in span: Interval) -> Int {
        told.removeAll()
        loop.advance(by: span)
        return told.count { $0 == "WATCHDOG=1" }
    }

    private func radio(_ name: String = "hci0", isExpected: Bool = true, proof: Instant?) -> RadioLiveness {
        RadioLiveness(name: name, isExpected: isExpected, lastProof: proof)
    }

    func testReadinessIsToldOnceAndLifeTwiceInTheTimeAllowed() {
        let supervision = supervision()
        XCTAssertEqual(told, [])
        supervision.ready()
        XCTAssertEqual(told.first, "READY=1")
        XCTAssertEqual(signs(in: .minutes(10)), 20)
        XCTAssertFalse(told.contains("READY=1"))
        supervision.stopping()
        XCTAssertEqual(told.last, "STOPPING=1")
        XCTAssertEqual(signs(in: .minutes(10)), 0)
    }

    func testABoxWithoutARadioLives() {
        let supervision = supervision()
        supervision.ready()
        XCTAssertEqual(signs(in: .hours(2)), 240)
        box.liveness = [radio(isExpected: false, proof: nil)]
        XCTAssertEqual(signs(in: .hours(2)), 240, "absent or switched off: a restart would not help")
    }

    func testWhenEveryRadioIsDeadTheProcessSaysNothingMore() {
        let supervision = supervision()
        supervision.ready()
        box.liveness = [radio(proof: loop.now.monotonic), radio("hci1", proof: nil)]
        XCTAssertEqual(signs(in: .minutes(14)), 28)
        loop.advance(by: .minutes(2))
        XCTAssertEqual(signs(in: .minutes(10)), 0)
        box.liveness[1] = radio("hci1", proof: loop.now.monotonic)
        XCTAssertEqual(signs(in: .minutes(10)), 20, "one that works is enough")
    }

    func testARadioThatNeverShowedLifeHasItsTimeFromTheStart() {
        let supervision = supervision()
        box.liveness = [radio(proof: nil)]
        supervision.ready()
        XCTAssertEqual(signs(in: .minutes(14)), 28)
        loop.advance(by: .minutes(2))
        XCTAssertEqual(signs(in: .minutes(10)), 0)
    }

    func testTheStateInWordsIsToldWhenItChangesAndNotTooOften() {
        let supervision = supervision(watchdog: .seconds(2))
        supervision.ready()
        XCTAssertTrue(told.contains("STATUS=1 neighbour"))
        for number in 0..<600 {
            box.summary = "\(number) neighbours"
            loop.advance(by: .seconds(1))
        }
        XCTAssertTrue((9...12).contains(told.count { $0.hasPrefix("STATUS=") }))
    }

    func testWithoutAWatchdogTheStateIsToldAllTheSame() {
        let supervision = supervision(watchdog: nil)
        supervision.ready()
        box.summary = "2 neighbours"
        loop.advance(by: .minutes(2))
        XCTAssertEqual(told.last, "STATUS=2 neighbours")
    }
}
