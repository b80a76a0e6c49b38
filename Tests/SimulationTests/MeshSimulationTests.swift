import Basics
import Wire
import XCTest

@testable import Simulation

/// Meshes on random graphs under the checks that every scenario runs under, and what must have been heard counted to
/// the message.
final class MeshSimulationTests: XCTestCase {
    /// A mesh whose nodes have met, and what its checks found.
    private struct Rig {
        let mesh: SimulatedMesh
        let log: DeliveryLog
        private var said: [(number: Int, author: Int)] = []

        init(seed: UInt64) {
            mesh = SimulatedMesh(seed: seed)
            log = DeliveryLog()
            mesh.observers = [log, FloodCheck(), BudgetCheck(), BoundsCheck()]
        }

        mutating func say(_ text: String, by node: Int) {
            guard let message = mesh.say(text, from: node), let number = log.number(of: message) else { return }
            said.append((number, node))
        }

        mutating func forgetWhatWasSaid() { said.removeAll() }

        /// Nothing was found, and every node but its author heard each message.
        func expectEverybodyHeard(file: StaticString = #filePath, line: UInt = #line) {
            let seed = "seed \(mesh.seed)"
            XCTAssertNil(mesh.violation, "\(seed): \(mesh.violation?.description ?? "")", file: file, line: line)
            for (number, author) in said {
                let listeners = mesh.nodes.indices.filter { log.known(to: $0).contains(number) }
                XCTAssertEqual(
                    listeners.count, mesh.nodes.count, "\(seed): message \(number) of node \(author)", file: file,
                    line: line)
            }
        }
    }

    /// Nodes on a random graph that have met.
    private func settled(
        _ seed: UInt64, nodes: ClosedRange<Int>, degree: Int, diameter: Int,
        _ conditions: SimulatedMesh.Conditions = .init()
    ) -> Rig {
        var random = SeededRandom(seed: seed &* 7_919)
        let rig = Rig(seed: seed)
        var topology = RandomTopology(count: Int.random(in: nodes, using: &random), degree: degree, using: &random)
        while topology.diameter > diameter {
            topology = RandomTopology(count: topology.count, degree: degree, using: &random)
        }
        for _ in 0..<topology.count { rig.mesh.addNode() }
        for (a, b) in topology.edges {
            // Half of the pairs found each other both ways, as phones do.
            if Bool.random(using: &random) {
                rig.mesh.connectBothWays(a, b, conditions)
            } else {
                rig.mesh.connect(a, b, conditions)
            }
        }
        rig.mesh.run(for: .seconds(15))
        return rig
    }

    func testQuietMeshDeliversEveryMessageToEverybodyExactlyOnce() {
        Seeds.forEach(40) { seed in
            var rig = settled(seed, nodes: 4...10, degree: 3, diameter: 3)
            for node in rig.mesh.nodes.indices {
                rig.say("from \(node)", by: node)
                rig.mesh.run(for: .milliseconds(40))
            }
            rig.mesh.run(for: .seconds(3))
            rig.expectEverybodyHeard()
        }
    }

    func testLongMessagesArriveInFragmentsOverNarrowLinks() {
        Seeds.forEach(10) { seed in
            let conditions = SimulatedMesh.Conditions(delay: 5...40, frameLimit: seed % 2 == 0 ? 512 : 182)
            var rig = settled(seed, nodes: 4...6, degree: 3, diameter: 3, conditions)
            var random = SeededRandom(seed: seed)
            let text = String(
                decoding: (0..<1_200).map { _ in UInt8.random(in: 33...126, using: &random) }, as: UTF8.self)
            rig.say(text, by: 0)
            rig.mesh.run(for: .seconds(5))
            rig.expectEverybodyHeard()
        }
    }

    /// Loss, delay and links that come and go: nothing is promised to arrive while it lasts, but nothing arrives twice
    /// or altered either, and once the weather is fair new neighbours and messages arrive again.
    func testRoughMeshNeverRepeatsItselfAndRecovers() {
        Seeds.forEach(15) { seed in
            let rough = SimulatedMesh.Conditions(delay: 5...250, loss: 0.15)
            var rig = settled(seed, nodes: 5...9, degree: 3, diameter: 4, rough)
            let mesh = rig.mesh
            var random = SeededRandom(seed: seed &+ 1_000_000)
            for round in 0..<20 {
                rig.say("round \(round)", by: Int.random(in: mesh.nodes.indices, using: &random))
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
            rig.forgetWhatWasSaid()
            rig.say("calm at last", by: 0)
            mesh.run(for: .seconds(3))
            rig.expectEverybodyHeard()
        }
    }

    /// A dense crowd: TTLs are clamped and fan-out is thinned, yet a message gets around.
    func testCrowdIsServedWithoutAStorm() {
        Seeds.forEach(2) { seed in
            var rig = Rig(seed: seed)
            let count = 12
            for _ in 0..<count { rig.mesh.addNode() }
            for a in 0..<count { for b in 0..<a { rig.mesh.connect(a, b) } }
            rig.mesh.run(for: .seconds(10))
            rig.mesh.clearAir()
            rig.say("to the crowd", by: 0)
            rig.mesh.run(for: .seconds(3))
            rig.expectEverybodyHeard()
            XCTAssertLessThan(rig.mesh.air(.message).count, count * 10, "seed \(seed)")
        }
    }
}
