import Basics
import Mesh

/// People scattered over a park, and one thing that makes their life hard.
public class ParkScenario: Scenario {
    /// What makes it hard.
    struct Weather {
        var conditions = SimulatedMesh.Conditions(delay: 5...80)
        var patience = ReferenceCheck.Patience()
        /// Frames are lost until so long before the end, when everybody must catch up.
        var clearing: Interval?
        /// People leave for good, and others come.
        var churns = false
        /// The park is cut in two for some minutes, again and again.
        var tears = false
        /// Nodes die without a goodbye and come back with what they had written down.
        var restarts = false
        /// Share of nodes whose clock is wrong by minutes or hours.
        var strays = 0.0
        var hostilePhones = 0
    }

    public class var name: String { "park" }
    public class var summary: String { "people in a park" }
    public class var usual: Setting { Setting(nodes: 16, span: .minutes(30), seed: 1) }
    public static var fewestNodes: Int { 5 }

    private static let width = 80.0
    private static let depth = 50.0
    private static let messagesEach = 4

    let setting: Setting
    let weather: Weather
    private var random: SeededRandom
    private var places: [Int: Place] = [:]
    private var edges: [(Int, Int)] = []
    /// Nodes whose clock is so wrong that nobody takes their packets.
    private(set) var strays: Set<Int> = []

    /// - Parameter salt: sets the stories of one seed apart.
    init(_ setting: Setting, _ weather: Weather, salt: UInt64) {
        self.setting = setting
        self.weather = weather
        random = SeededRandom(seed: setting.seed ^ salt)
    }

    public required init(_ setting: Setting) {
        self.setting = setting
        weather = Weather()
        random = SeededRandom(seed: setting.seed)
    }

    public func prepare(_ run: SimulationRun) {
        let plan = HallPlan(
            count: setting.nodes, corner: Place(x: 0, y: 0), width: ParkScenario.width, depth: ParkScenario.depth,
            using: &random)
        // The last places: without them the others still hang together.
        let right = setting.nodes - Int(Double(setting.nodes) * weather.strays)
        strays = Set(right..<setting.nodes)
        run.compare(weather.patience, serving: { [strays] in !strays.contains($0) })
        for (node, place) in plan.places.enumerated() { add(node, at: place, run.mesh) }
        edges = plan.edges
        for (a, b) in edges { run.mesh.connect(a, b, weather.conditions) }
        addHostilePhones(run.mesh)
        if let clearing = weather.clearing {
            run.mesh.schedule(after: max(.zero, setting.span - clearing)) { $0.clearWeather() }
        }
        if weather.churns { scheduleLeaving(run.mesh) }
        if weather.tears { scheduleTear(run.mesh) }
        if weather.restarts { scheduleRestart(run.mesh) }
    }

    private func add(_ expected: Int, at place: Place, _ mesh: SimulatedMesh) {
        // Two right clocks differ by less than the two minutes that are tolerated.
        var skew = Int64.random(in: -50_000...50_000, using: &random)
        if strays.contains(expected) {
            // So that no two strays have the same wrong time.
            skew = (400_000 + 500_000 * Int64(expected)) * (Bool.random(using: &random) ? 1 : -1)
        }
        let node = mesh.addNode(clockSkew: skew)
        places[node] = place
        Chatter.schedule(
            ParkScenario.messagesEach, by: node, after: .seconds(5), within: setting.span, in: mesh, using: &random)
    }

    private func addHostilePhones(_ mesh: SimulatedMesh) {
        for number in 0..<weather.hostilePhones {
            let phone = HostilePhone(seed: setting.seed ^ UInt64(0xbad + number))
            phone.begin(in: mesh)
            for node in Set((0..<3).map { _ in Int.random(in: 0..<setting.nodes, using: &random) }).sorted() {
                mesh.connect(phone, to: node, weather.conditions)
            }
        }
    }

    // MARK: Churn

    private func scheduleLeaving(_ mesh: SimulatedMesh) {
        mesh.schedule(after: random.interval(.seconds(20), .seconds(90))) { [self] mesh in
            let present = mesh.nodes.filter { !$0.isRetired }.map(\.index)
            if present.count > 2, let leaver = present.randomElement(using: &random) {
                if Bool.random(using: &random) {
                    let links = mesh.links(of: leaver)
                    mesh.call(leaver) { $0.stop(at: $1) }
                    for link in links { mesh.disconnect(link) }
                }
                mesh.retire(leaver)
                places[leaver] = nil
            }
            if present.count < 2 * setting.nodes { arrive(mesh) }
            scheduleLeaving(mesh)
        }
    }

    private func arrive(_ mesh: SimulatedMesh) {
        let place = Place(
            x: Double.random(in: 0...ParkScenario.width, using: &random),
            y: Double.random(in: 0...ParkScenario.depth, using: &random))
        let near = places.sorted { ($0.value.distance(to: place), $0.key) < ($1.value.distance(to: place), $1.key) }
        let node = mesh.nodes.count
        add(node, at: place, mesh)
        for (other, _) in near.prefix(2) { mesh.connect(node, other, weather.conditions) }
    }

    // MARK: Partition

    private func scheduleTear(_ mesh: SimulatedMesh) {
        mesh.schedule(after: random.interval(.minutes(1), .minutes(4))) { [self] mesh in
            let middle = ParkScenario.width * Double.random(in: 0.3...0.7, using: &random)
            let isLeft = { [places] (node: Int) in (places[node]?.x ?? 0) < middle }
            for (link, a, b) in mesh.openLinks where isLeft(a) != isLeft(b) { mesh.disconnect(link) }
            mesh.schedule(after: random.interval(.minutes(1), .minutes(4))) { [self] in
                mend($0)
                scheduleTear($0)
            }
        }
    }

    private func mend(_ mesh: SimulatedMesh) {
        let open = mesh.openLinks
        for (a, b) in edges where !mesh.nodes[a].isRetired && !mesh.nodes[b].isRetired {
            if !open.contains(where: { $0.a == a && $0.b == b }) { mesh.connect(a, b, weather.conditions) }
        }
    }

    // MARK: Restarts

    private func scheduleRestart(_ mesh: SimulatedMesh) {
        mesh.schedule(after: random.interval(.seconds(40), .minutes(3))) { [self] mesh in
            let node = Int.random(in: 0..<setting.nodes, using: &random)
            mesh.retire(node)
            mesh.schedule(after: random.interval(.seconds(2), .minutes(1))) { [self] in
                $0.restart(node, MeshConfiguration(nickname: "node-\(node)"))
                mend($0)
                scheduleRestart($0)
            }
        }
    }

    // MARK: What came of it

    public func conclude(_ run: SimulationRun) {
        for delivery in run.log.deliveries {
            let author = run.log.said[delivery.message].author
            if strays.contains(author) || strays.contains(delivery.node) {
                run.mesh.report("clock", node: delivery.node, "heard message \(delivery.message) of node \(author)")
            }
        }
        guard let clearing = weather.clearing else { return }
        let end = SimulatedMesh.start.monotonic + setting.span
        for (number, message) in run.log.said.enumerated() where end - message.at >= clearing {
            for node in run.mesh.nodes.indices where !run.log.known(to: node).contains(number) {
                run.mesh.report("catching up", node: node, "never heard message \(number) of node \(message.author)")
            }
        }
    }

    public func place(of node: Int) -> Place? { places[node] }
}
