import Basics
import Simulation
import Station

/// What the command line asks for.
struct SimulationPlan {
    /// Nil: a small one that the seed chooses.
    let kind: (any Scenario.Type)?
    let nodes: Int?
    let span: Interval?
    let seed: UInt64
    let seeds: UInt64?
    let keepsGoing: Bool
    /// Sizes are chosen by the seed.
    let isSmall: Bool
    let picture: String?
    let steps: UInt64?
    let sabotage: Sabotage?

    /// Accepted sizes: enough for any mesh, small enough to fit in memory and in a 64-bit clock.
    private static let mostNodes = 100_000
    private static let mostHours = 1_000.0

    init(_ arguments: Arguments) throws(StationFault) {
        let name = arguments.value("--scenario") ?? VenueScenario.name
        kind = Scenarios.named(name)
        guard kind != nil || name == Scenarios.any else {
            throw .usage("unknown scenario \(TerminalText.escape(name)); see bitgate simulate --list")
        }
        nodes = try SimulationPlan.number(arguments, "--nodes").map { Int(min($0, UInt64(Int.max))) }
        let fewest = kind?.fewestNodes ?? 1
        if let nodes, !(fewest...SimulationPlan.mostNodes).contains(nodes) {
            throw .usage("--nodes must be \(fewest) to \(SimulationPlan.mostNodes) here")
        }
        if let text = arguments.value("--hours") {
            guard let hours = Double(text), hours > 0, hours <= SimulationPlan.mostHours else {
                throw .usage("--hours must be a number above 0 and up to \(Int(SimulationPlan.mostHours))")
            }
            // Whole seconds, so that a printed number of hours gives the same run again.
            span = .seconds(max(1, Int((hours * 3_600).rounded())))
        } else {
            span = nil
        }
        seed = try SimulationPlan.number(arguments, "--seed") ?? 1
        seeds = try SimulationPlan.number(arguments, "--seeds")
        keepsGoing = arguments.has("--keep-going")
        isSmall = arguments.has("--small")
        if isSmall, nodes != nil || span != nil { throw .usage("--small chooses the size") }
        steps = try SimulationPlan.number(arguments, "--steps")
        picture = arguments.value("--svg")
        if seeds != nil, picture != nil { throw .usage("--svg takes one seed") }
        if kind == nil, nodes != nil || span != nil { throw .usage("--scenario any chooses its own size") }
        if let name = arguments.value("--sabotage") {
            guard let known = Sabotage(rawValue: name) else {
                let names = Sabotage.allCases.map(\.rawValue).joined(separator: ", ")
                throw .usage("--sabotage is one of: \(names)")
            }
            sabotage = known
        } else {
            sabotage = nil
        }
    }

    private static func number(_ arguments: Arguments, _ option: String) throws(StationFault) -> UInt64? {
        guard let text = arguments.value(option) else { return nil }
        guard let number = UInt64(text) else { throw .usage("\(option) needs a whole number") }
        return number
    }

    func play(seed: UInt64) -> (any Scenario.Type, Setting) {
        guard let kind else { return Scenarios.small(seed: seed) }
        if isSmall { return (kind, Scenarios.small(kind, seed: seed)) }
        return (kind, Setting(nodes: nodes ?? kind.usual.nodes, span: span ?? kind.usual.span, seed: seed))
    }

    func apply(to run: SimulationRun) {
        if let steps { run.mesh.stepLimit = steps }
        if let sabotage { run.sabotage(sabotage) }
    }

    /// The command that plays one run again.
    func replay(_ run: SimulationRun) -> String {
        run.command + (sabotage.map { " --sabotage \($0.rawValue)" } ?? "")
    }
}
