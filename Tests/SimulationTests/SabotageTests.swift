import Basics
import XCTest

@testable import Simulation

/// A check that lets its promise be broken is worth nothing: every one of them must find the fault slipped to it.
final class SabotageTests: XCTestCase {
    private func setting(_ kind: any Scenario.Type) -> Setting {
        Setting(nodes: max(kind.fewestNodes, 4), span: max(kind.shortest, .minutes(1)), seed: 3)
    }

    func testEveryCheckNoticesItsSabotage() {
        for sabotage in Sabotage.allCases {
            let kind = sabotage.stage
            let run = SimulationRun(kind, setting(kind))
            run.sabotage(sabotage)
            run.play()
            XCTAssertEqual(run.violation?.rule, sabotage.rule, "\(sabotage): \(run.violation?.description ?? "passed")")
        }
    }

    func testRunsWithoutSabotageKeepThosePromises() {
        for kind in [LineScenario.self, HostileScenario.self, TwoHallsScenario.self] as [any Scenario.Type] {
            let run = SimulationRun(kind, setting(kind))
            run.play()
            XCTAssertNil(run.violation, "\(kind.name): \(run.violation?.description ?? "")")
        }
    }

    /// The mesh itself is tampered with, not the checks.
    private func play(_ kind: any Scenario.Type, _ interference: @escaping (SimulatedMesh.Transmission) -> [UInt8]?)
        -> SimulationRun
    {
        let run = SimulationRun(kind, Setting(nodes: max(kind.fewestNodes, 8), span: .minutes(12), seed: 5))
        run.mesh.interference = interference
        run.play()
        return run
    }

    func testWallThatStopsMessagesAndHistoryIsNoticed() {
        let run = play(LineScenario.self) { $0.bytes[1] == 0x02 && $0.to == 3 ? nil : $0.bytes }
        XCTAssertEqual(run.violation?.rule, "reference mesh", "\(String(describing: run.violation))")
    }

    func testCarriersThatGetLostAreNoticed() {
        let run = play(TwoHallsScenario.self) { $0.bytes[1] == 0x28 || $0.bytes[1] == 0x20 ? nil : $0.bytes }
        XCTAssertEqual(run.violation?.rule, "bridge", "\(String(describing: run.violation))")
    }

    func testStepLimitStopsAtThatStep() {
        let run = SimulationRun(LineScenario.self, Setting(nodes: 4, span: .minutes(10), seed: 1))
        run.mesh.stepLimit = 500
        run.play()
        XCTAssertEqual(run.mesh.steps, 500)
        XCTAssertNil(run.violation)
    }
}
