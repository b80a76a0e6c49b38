import Basics

/// Who is where when, who writes to whom, and when relays are out of reach: all that does not depend on the means.
public struct CityPlan: Sendable {
    public struct Visit: Sendable {
        public let phone: Int
        public let venue: Int
        public let from: Interval
        public let to: Interval

        public init(phone: Int, venue: Int, from: Interval, to: Interval) {
            self.phone = phone
            self.venue = venue
            self.from = from
            self.to = to
        }
    }

    public struct Letter: Sendable {
        public let from: Int
        public let to: Int
        public let at: Interval

        public init(from: Int, to: Int, at: Interval) {
            self.from = from
            self.to = to
            self.at = at
        }
    }

    public struct Outage: Sendable {
        /// The box that is cut off; nil: all are.
        public let box: Int?
        public let from: Interval
        public let to: Interval

        public init(box: Int?, from: Interval, to: Interval) {
            self.box = box
            self.from = from
            self.to = to
        }
    }

    public var phones: Int
    public var venues: Int
    public var span: Interval
    public var visits: [Visit] = []
    public var letters: [Letter] = []
    public var outages: [Outage] = []

    /// Nobody and nothing yet.
    public init(phones: Int, venues: Int, span: Interval) {
        self.phones = phones
        self.venues = venues
        self.span = span
    }

    public init(_ setting: CitySetting) {
        self.init(phones: setting.phones, venues: setting.venues, span: setting.span)
        var random = SeededRandom(seed: setting.seed ^ 0xc17)
        let haunts = (0..<phones).map { _ in
            (0..<CityLimits.favouriteVenues).map { _ in Int.random(in: 0..<venues, using: &random) }
        }
        for phone in 0..<phones { move(phone, among: haunts[phone], using: &random) }
        for phone in 0..<phones { write(phone, using: &random) }
        letters.sort { ($0.at, $0.from, $0.to) < ($1.at, $1.from, $1.to) }
        for box in 0..<venues {
            for _ in 0..<CityLimits.boxOutages { outages.append(outage(of: box, using: &random)) }
        }
        for _ in 0..<CityLimits.cityOutages { outages.append(outage(of: nil, using: &random)) }
    }

    /// In a short run everybody is in a hurry.
    private func scaled(_ range: (least: Interval, most: Interval), using random: inout SeededRandom) -> Interval {
        let share = min(1, span.seconds / Interval.hours(6).seconds)
        let full = random.interval(range.least, range.most)
        return .seconds(max(60, full.seconds * share))
    }

    private mutating func move(_ phone: Int, among haunts: [Int], using random: inout SeededRandom) {
        var moment = scaled((.zero, CityLimits.away.most), using: &random)
        while moment < span {
            let venue = haunts.randomElement(using: &random) ?? 0
            let end = min(span, moment + scaled(CityLimits.stay, using: &random))
            visits.append(Visit(phone: phone, venue: venue, from: moment, to: end))
            moment = end + scaled(CityLimits.away, using: &random)
        }
    }

    private mutating func write(_ phone: Int, using random: inout SeededRandom) {
        guard phones > 1 else { return }
        let friends = (0..<CityLimits.friends).map { _ in
            (phone + Int.random(in: 1..<phones, using: &random)) % phones
        }
        for _ in 0..<CityLimits.letters {
            let at = random.interval(.zero, .seconds(span.seconds * CityLimits.writingShare))
            letters.append(Letter(from: phone, to: friends.randomElement(using: &random) ?? 0, at: at))
        }
    }

    private func outage(of box: Int?, using random: inout SeededRandom) -> Outage {
        let length = scaled(CityLimits.outage, using: &random)
        let from = random.interval(.zero, span)
        return Outage(box: box, from: from, to: from + length)
    }
}
