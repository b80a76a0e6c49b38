import Basics
import Foundation
import Simulation
import Wire
import XCTest

@testable import Mesh

/// Whole meshes in virtual time. `BITGATE_SEED` replays one seed, `BITGATE_SEEDS` runs that many.
final class MeshSimulationTests: XCTestCase {
    private func forEachSeed(_ count: Int, _ body: (UInt64) -> Void) {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["BITGATE_SEED"].flatMap(UInt64.init) { return body(seed) }
        let count = environment["BITGATE_SEEDS"].flatMap(Int.init) ?? count
        for seed in 1...UInt64(max(1, count)) { body(seed) }
    }

    /// A mesh on a random graph whose nodes have met.
    private func settled(
        _ seed: UInt64, nodes: ClosedRange<Int>, degree: Int, diameter: Int,
        _ conditions: SimulatedMesh.Conditions = .init()
    ) -> SimulatedMesh {
        var random = SeededRandom(seed: seed &* 7_919)
        let mesh = SimulatedMesh(seed: seed)
        var topology = RandomTopology(count: Int.random(in: nodes, using: &random), degree: degree, using: &random)
        while topology.diameter > diameter {
            topology = RandomTopology(count: topology.count, degree: degree, using: &random)
        }
        for _ in 0..<topology.count { mesh.addNode() }
        for (a, b) in topology.edges {
            // Half of the pairs found each other both ways, as phones do.
            if Bool.random(using: &random) {
                mesh.connectBothWays(a, b, conditions)
            } else {
                mesh.connect(a, b, conditions)
            }
        }
        mesh.run(for: .seconds(15))
        return mesh
    }

    private func say(_ text: String, by node: Int, in mesh: SimulatedMesh) -> PublicMessage? {
        mesh.call(node) { $0.say(text, at: $1) }
    }

    func testQuietMeshDeliversEveryMessageToEverybodyExactlyOnce() {
        forEachSeed(40) { seed in
            let mesh = settled(seed, nodes: 4...10, degree: 3, diameter: 3)
            var said: [(PublicMessage, Int)] = []
            for node in mesh.nodes.indices {
                if let message = say("from \(node)", by: node, in: mesh) { said.append((message, node)) }
                mesh.run(for: .milliseconds(40))
            }
            mesh.run(for: .seconds(3))
            let check = MeshCheckers(mesh: mesh)
            for (message, author) in said { check.everybodyHeard(message, by: author) }
            check.all()
        }
    }

    func testLongMessagesArriveInFragmentsOverNarrowLinks() {
        forEachSeed(10) { seed in
            let conditions = SimulatedMesh.Conditions(delay: 5...40, frameLimit: seed % 2 == 0 ? 512 : 182)
            let mesh = settled(seed, nodes: 4...6, degree: 3, diameter: 3, conditions)
            var random = SeededRandom(seed: seed)
            let text = String(
                decoding: (0..<1_200).map { _ in UInt8.random(in: 33...126, using: &random) }, as: UTF8.self)
            let message = say(text, by: 0, in: mesh)
            mesh.run(for: .seconds(5))
            let check = MeshCheckers(mesh: mesh)
            if let message { check.everybodyHeard(message, by: 0) }
            check.all()
        }
    }

    /// Frames are lost and late, links break and come back; then the weather clears and messages arrive again.
    func testRoughMeshNeverRepeatsItselfAndRecovers() {
        forEachSeed(15) { seed in
            let rough = SimulatedMesh.Conditions(delay: 5...250, loss: 0.15)
            let mesh = settled(seed, nodes: 5...9, degree: 3, diameter: 4, rough)
            var random = SeededRandom(seed: seed &+ 1_000_000)
            for round in 0..<20 {
                _ = say("round \(round)", by: Int.random(in: mesh.nodes.indices, using: &random), in: mesh)
                if let link = mesh.openLinks.randomElement(using: &random) {
                    mesh.disconnect(link.link)
                    let back = random.interval(.milliseconds(200), .seconds(8))
                    mesh.schedule(after: back) { $0.connect(link.a, link.b, rough) }
                }
                mesh.run(for: random.interval(.milliseconds(100), .seconds(2)))
            }
            mesh.run(for: .seconds(10))
            for link in mesh.openLinks {
                mesh.disconnect(link.link)
                mesh.connect(link.a, link.b)
            }
            mesh.run(for: .seconds(40))
            mesh.clearAir()
            let message = say("calm at last", by: 0, in: mesh)
            mesh.run(for: .seconds(3))
            let check = MeshCheckers(mesh: mesh)
            if let message { check.everybodyHeard(message, by: 0) }
            check.all()
        }
    }

    /// A dense crowd: TTLs are clamped and fan-out is thinned, yet a message gets around.
    func testCrowdIsServedWithoutAStorm() {
        forEachSeed(2) { seed in
            let mesh = SimulatedMesh(seed: seed)
            let count = 12
            for _ in 0..<count { mesh.addNode() }
            for a in 0..<count { for b in 0..<a { mesh.connect(a, b) } }
            mesh.run(for: .seconds(10))
            mesh.clearAir()
            let message = say("to the crowd", by: 0, in: mesh)
            mesh.run(for: .seconds(3))
            let check = MeshCheckers(mesh: mesh)
            if let message { check.everybodyHeard(message, by: 0) }
            check.all()
            XCTAssertLessThan(mesh.air(.message).count, count * 10, "seed \(seed)")
        }
    }
}
