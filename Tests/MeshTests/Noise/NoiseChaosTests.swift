import Basics
import Crypto
import Simulation
import Wire
import XCTest

@testable import Mesh

/// Private talk in a mesh whose links come and go, lose frames, and whose nodes restart.
final class NoiseChaosTests: XCTestCase {
    private struct Told: Hashable {
        let from: PeerID
        let to: PeerID
        let text: String
    }

    func testWhatArrivesWasSentByWhomItSaysAndArrivesOnce() {
        var told = 0
        var arrived = 0
        for seed in 1...4 as ClosedRange<UInt64> {
            let mesh = SimulatedMesh(seed: seed)
            mesh.recordsAir = false
            var random = SeededRandom(seed: seed)
            for _ in 0..<5 { mesh.addNode() }
            let conditions = SimulatedMesh.Conditions(loss: 0.03)
            for node in 1..<5 { mesh.connect(Int.random(in: 0..<node, using: &random), node, conditions) }
            mesh.run(for: .seconds(12))
            var sent: Set<Told> = []
            for round in 0..<150 {
                switch Int.random(in: 0..<20, using: &random) {
                case 0:
                    if let link = mesh.openLinks.randomElement(using: &random)?.link { mesh.disconnect(link) }
                case 1, 2:
                    let (a, b) = (Int.random(in: 0..<5, using: &random), Int.random(in: 0..<5, using: &random))
                    if a != b, mesh.openLinks.count < 8 { mesh.connect(a, b, conditions) }
                case 3 where round % 3 == 0:
                    let node = Int.random(in: 0..<5, using: &random)
                    for link in mesh.links(of: node) { mesh.disconnect(link) }
                    mesh.restart(node, MeshConfiguration(nickname: "node-\(node)"))
                    mesh.connect(node, (node + 1) % 5, conditions)
                default:
                    let (a, b) = (Int.random(in: 0..<5, using: &random), Int.random(in: 0..<5, using: &random))
                    guard a != b else { continue }
                    let text = "\(seed)-\(round)"
                    if mesh.tell(text, from: a, to: b) != .refused {
                        sent.insert(Told(from: mesh.peer(a), to: mesh.peer(b), text: text))
                    }
                }
                mesh.run(for: .milliseconds(Int.random(in: 50...4_000, using: &random)))
            }
            mesh.run(for: .minutes(12))
            var seen: Set<Told> = []
            for node in mesh.nodes {
                for (peer, message) in node.privateMessages {
                    let entry = Told(from: peer, to: node.id, text: message.content)
                    XCTAssertTrue(sent.contains(entry), "seed \(seed): \(entry.text)")
                    XCTAssertTrue(seen.insert(entry).inserted, "seed \(seed): \(entry.text) twice")
                }
            }
            told += sent.count
            arrived += seen.count
        }
        XCTAssertGreaterThan(told, 300)
        // Restarts, lost frames and partings take their share; nothing is repeated at this level.
        XCTAssertGreaterThan(arrived * 2, told, "\(arrived) of \(told)")
    }
}
