import Basics
import Crypto
import Gateway
import Mesh
import Nostr
import Wire

/// Two halls out of reach of one another, joined by their gateways through relays that fail now and then. Somebody
/// walks over, and carries what was said along.
public final class TwoHallsScenario: Scenario {
    public static let name = "two-halls"
    public static let summary = "two halls joined through relays that fail; people walk over and carry history along"
    public static let usual = Setting(nodes: 24, span: .minutes(30), seed: 1)
    public static let fewestNodes = 6
    public static let shortest = Interval.minutes(10)

    private static let width = 36.0
    private static let depth = 40.0
    private static let gap = 34.0
    /// Nothing is lost on the air: carriers are told once, and nobody asks for them again.
    private static let conditions = SimulatedMesh.Conditions(delay: 5...60)
    private static let messagesPerMinute = 6.0
    private static let burst = 24
    /// From this many nodes on the second hall may have a second gateway.
    private static let roomForThird = 12

    private let setting: Setting
    private var random: SeededRandom
    private var check: BridgeCheck?
    private var relays: [SimulatedRelay] = []
    private var gateways: [Int] = []
    /// Phones that listen to the bridge and give it nothing.
    private var shy: Set<Int> = []
    private var places: [Int: Place] = [:]
    private var members: [[Int]] = [[], []]
    private let cells: [RendezvousCell?]

    public init(_ setting: Setting) {
        self.setting = setting
        random = SeededRandom(seed: setting.seed ^ 0x2a11)
        // Neighbours: each gateway listens to both.
        cells = [RendezvousCell("u4pruy"), RendezvousCell(Geohash.neighbours(of: "u4pruy").first ?? "")]
    }

    public func prepare(_ run: SimulationRun) {
        run.compare()
        let check = BridgeCheck(log: run.log)
        self.check = check
        run.mesh.observers.append(check)
        run.bridge = check
        addRelays(run.mesh)
        for hall in 0..<2 { furnish(hall, run.mesh) }
        for hall in 0..<2 { scheduleTalk(hall, run.mesh) }
        scheduleOutages(run.mesh)
        for hall in 0..<2 { scheduleWalk(from: hall, run.mesh) }
    }

    private func addRelays(_ mesh: SimulatedMesh) {
        for number in 0..<2 {
            guard let url = NostrRelayURL("wss://relay-\(number).example") else { continue }
            var habits = SimulatedRelay.Habits()
            if Bool.random(using: &random) { habits.memory = .seconds(300) }
            let relay = SimulatedRelay(url, habits, seed: random.next())
            relays.append(relay)
            check?.add(relay)
        }
    }

    // MARK: Who is there

    private func furnish(_ hall: Int, _ mesh: SimulatedMesh) {
        let count = hall == 0 ? setting.nodes / 2 : setting.nodes - setting.nodes / 2
        let boxes = hall == 1 && setting.nodes >= TwoHallsScenario.roomForThird && setting.seed % 2 == 0 ? 2 : 1
        let corner = Place(x: Double(hall) * (TwoHallsScenario.width + TwoHallsScenario.gap), y: 0)
        let plan = HallPlan(
            count: count, corner: corner, width: TwoHallsScenario.width, depth: TwoHallsScenario.depth, using: &random)
        for (number, place) in plan.places.enumerated() {
            let isGateway = number < boxes
            let node = mesh.addNode(
                isGateway ? "gate-\(hall)" : nil, clockSkew: Int64.random(in: -4_000...4_000, using: &random))
            members[hall].append(node)
            places[node] = place
            check?.enter(node, hall: hall, in: mesh)
            // One phone in five keeps what it says to the room.
            if number > boxes, Int.random(in: 0..<5, using: &random) == 0 { shy.insert(node) }
            addStation(node, hall, isGateway: isGateway, mesh)
        }
        for (a, b) in plan.edges { mesh.connect(members[hall][a], members[hall][b], TwoHallsScenario.conditions) }
    }

    private func addStation(_ node: Int, _ hall: Int, isGateway: Bool, _ mesh: SimulatedMesh) {
        guard let check else { return }
        let seed = DeviceSeed.generate(using: &random)
        let uplink =
            isGateway
            ? SimulatedUplink(node: node, relays: relays, random: SeededRandom(seed: random.next())) : nil
        let gateway = Gateway(
            configuration: isGateway ? GatewayConfiguration(cell: cells[hall]) : .console(cell: cells[hall]),
            seed: seed, random: SeededRandom(seed: random.next()))
        let station = SimulatedStation(node: node, gateway: gateway, uplink: uplink, observer: check)
        check.add(station, at: node, in: mesh)
        mesh.attach(station, to: node)
        station.start(in: mesh)
        if isGateway { gateways.append(node) }
    }

    // MARK: What happens

    private func scheduleTalk(_ hall: Int, _ mesh: SimulatedMesh) {
        let phones = members[hall].filter { !gateways.contains($0) }
        let count = Int(setting.span.seconds / 60 * TwoHallsScenario.messagesPerMinute)
        for number in 0..<count {
            guard let phone = phones.randomElement(using: &random) else { return }
            scheduleLine(
                "hall \(hall), line \(number)", by: phone, after: .seconds(20) + random.interval(.zero, setting.span),
                mesh)
        }
        // All at once: more than a minute's budget.
        let moment = Interval.seconds(setting.span.seconds * (hall == 0 ? 0.2 : 0.7))
        for number in 0..<min(TwoHallsScenario.burst, 3 * phones.count) {
            scheduleLine(
                "hall \(hall), at once \(number)", by: phones[number % phones.count],
                after: moment + random.interval(.zero, .seconds(8)), mesh)
        }
    }

    private func scheduleLine(_ text: String, by phone: Int, after delay: Interval, _ mesh: SimulatedMesh) {
        mesh.schedule(after: delay) { [self] mesh in
            if shy.contains(phone) {
                mesh.say(text, from: phone)
            } else {
                check?.say(text, by: phone, in: mesh)
            }
        }
    }

    /// One relay fails, then all of them, then the other one.
    private func scheduleOutages(_ mesh: SimulatedMesh) {
        func fail(_ relays: [SimulatedRelay], at share: Double, for span: Interval) {
            let begin = Interval.seconds(setting.span.seconds * share)
            mesh.schedule(after: begin) { mesh in for relay in relays { relay.goDown(mesh) } }
            mesh.schedule(after: begin + span) { _ in for relay in relays { relay.comeUp() } }
        }
        fail(Array(relays.prefix(1)), at: 0.3, for: random.interval(.seconds(40), .seconds(90)))
        fail(relays, at: 0.5, for: random.interval(.seconds(20), .seconds(45)))
        fail(Array(relays.dropFirst()), at: 0.8, for: .seconds(1))
    }

    /// Somebody goes over to the other hall.
    private func scheduleWalk(from hall: Int, _ mesh: SimulatedMesh) {
        let walker = members[hall][members[hall].count - 1]
        let begin = Interval.seconds(setting.span.seconds * (hall == 0 ? 0.25 : 0.45))
        mesh.schedule(after: begin) { [self] mesh in
            for link in mesh.links(of: walker) { mesh.disconnect(link) }
            members[hall].removeAll { $0 == walker }
            check?.leave(walker)
            places[walker] = Place(
                x: TwoHallsScenario.width + TwoHallsScenario.gap / 2, y: TwoHallsScenario.depth * 0.8)
            mesh.schedule(after: .minutes(1)) { [self] in arrive(walker, at: 1 - hall, $0) }
        }
    }

    private func arrive(_ walker: Int, at hall: Int, _ mesh: SimulatedMesh) {
        let side = hall == 0 ? 1.0 : 0.0
        let place = Place(
            x: Double(hall) * (TwoHallsScenario.width + TwoHallsScenario.gap) + side * TwoHallsScenario.width,
            y: TwoHallsScenario.depth / 2)
        places[walker] = place
        check?.enter(walker, hall: hall, in: mesh)
        // Not to whoever is about to go: the last one.
        let near = members[hall].dropLast().filter { mesh.links(of: $0).count < HallPlan.mostLinks }
            .sorted { distance($0, place) < distance($1, place) }
        for other in near.prefix(2) { mesh.connect(walker, other, TwoHallsScenario.conditions) }
        members[hall].append(walker)
    }

    private func distance(_ node: Int, _ place: Place) -> Double { places[node]?.distance(to: place) ?? .infinity }

    public func place(of node: Int) -> Place? { places[node] }

    public var decor: Decor {
        var decor = Decor()
        for hall in 0..<2 {
            decor.rooms.append(
                Decor.Room(
                    name: "hall \(hall)",
                    corner: Place(x: Double(hall) * (TwoHallsScenario.width + TwoHallsScenario.gap), y: 0),
                    width: TwoHallsScenario.width, depth: TwoHallsScenario.depth))
        }
        for (number, _) in relays.enumerated() {
            decor.landmarks.append(
                Decor.Landmark(
                    name: "relay \(number)",
                    place: Place(
                        x: TwoHallsScenario.width + TwoHallsScenario.gap / 2,
                        y: TwoHallsScenario.depth * (0.3 + 0.25 * Double(number))),
                    nodes: gateways))
        }
        for node in gateways { decor.boxes[node] = "gate" }
        return decor
    }

    // MARK: What came of it

    public var findings: [(name: String, value: String)] {
        guard let check else { return [] }
        let messages = Array(check.bridged.values)
        let delays = check.copies.compactMap { copy -> Int64? in
            messages.first { $0.message == copy.message }.map { (copy.at - $0.at).milliseconds }
        }.sorted()
        let half = delays.isEmpty ? 0 : delays[delays.count / 2]
        return [
            (
                "over the bridge",
                "\(messages.count) messages, \(messages.count { $0.accepted != nil }) taken by relays, "
                    + "\(check.copies.count) copies heard of \(check.due) due; \(check.noWayOut) found no gateway, "
                    + "\(check.misled) one that was left behind"
            ),
            ("bridge delay", "half \(half) ms, longest \(delays.last ?? 0) ms"),
            ("radio copies that won", String(check.retractions)),
            (
                "relays",
                relays.map { "\($0.accepted) taken, \($0.refused) refused, down \($0.outages) times" }
                    .joined(separator: "; ")
            ),
        ]
    }
}
