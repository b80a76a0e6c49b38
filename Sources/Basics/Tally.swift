/// Counters under named reasons. Every drop of outside input is counted here and nowhere printed with its content.
public struct Tally<Reason: CaseIterable & Hashable & RawRepresentable & Sendable>: Sendable
where Reason.RawValue == String, Reason.AllCases: Sendable {
    private var counts: [Reason: UInt64] = [:]

    public init() {}

    public subscript(_ reason: Reason) -> UInt64 { counts[reason] ?? 0 }
    public mutating func count(_ reason: Reason, _ amount: UInt64 = 1) { counts[reason, default: 0] &+= amount }

    /// Every reason with its count, in declaration order, zeros included: the stable form `status` shows.
    public var all: [(name: String, count: UInt64)] { Reason.allCases.map { ($0.rawValue, self[$0]) } }
    public var total: UInt64 { counts.values.reduce(0, &+) }
}
