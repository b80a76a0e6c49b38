import Basics

/// How a scenario is to be played. The same setting gives the same run.
public struct Setting: Sendable {
    public var nodes: Int
    public var span: Interval
    public var seed: UInt64

    public init(nodes: Int, span: Interval, seed: UInt64) {
        self.nodes = nodes
        self.span = span
        self.seed = seed
    }
}

/// A story to play on a simulated mesh: who is there, what they do, and what must come of it.
public protocol Scenario: AnyObject {
    static var name: String { get }
    /// One line for the list of scenarios.
    static var summary: String { get }
    /// What is played when nothing else is asked for.
    static var usual: Setting { get }
    /// Fewest nodes it makes sense with.
    static var fewestNodes: Int { get }
    /// Shortest run in which all that can happen does.
    static var shortest: Interval { get }

    init(_ setting: Setting)

    /// Adds the nodes and schedules the story. Runs before the first moment.
    func prepare(_ run: SimulationRun)
    /// Looks at the outcome and reports broken promises of its own to the mesh.
    func conclude(_ run: SimulationRun)
    /// What it has to say for the summary.
    var findings: [(name: String, value: String)] { get }
    /// Where a node stands, for the picture.
    func place(of node: Int) -> Place?
    /// What else the picture shows.
    var decor: Decor { get }
}

extension Scenario {
    public static var shortest: Interval { .minutes(8) }
    public func conclude(_ run: SimulationRun) {}
    public var findings: [(name: String, value: String)] { [] }
    public var decor: Decor { Decor() }
}

/// A spot on the floor, in metres.
public struct Place: Hashable, Sendable {
    public var x: Double
    public var y: Double

    public init(x: Double, y: Double) {
        self.x = x
        self.y = y
    }

    func distance(to other: Place) -> Double {
        ((x - other.x) * (x - other.x) + (y - other.y) * (y - other.y)).squareRoot()
    }
}

public enum Scenarios {
    public static var all: [any Scenario.Type] {
        [
            LineScenario.self, GridScenario.self, VenueScenario.self, TwoHallsScenario.self, FloodScenario.self,
            LossScenario.self, ChurnScenario.self, PartitionScenario.self, SkewScenario.self, HostileScenario.self,
            RestartScenario.self,
        ]
    }

    /// The name under which `small(seed:)` is asked for.
    public static let any = "any"

    public static func named(_ name: String) -> (any Scenario.Type)? { all.first { $0.name == name } }

    /// A run of a few minutes and a few nodes, whichever the seed chooses.
    public static func small(seed: UInt64) -> (any Scenario.Type, Setting) {
        var random = SeededRandom(seed: seed &* 0x2545_f491_4f6c_dd1d)
        let kind: any Scenario.Type = all.randomElement(using: &random) ?? LineScenario.self
        return (kind, small(kind, seed: seed))
    }

    /// A run of a few minutes and a few nodes.
    public static func small(_ kind: any Scenario.Type, seed: UInt64) -> Setting {
        var random = SeededRandom(seed: seed &* 0x9e37_79b9_7f4a_7c15)
        let nodes = kind.fewestNodes + Int.random(in: 0...6, using: &random)
        return Setting(
            nodes: nodes, span: kind.shortest + .seconds(Int.random(in: 0...240, using: &random)), seed: seed)
    }
}
