import Basics
import Foundation
import Simulation
import XCTest

/// Plays scenarios over many seeds. `BITGATE_SEED` replays one seed, `BITGATE_SEEDS` runs that many of each.
enum Seeds {
    private static let environment = ProcessInfo.processInfo.environment

    static func forEach(_ count: Int, _ body: (UInt64) -> Void) {
        if let seed = environment["BITGATE_SEED"].flatMap(UInt64.init) { return body(seed) }
        let count = environment["BITGATE_SEEDS"].flatMap(Int.init) ?? count
        for seed in 1...UInt64(max(1, count)) { body(seed) }
    }

    /// Plays little runs of one scenario, and fails with what replays the one that broke a promise.
    static func play(
        _ kind: any Scenario.Type, _ count: Int, minutes: Int = 6, file: StaticString = #filePath, line: UInt = #line,
        also expect: (SimulationRun) -> Void = { _ in }
    ) {
        forEach(count) { seed in
            let nodes = kind.fewestNodes + Int(seed % 3)
            let run = SimulationRun(
                kind, Setting(nodes: nodes, span: .minutes(minutes) + .seconds(Int(seed % 60)), seed: seed))
            run.play()
            if let violation = run.violation {
                XCTFail("seed \(seed): \(violation); replay: \(run.command)", file: file, line: line)
            } else {
                expect(run)
            }
        }
    }
}
