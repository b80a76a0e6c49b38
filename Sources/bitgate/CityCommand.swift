import Basics
import Simulation
import Station

/// `bitgate simulate --scenario city`: the same day in a city with and without what carries letters, side by side.
enum CityCommand {
    static let name = "city"
    static let line = """
        city        letters in a city: what phones, the apps and gateways add (usually 20 venues, 2000 phones, 24 h)

        """
    private static let mostVenues = 200
    private static let mostPhones: UInt64 = 20_000

    static func run(_ arguments: Arguments) throws -> Int32 {
        for option in ["--seeds", "--svg", "--steps", "--sabotage", "--small", "--keep-going"]
        where arguments.has(option) || arguments.value(option) != nil {
            throw StationFault.usage("\(option) is not for --scenario city")
        }
        var setting = CitySetting.usual
        setting.phones = Int(try number(arguments, "--nodes", 2...mostPhones) ?? UInt64(setting.phones))
        setting.venues = Int(try number(arguments, "--venues", 1...UInt64(mostVenues)) ?? UInt64(setting.venues))
        setting.seed = try number(arguments, "--seed", 0...UInt64.max) ?? setting.seed
        if let text = arguments.value("--hours") {
            guard let hours = Double(text), hours >= 1, hours <= 72 else {
                throw StationFault.usage("--hours must be 1 to 72 here")
            }
            setting.span = .seconds(Int((hours * 3_600).rounded()))
        }
        var meter = ProgressMeter()
        var outcomes: [CityOutcome] = []
        for means in CityMeans.allCases {
            outcomes.append(
                City.play(setting, means) { elapsed in
                    meter.show("\(means.rawValue): \(Int(elapsed.seconds / 3_600)) h")
                })
        }
        meter.finish()
        Output.write(CityTable(setting, outcomes).text)
        Output.write("\nreal time \(meter.seconds) s\n")
        let violations = outcomes.flatMap { outcome in outcome.violations.map { "\(outcome.means.rawValue): \($0)" } }
        for violation in violations { Output.error("BROKEN  \(violation)\n") }
        return violations.isEmpty ? ExitStatus.ok : SimulateCommand.brokenPromise
    }

    private static func number(
        _ arguments: Arguments, _ option: String, _ range: ClosedRange<UInt64>
    ) throws -> UInt64? {
        guard let text = arguments.value(option) else { return nil }
        guard let number = UInt64(text), range.contains(number) else {
            throw StationFault.usage("\(option) must be \(range.lowerBound) to \(range.upperBound) here")
        }
        return number
    }
}
