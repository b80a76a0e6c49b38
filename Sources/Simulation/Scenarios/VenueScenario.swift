import Basics
import Mesh
import Wire

/// A fair: a box in the middle of the hall, stewards who stay, visitors who come, walk about, chat and leave, some of
/// whom come back, and a phone that means no good.
public final class VenueScenario: Scenario {
    public static let name = "venue"
    public static let summary =
        "a hall with a gateway, stewards who stay, a hostile phone, and visitors in and out, some 35 at a time"
    public static let usual = Setting(nodes: 1_000, span: .hours(6), seed: 1)
    public static let fewestNodes = 20
    public static let shortest = Interval.minutes(11)

    /// How long visitors stay: nine minutes on average, so that a thousand in six hours are about 35 phones at a time.
    private static let stay = (least: Interval.minutes(5), most: Interval.minutes(17))
    /// One visitor in so many comes back, with the phone and what it has stored, after so long.
    private static let returning = 12
    private static let away = (least: Interval.minutes(3), most: Interval.minutes(40))
    private static let stewards = 8
    /// Links of the box (chapter 03 A7, C1).
    private static let boxLinks = 8
    /// Messages of all visitors and of all stewards in six hours: more than a filter of the usual size names (chapter
    /// 04 §6.2).
    private static let visitorMessages = 100
    private static let stewardMessages = 300
    /// The hostile phone forges one in so many frames that it hears; each costs every phone near it a signature check.
    private static let forging = 150
    /// Whoever comes so long after the beginning is late.
    private static let late = 0.75

    private let setting: Setting
    private let hall: Hall
    private var random: SeededRandom
    private var returns = 0
    private var lateArrivals: Set<Int> = []
    private var presence = (sum: 0, samples: 0, most: 0)
    public private(set) var findings: [(name: String, value: String)] = []

    public init(_ setting: Setting) {
        self.setting = setting
        hall = Hall(width: 80, depth: 50, seed: setting.seed ^ 0x4a11)
        random = SeededRandom(seed: setting.seed ^ 0x7e40e)
    }

    public func prepare(_ run: SimulationRun) {
        run.compare()
        let mesh = run.mesh
        hall.open(mesh)
        let box = mesh.addNode("gate", capabilities: [.gateway])
        hall.enter(box, at: Place(x: 40, y: 25), walks: false, total: VenueScenario.boxLinks, in: mesh)
        let hostile = HostilePhone(seed: setting.seed ^ 0xbad, forging: VenueScenario.forging)
        hostile.begin(in: mesh)
        hall.admit(hostile, at: Place(x: 55, y: 30))
        for _ in 0..<VenueScenario.stewards {
            let steward = mesh.addNode()
            hall.enter(steward, in: mesh)
            Chatter.schedule(
                messages(VenueScenario.stewardMessages) / VenueScenario.stewards, by: steward, after: .seconds(30),
                within: setting.span, in: mesh, using: &random)
        }
        let visitors = setting.nodes - 1 - VenueScenario.stewards
        let all = messages(VenueScenario.visitorMessages)
        for visitor in 0..<visitors {
            let messages = (visitor + 1) * all / visitors - visitor * all / visitors
            schedule(visitorWith: messages, returns: visitor % VenueScenario.returning == 0, in: mesh)
        }
        count(mesh)
    }

    /// As many messages as that makes in the time there is, but some in any case.
    private func messages(_ inSixHours: Int) -> Int {
        max(24, Int(Double(inSixHours) * setting.span.seconds / VenueScenario.usual.span.seconds))
    }

    /// In a short run everybody is in a hurry.
    private func hurried(_ range: (least: Interval, most: Interval)) -> (least: Interval, most: Interval) {
        let quarter = Interval(nanoseconds: setting.span.nanoseconds / 4)
        return (min(range.least, quarter), min(range.most, quarter + quarter))
    }

    private func stay() -> Interval {
        let share = Double.random(in: 0...1, using: &random)
        let (least, most) = hurried(VenueScenario.stay)
        return least + Interval.seconds((most - least).seconds * share * share)
    }

    private func schedule(visitorWith messages: Int, returns: Bool, in mesh: SimulatedMesh) {
        let stay = stay()
        let arrival = random.interval(.zero, max(.zero, setting.span - hurried(VenueScenario.stay).least))
        mesh.schedule(after: arrival) { [self] mesh in
            let node = mesh.addNode()
            if mesh.elapsed.seconds > setting.span.seconds * VenueScenario.late { lateArrivals.insert(node) }
            hall.enter(node, in: mesh)
            Chatter.schedule(messages, by: node, after: .seconds(20), within: stay, in: mesh, using: &random)
            mesh.schedule(after: stay) { [self] in
                leave(node, $0)
                if returns { scheduleReturn(of: node, in: $0) }
            }
        }
    }

    private func scheduleReturn(of node: Int, in mesh: SimulatedMesh) {
        let (least, most) = hurried(VenueScenario.away)
        mesh.schedule(after: random.interval(least, most)) { [self] mesh in
            returns += 1
            mesh.restart(node, MeshConfiguration(nickname: "node-\(node)"))
            hall.enter(node, in: mesh)
            let stay = stay()
            Chatter.schedule(1, by: node, after: .seconds(20), within: stay, in: mesh, using: &random)
            mesh.schedule(after: stay) { [self] in leave(node, $0) }
        }
    }

    private func leave(_ node: Int, _ mesh: SimulatedMesh) {
        hall.leave(node)
        mesh.retire(node)
    }

    /// Once a minute.
    private func count(_ mesh: SimulatedMesh) {
        presence = (presence.sum + hall.count, presence.samples + 1, max(presence.most, hall.count))
        mesh.schedule(after: .minutes(1)) { [self] in count($0) }
    }

    public func conclude(_ run: SimulationRun) {
        let log = run.log
        let replays = log.deliveries.filter { $0.isReplay && lateArrivals.contains($0.node) }
        let age = replays.map { $0.at - log.said[$0.message].at }.max() ?? .zero
        findings = [
            ("in the hall", "\(presence.sum / max(1, presence.samples)) on average, \(presence.most) at most"),
            ("came back", "\(returns), with what they had stored"),
            (
                "late arrivals",
                "\(lateArrivals.count), who heard \(Summary.grouped(UInt64(replays.count))) messages from history, "
                    + "up to \(ClockText.text(age)) old"
            ),
        ]
    }

    public func place(of node: Int) -> Place? { hall.place(of: node) }

    public var decor: Decor {
        var decor = Decor()
        decor.rooms = [Decor.Room(name: "the hall", corner: Place(x: 0, y: 0), width: hall.width, depth: hall.depth)]
        decor.boxes = [0: "gate"]
        return decor
    }
}
