import Basics
import Mesh
import Wire
import XCTest

@testable import Simulation

/// What whole meshes promise, whatever the seed. Each run is held against all checks of the library; a test adds that
/// the story it is named for really happened.
final class PromiseTests: XCTestCase {
    func testEveryReachableNodeHearsEveryMessageOnceWhateverTheSeed() {
        Seeds.play(LineScenario.self, 20, minutes: 8) { run in
            XCTAssertGreaterThan(run.reference?.due ?? 0, 0)
        }
    }

    func testLostFramesAreMadeGood() {
        var replays = 0
        Seeds.play(LossScenario.self, 25, minutes: 9) { replays += $0.log.deliveries.count { $0.isReplay } }
        XCTAssertGreaterThan(replays, 0)
    }

    func testPeopleWhoComeAndGoHearWhatWasSaidWhileTheyWereThereAndBefore() {
        Seeds.play(ChurnScenario.self, 25) { run in
            XCTAssertTrue(run.mesh.nodes.contains { $0.isRetired })
            XCTAssertGreaterThan(run.mesh.nodes.count, run.setting.nodes)
        }
    }

    func testPartitionHealsByGossip() {
        var replays = 0
        Seeds.play(PartitionScenario.self, 25) { replays += $0.log.deliveries.count { $0.isReplay } }
        XCTAssertGreaterThan(replays, 0)
    }

    func testHostilePhoneForgesNothing() {
        var refused: UInt64 = 0
        Seeds.play(HostileScenario.self, 25) { run in
            for node in run.mesh.nodes { refused += node.drops[.badSignature] + node.drops[.knownForgery] }
        }
        XCTAssertGreaterThan(refused, 0)
    }

    func testClockSkewedNodesAreNotHeard() {
        Seeds.play(SkewScenario.self, 20) { run in
            XCTAssertGreaterThan(run.mesh.nodes.reduce(0) { $0 + $1.drops[.clockSkew] }, 0)
            XCTAssertGreaterThan(run.log.deliveries.count, 0)
        }
    }

    func testRestartedNodeTellsNothingTwice() {
        Seeds.play(RestartScenario.self, 25) { XCTAssertGreaterThan($0.mesh.nodes.count { $0.archive.writes > 0 }, 0) }
    }

    func testTornGridWithRestartsWrongClocksAndAHostilePhoneKeepsEveryPromise() {
        Seeds.play(GridScenario.self, 15, minutes: 8)
    }

    func testVisitorsOfAHallHearEachOtherAndSixHoursOfHistory() {
        Seeds.play(VenueScenario.self, 2, minutes: 5) { run in
            XCTAssertGreaterThan(run.log.deliveries.count { $0.isReplay }, 0)
        }
    }

    func testEveryMessageCrossesTheBridgeOnceAndTheRadioCopyWins() {
        var won = 0
        var outages = 0
        Seeds.play(TwoHallsScenario.self, 14, minutes: 8) { run in
            won += run.bridge?.retractions ?? 0
            outages += run.bridge?.outages ?? 0
            XCTAssertGreaterThan(run.bridge?.due ?? 0, 0)
        }
        XCTAssertGreaterThan(won, 0)
        XCTAssertGreaterThan(outages, 0)
    }

    func testFloodLeavesHalfOfTheAirToMail() {
        Seeds.play(FloodScenario.self, 4, minutes: 1)
    }

    func testSameSeedGivesTheSameRun() {
        for kind in Scenarios.all where kind != VenueScenario.self {
            let setting = Setting(nodes: kind.fewestNodes + 1, span: .minutes(2), seed: 7)
            let runs = (0..<2).map { _ in SimulationRun(kind, setting) }
            for run in runs { run.play() }
            XCTAssertEqual(runs[0].digest, runs[1].digest, kind.name)
            XCTAssertEqual(runs[0].mesh.steps, runs[1].mesh.steps, kind.name)
            XCTAssertEqual(runs[0].traffic.byteCount, runs[1].traffic.byteCount, kind.name)
        }
    }
}
