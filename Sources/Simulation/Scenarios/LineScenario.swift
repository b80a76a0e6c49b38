import Basics

/// Nodes in a row, with frames lost and links that break and come back.
public final class LineScenario: Scenario {
    public static let name = "line"
    public static let summary = "nodes in a row; frames are lost, links break and come back"
    public static let usual = Setting(nodes: 7, span: .minutes(30), seed: 1)
    public static let fewestNodes = 2

    private static let conditions = SimulatedMesh.Conditions(delay: 5...60, loss: 0.02)
    private let setting: Setting
    private var random: SeededRandom

    public init(_ setting: Setting) {
        self.setting = setting
        random = SeededRandom(seed: setting.seed ^ 0x11e)
    }

    public func prepare(_ run: SimulationRun) {
        var patience = ReferenceCheck.Patience.lossy
        // Nobody has more than two neighbours, so nobody clamps the TTL.
        patience.hops = 6
        run.compare(patience)
        for _ in 0..<setting.nodes {
            run.mesh.addNode(clockSkew: Int64.random(in: -20_000...20_000, using: &random))
        }
        for node in 1..<setting.nodes { run.mesh.connect(node - 1, node, LineScenario.conditions) }
        for node in 0..<setting.nodes {
            Chatter.schedule(6, by: node, after: .seconds(5), within: setting.span, in: run.mesh, using: &random)
        }
        scheduleBreak(run.mesh)
    }

    /// Every few minutes a link breaks, for seconds or minutes.
    private func scheduleBreak(_ mesh: SimulatedMesh) {
        mesh.schedule(after: random.interval(.minutes(1), .minutes(5))) { [self] mesh in
            if let (link, a, b) = mesh.openLinks.randomElement(using: &random) {
                mesh.disconnect(link)
                mesh.schedule(after: random.interval(.milliseconds(300), .minutes(2))) {
                    $0.connect(a, b, LineScenario.conditions)
                }
            }
            scheduleBreak(mesh)
        }
    }

    public func place(of node: Int) -> Place? { Place(x: Double(node) * 15, y: 0) }
}
