import Basics

/// What a receiving node does to the values it gets, to stand for a bad radio: drops some, holds all back for a while.
public struct Impairment: Equatable, Sendable {
    /// Probability that a value is lost, 0…1.
    public var loss: Double
    /// Uniform delay of a value, at most 60 s; order is kept.
    public var delay: ClosedRange<Interval>
    public var seed: UInt64

    public init(loss: Double = 0, delay: ClosedRange<Interval> = .zero ... .zero, seed: UInt64 = 0) {
        self.loss = min(max(loss, 0), 1)
        let longest = RadioLimits.longestDelay
        self.delay = min(max(delay.lowerBound, .zero), longest)...min(max(delay.upperBound, .zero), longest)
        self.seed = seed
    }

    public static let none = Impairment()
    public var isNone: Bool { loss == 0 && delay.upperBound == .zero }

    /// A link option that could not be read, and where it begins.
    public struct ParseError: Error, Equatable, CustomStringConvertible {
        /// 1-based, in characters.
        public let column: Int
        public let reason: String
        public var description: String { "column \(column): \(reason)" }
    }

    /// Options such as `loss=0.05 delay=20ms..80ms seed=7`, each at most once, in any order.
    public init(parsing options: String) throws(ParseError) {
        var seen: Set<Substring> = []
        self.init()
        for word in options.split(separator: " ") {
            let column = options.distance(from: options.startIndex, to: word.startIndex) + 1
            func refuse(_ reason: String) -> ParseError { ParseError(column: column, reason: reason) }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw refuse("expected name=value") }
            guard seen.insert(parts[0]).inserted else { throw refuse("\(parts[0]) is given twice") }
            switch parts[0] {
            case "loss":
                guard let loss = Double(parts[1]), (0...1).contains(loss) else {
                    throw refuse("loss is a number from 0 to 1")
                }
                self.loss = loss
            case "delay":
                guard let delay = Impairment.delay(parts[1]) else {
                    throw refuse("delay is a span such as 50ms or 20ms..80ms, at most 60s")
                }
                self.delay = delay
            case "seed":
                guard let seed = UInt64(parts[1]) else { throw refuse("seed is a whole number") }
                self.seed = seed
            default:
                throw refuse("unknown link option; known are loss, delay and seed")
            }
        }
    }

    private static func delay(_ text: Substring) -> ClosedRange<Interval>? {
        guard let dots = text.firstRange(of: "..") else { return span(text).map { $0...$0 } }
        guard let low = span(text[..<dots.lowerBound]), let high = span(text[dots.upperBound...]), low <= high else {
            return nil
        }
        return low...high
    }

    private static func span(_ text: Substring) -> Interval? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int(digits), number <= 60_000 else { return nil }
        let span: Interval
        switch text.dropFirst(digits.count) {
        case "ms": span = .milliseconds(number)
        case "s": span = .seconds(number)
        default: return nil
        }
        return span <= RadioLimits.longestDelay ? span : nil
    }
}
