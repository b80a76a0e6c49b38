import Basics

/// What a city counts while it goes.
struct CityTally {
    var deposits = 0
    var handed = 0
    var floods = 0
    var drops = 0
    var unwritten = 0
}

/// What came of a day in the city.
public struct CityOutcome: Sendable {
    public let means: CityMeans
    public let letters: Int
    /// Letters shown, by number, with how long each took.
    public let delays: [Int: Interval]
    /// Copies handed over links, flooded, and left at relays.
    public let handed: Int
    public let floods: Int
    public let drops: Int
    /// Copies of letters that were shown before, which nobody saw.
    public let absorbed: UInt64
    /// Bytes of speculative copies in the busiest hour of any node, and what it may take.
    public let busiestHour: Int
    public let mostCarried: Int
    public let violations: [String]

    public static let floodBudget = CityCheck.floodBytesAnHour

    public var delivered: Int { delays.count }
    public var share: Double { letters == 0 ? 0 : Double(delivered) / Double(letters) }

    /// The delay that so large a share of the delivered letters did not exceed.
    public func delay(of share: Double) -> Interval? {
        let sorted = delays.values.sorted()
        guard !sorted.isEmpty else { return nil }
        return sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
    }
}

extension City {
    /// Plays a whole day.
    public static func play(
        _ setting: CitySetting, _ means: CityMeans, progress: (Interval) -> Void = { _ in }
    ) -> CityOutcome {
        let city = City(CityPlan(setting), means: means, seed: setting.seed)
        while city.elapsed < setting.span {
            city.run(until: min(setting.span, city.elapsed + .minutes(10)))
            progress(city.elapsed)
        }
        return city.outcome
    }

    public var outcome: CityOutcome {
        var delays: [Int: Interval] = [:]
        for (letter, at) in check.deliveries { delays[letter] = at - plan.letters[letter].at }
        return CityOutcome(
            means: means, letters: plan.letters.count, delays: delays, handed: tally.handed, floods: tally.floods,
            drops: tally.drops,
            absorbed: nodes.reduce(0) {
                $0 + ($1.messenger.map { $0.drops[.repeated] + $0.mailDrops[.repeated] } ?? 0)
            },
            busiestHour: check.busiestHour, mostCarried: check.mostCarried, violations: check.violations)
    }
}

/// The outcomes of one city under several means, side by side.
public struct CityTable {
    public let setting: CitySetting
    public let outcomes: [CityOutcome]

    public init(_ setting: CitySetting, _ outcomes: [CityOutcome]) {
        self.setting = setting
        self.outcomes = outcomes
    }

    public var text: String {
        let header = [
            "", "letters", "delivered", "median", "90 %", "handed on", "flooded", "at relays", "shown twice",
        ]
        let rows = outcomes.map { outcome in
            [
                outcome.means.summary, Summary.grouped(UInt64(outcome.letters)),
                CityTable.percent(outcome.share), CityTable.text(outcome.delay(of: 0.5)),
                CityTable.text(outcome.delay(of: 0.9)), Summary.grouped(UInt64(outcome.handed)),
                Summary.grouped(UInt64(outcome.floods)), Summary.grouped(UInt64(outcome.drops)),
                String(outcome.violations.count { $0.contains("twice") }),
            ]
        }
        let widths = header.indices.map { column in ([header] + rows).map { $0[column].count }.max() ?? 0 }
        func line(_ cells: [String]) -> String {
            var text = ""
            for (column, cell) in cells.enumerated() {
                let space = String(repeating: " ", count: widths[column] - cell.count)
                text += column == 0 ? cell + space : "  " + space + cell
            }
            return text + "\n"
        }
        return "\(setting.venues) venues, \(Summary.grouped(UInt64(setting.phones))) phones, "
            + "\(ClockText.text(setting.span)), seed \(setting.seed)\n\n" + line(header) + rows.map(line).joined()
    }

    private static func percent(_ share: Double) -> String {
        let tenths = Int((share * 1_000).rounded())
        return "\(tenths / 10).\(tenths % 10) %"
    }

    private static func text(_ delay: Interval?) -> String {
        guard let delay else { return "-" }
        let minutes = Int((delay.seconds / 60).rounded())
        if minutes == 0 { return "\(Int(delay.seconds.rounded())) s" }
        return minutes < 60 ? "\(minutes) min" : "\(minutes / 60) h \(minutes % 60) min"
    }
}
