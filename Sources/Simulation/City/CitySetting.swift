import Basics

/// What helps letters along in a city.
public enum CityMeans: String, CaseIterable, Sendable {
    /// Nothing: writer and reader have to meet.
    case meeting
    /// Phones that carry letters for each other.
    case phones
    /// In each venue a phone with a connection as well, which does what the apps do.
    case apps
    /// In each venue a gateway.
    case gateways

    public var summary: String {
        switch self {
        case .meeting: "who writes and who reads must meet"
        case .phones: "phones carry for each other"
        case .apps: "and an online phone in each venue"
        case .gateways: "and a gateway in each venue"
        }
    }

    var phonesCarry: Bool { self != .meeting }
    var hasBoxes: Bool { self == .apps || self == .gateways }
}

/// How large a city is and how its people live. The same setting gives the same movements, letters and outages whatever
/// the means.
public struct CitySetting: Sendable {
    public var venues: Int
    public var phones: Int
    public var span: Interval
    public var seed: UInt64

    public init(venues: Int, phones: Int, span: Interval, seed: UInt64) {
        self.venues = venues
        self.phones = phones
        self.span = span
        self.seed = seed
    }

    public static let usual = CitySetting(venues: 20, phones: 2_000, span: .hours(24), seed: 1)
}

/// The numbers behind the story.
enum CityLimits {
    /// Venues a phone goes to, people its owner writes to, and letters each writes.
    static let favouriteVenues = 3
    static let friends = 8
    static let letters = 3
    /// Of the span, in which letters are written: the rest is for the last of them to arrive.
    static let writingShare = 0.75
    static let stay = (least: Interval.minutes(15), most: Interval.minutes(120))
    static let away = (least: Interval.minutes(20), most: Interval.minutes(360))
    /// Links of a phone and of a box, and those a phone opens when it comes.
    static let phoneLinks = 6
    static let boxLinks = 8
    static let linksOnArrival = 3
    /// Between two announces that neighbours and the box hear, and, in so many of these, all in a venue.
    static let announceInterval = Interval.minutes(1)
    static let relayedEvery = 10
    /// A box with a free slot looks for a phone in every announce interval.
    static let handshake = Interval.seconds(1)
    static let hop = Interval.milliseconds(300)
    static let relayAnswer = Interval.seconds(1)
    /// What a relay that does not answer costs (chapter 06 §5.7).
    static let relayTimeout = Interval.seconds(10)
    /// Of the letters flooded over others, in percent; and of those a proven link took, that the far end never got, in
    /// thousandths: the phone left in that second.
    static let floodArrival = 90
    static let lostOnLink = 5
    /// Outages of each box's connection and of all relays, and how long they last.
    static let boxOutages = 3
    static let cityOutages = 2
    static let outage = (least: Interval.minutes(10), most: Interval.minutes(90))
}
