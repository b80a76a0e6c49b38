import Basics

/// What a lamp does, over and over: so long on, so long off. Data, so that the daemon, its documentation and its tests
/// show the same.
public struct LampPattern: Equatable, Sendable {
    /// Alternating, beginning with on, in milliseconds; empty for a lamp that stays off, one entry for one that stays
    /// on.
    public let spans: [Int]

    public init(_ spans: Int...) { self.spans = spans }
    private init(spans: [Int]) { self.spans = spans }

    public static let off = LampPattern()
    public static let on = LampPattern(1_000)

    /// So many short flashes, and a pause.
    static func flashes(_ count: Int) -> LampPattern {
        LampPattern(spans: (0..<count).flatMap { [150, $0 == count - 1 ? 1_350 : 250] })
    }

    /// Milliseconds until it begins again.
    public var period: Int { spans.reduce(0, +) }
    public var isSteady: Bool { spans.count < 2 }

    /// Whether it is lit so long after it began, in milliseconds.
    public func isLit(at elapsed: Int64) -> Bool {
        guard !isSteady else { return !spans.isEmpty }
        var rest = elapsed % Int64(period)
        for (index, span) in spans.enumerated() {
            rest -= Int64(span)
            if rest < 0 { return index.isMultiple(of: 2) }
        }
        return false
    }

    /// When it next changes, in milliseconds after it began; nil for a steady one.
    public func nextChange(after elapsed: Int64) -> Int64? {
        guard !isSteady else { return nil }
        var next = elapsed - elapsed % Int64(period)
        for span in spans {
            next += Int64(span)
            if next > elapsed { return next }
        }
        return next
    }
}
