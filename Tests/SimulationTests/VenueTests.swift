import Basics
import Simulation
import XCTest

final class VenueTests: XCTestCase {
    private func play(seed: UInt64) -> SimulationRun {
        let run = SimulationRun(VenueScenario.self, Setting(nodes: 20, span: .minutes(6), seed: seed))
        run.play()
        return run
    }

    /// With sync, visitors who come back and a hostile phone in the hall.
    func testSmallVenueKeepsItsPromisesAndRepeatsItselfToTheLastDelivery() {
        let first = play(seed: 3)
        XCTAssertNil(first.violation)
        XCTAssertGreaterThan(first.log.deliveries.count { $0.isReplay }, 0, "history was heard")
        XCTAssertGreaterThan(first.reference?.due ?? 0, 0)
        let second = play(seed: 3)
        XCTAssertEqual(first.digest, second.digest)
        XCTAssertEqual(first.mesh.steps, second.mesh.steps)
        XCTAssertEqual(Summary(first).text, Summary(second).text)
        XCTAssertNotEqual(first.digest, play(seed: 4).digest, "another seed, another run")
    }
}
