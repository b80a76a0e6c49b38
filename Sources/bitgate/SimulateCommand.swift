import Basics
import Glibc
import Simulation
import Station

/// `bitgate simulate`: plays scenarios in virtual time and says what came of them.
enum SimulateCommand {
    static func run(_ arguments: [String]) throws -> Int32 {
        let arguments = try Arguments(
            arguments, flags: ["--list", "--keep-going", "--small"],
            options: [
                "--scenario", "--nodes", "--venues", "--hours", "--seed", "--seeds", "--svg", "--steps", "--sabotage",
            ])
        try arguments.expectWords(atMost: 0)
        if arguments.has("--list") {
            for kind in Scenarios.all { Output.write(line(about: kind)) }
            Output.write(CityCommand.line)
            return ExitStatus.ok
        }
        if arguments.value("--scenario") == CityCommand.name { return try CityCommand.run(arguments) }
        if arguments.value("--venues") != nil { throw StationFault.usage("--venues is for --scenario city") }
        let plan = try SimulationPlan(arguments)
        return plan.seeds == nil ? try playOne(plan) : playMany(plan)
    }

    private static func line(about kind: any Scenario.Type) -> String {
        let name = kind.name + String(repeating: " ", count: max(1, 12 - kind.name.count))
        return "\(name)\(kind.summary) (usually \(kind.usual.nodes) nodes, \(ClockText.text(kind.usual.span)))\n"
    }

    // MARK: One run

    private static func playOne(_ plan: SimulationPlan) throws -> Int32 {
        let (kind, setting) = plan.play(seed: plan.seed)
        let run = SimulationRun(kind, setting, takesPictures: plan.picture != nil)
        plan.apply(to: run)
        var meter = ProgressMeter()
        run.play { meter.show($0) }
        meter.finish()
        Output.write(Summary(run).text)
        Output.write("real time                  \(meter.seconds) s\n")
        if let path = plan.picture, let picture = run.album?.picture {
            try write(picture, to: path)
            Output.write("picture                    \(TerminalText.escape(path))\n")
        }
        guard let violation = run.violation else { return ExitStatus.ok }
        Output.error("BROKEN  \(violation)\nreplay  \(plan.replay(run))\n")
        return brokenPromise
    }

    // MARK: Many runs

    /// Seed after seed, until one breaks a promise or all are done.
    private static func playMany(_ plan: SimulationPlan) -> Int32 {
        var meter = ProgressMeter()
        let count = plan.seeds ?? 1
        var steps: UInt64 = 0
        var broken: UInt64 = 0
        var played: UInt64 = 0
        while played < count, broken == 0 || plan.keepsGoing {
            let (kind, setting) = plan.play(seed: plan.seed &+ played)
            let run = SimulationRun(kind, setting)
            plan.apply(to: run)
            run.play()
            played += 1
            steps += run.mesh.steps
            if let violation = run.violation {
                broken += 1
                meter.finish()
                Output.error("BROKEN  \(violation)\nreplay  \(plan.replay(run))\n")
            }
            meter.show(
                "seed \(played) of \(count), \(kind.name), \(steps) steps, "
                    + (broken == 0 ? "nothing broken" : "\(broken) broken"))
        }
        meter.finish()
        Output.write(
            "\(played) seeds from \(plan.seed), \(steps) steps, \(meter.seconds) s: "
                + (broken == 0 ? "nothing broken\n" : "\(broken) broken\n"))
        return broken == 0 ? ExitStatus.ok : brokenPromise
    }

    private static func write(_ text: String, to path: String) throws(StationFault) {
        guard let file = fopen(path, "w") else {
            throw .system("cannot write \(TerminalText.escape(path)): \(String(cString: strerror(errno)))")
        }
        let isWritten = fputs(text, file) >= 0
        guard fclose(file) == 0, isWritten else { throw .system("cannot write \(TerminalText.escape(path))") }
    }

    /// A promise was broken.
    static let brokenPromise: Int32 = 1
}
