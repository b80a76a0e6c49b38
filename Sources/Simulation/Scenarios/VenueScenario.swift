import Basics
import Mesh
import Wire

/// A fair: a box in the middle of the hall, stewards who stay, visitors who come, walk about, chat and leave.
public final class VenueScenario: Scenario {
    public static let name = "venue"
    public static let summary = "a hall with a gateway, stewards who stay and visitors who walk in and out"
    public static let usual = Setting(nodes: 1_000, span: .hours(6), seed: 1)
    public static let fewestNodes = 20

    /// How long visitors stay.
    private static let stay = (least: Interval.minutes(6), most: Interval.minutes(38))
    private static let stewards = 8
    /// Messages of all visitors and of all stewards: what a phone's store holds (chapter 04 §2).
    private static let visitorMessages = 500
    private static let stewardMessages = 400

    private let setting: Setting
    private let hall: Hall
    private var random: SeededRandom

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
        hall.enter(box, at: Place(x: 40, y: 25), walks: false, in: mesh)
        for _ in 0..<VenueScenario.stewards {
            let steward = mesh.addNode()
            hall.enter(steward, in: mesh)
            Chatter.schedule(
                VenueScenario.stewardMessages / VenueScenario.stewards, by: steward, after: .seconds(30),
                within: setting.span, in: mesh, using: &random)
        }
        let visitors = setting.nodes - 1 - VenueScenario.stewards
        for visitor in 0..<visitors {
            let messages =
                (visitor + 1) * VenueScenario.visitorMessages / visitors
                - visitor * VenueScenario.visitorMessages / visitors
            schedule(visitorWith: messages, in: mesh)
        }
    }

    private func schedule(visitorWith messages: Int, in mesh: SimulatedMesh) {
        let least = VenueScenario.stay.least
        let share = Double.random(in: 0...1, using: &random)
        let stay = least + Interval.seconds((VenueScenario.stay.most - least).seconds * share * share)
        let arrival = random.interval(.zero, max(.zero, setting.span - least))
        mesh.schedule(after: arrival) { [self] mesh in
            let node = mesh.addNode()
            hall.enter(node, in: mesh)
            Chatter.schedule(messages, by: node, after: .seconds(20), within: stay, in: mesh, using: &random)
            mesh.schedule(after: stay) { [hall] in
                hall.leave(node)
                $0.retire(node)
            }
        }
    }

    public func place(of node: Int) -> Place? { hall.place(of: node) }
}
