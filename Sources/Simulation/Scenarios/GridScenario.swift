import Basics
import Mesh

/// A square of nodes that is torn in two and mended, with nodes that restart, clocks that differ and a hostile phone at
/// one corner.
public final class GridScenario: Scenario {
    public static let name = "grid"
    public static let summary = "a square that is torn in two and mended; restarts, wrong clocks, a hostile phone"
    public static let usual = Setting(nodes: 25, span: .minutes(30), seed: 1)
    public static let fewestNodes = 4

    private static let conditions = SimulatedMesh.Conditions(delay: 5...80, loss: 0.02)
    private let setting: Setting
    private let side: Int
    private var random: SeededRandom
    /// Nodes whose clock is so wrong that nobody takes their packets.
    private var strays: Set<Int> = []

    public init(_ setting: Setting) {
        self.setting = setting
        side = max(2, Int(Double(setting.nodes).squareRoot().rounded(.up)))
        random = SeededRandom(seed: setting.seed ^ 0x961d)
    }

    public func prepare(_ run: SimulationRun) {
        if setting.nodes > 8 { strays = [setting.nodes / 2] }
        run.compare(.lossy, serving: { [strays] in !strays.contains($0) })
        for node in 0..<setting.nodes {
            let skew = strays.contains(node) ? 400_000 : Int64.random(in: -30_000...30_000, using: &random)
            run.mesh.addNode(clockSkew: skew)
        }
        for (a, b) in edges { run.mesh.connect(a, b, GridScenario.conditions) }
        let hostile = HostilePhone(seed: setting.seed ^ 0xbad)
        hostile.begin(in: run.mesh)
        for node in [0, 1] { run.mesh.connect(hostile, to: node, GridScenario.conditions) }
        for node in 0..<setting.nodes {
            Chatter.schedule(3, by: node, after: .seconds(5), within: setting.span, in: run.mesh, using: &random)
        }
        scheduleTear(run.mesh)
        scheduleRestart(run.mesh)
    }

    private var edges: [(Int, Int)] {
        (0..<setting.nodes).flatMap { node in
            [(node, node + 1), (node, node + side)].filter {
                $1 < setting.nodes && ($1 == node + side || $1 % side > 0)
            }
        }
    }

    /// The left half is cut off from the right one for some minutes.
    private func scheduleTear(_ mesh: SimulatedMesh) {
        let begin = random.interval(.minutes(2), .minutes(6))
        mesh.schedule(after: begin) { [self] mesh in
            let middle = side / 2
            for (link, a, b) in mesh.openLinks where a >= 0 && (a % side < middle) != (b % side < middle) {
                mesh.disconnect(link)
            }
            mesh.schedule(after: random.interval(.minutes(1), .minutes(5))) { [self] in
                mend($0)
                scheduleTear($0)
            }
        }
    }

    private func mend(_ mesh: SimulatedMesh) {
        let open = mesh.openLinks
        for (a, b) in edges where !mesh.nodes[a].isRetired && !mesh.nodes[b].isRetired {
            if !open.contains(where: { $0.a == a && $0.b == b }) { mesh.connect(a, b, GridScenario.conditions) }
        }
    }

    /// A node goes down, and comes back without its memory of messages.
    private func scheduleRestart(_ mesh: SimulatedMesh) {
        mesh.schedule(after: random.interval(.minutes(3), .minutes(8))) { [self] mesh in
            let node = Int.random(in: 2..<max(3, setting.nodes), using: &random)
            mesh.retire(node)
            mesh.schedule(after: random.interval(.seconds(5), .minutes(2))) { [self] in
                $0.restart(node, MeshConfiguration(nickname: "node-\(node)"))
                mend($0)
                scheduleRestart($0)
            }
        }
    }

    public func place(of node: Int) -> Place? { Place(x: Double(node % side) * 15, y: Double(node / side) * 15) }
}
