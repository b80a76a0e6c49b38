/// Counters under named reasons. Every drop of outside input is counted here and nowhere printed with its content.
public struct Tally<Reason: CaseIterable & Hashable & RawRepresentable & Sendable>: Sendable
where Reason.RawValue == String, Reason.AllCases: Sendable {
    @usableFromInline var counts: [Reason: UInt64] = [:]

    @inlinable public init() {}

    @inlinable public subscript(_ reason: Reason) -> UInt64 { counts[reason] ?? 0 }

    @inlinable public mutating func count(_ reason: Reason, _ amount: UInt64 = 1) {
        // By position: changing a value through its key allocates, and this runs several times a packet.
        if let position = counts.index(forKey: reason) {
            counts.values[position] &+= amount
        } else {
            counts[reason] = amount
        }
    }

    /// Every reason with its count, in declaration order, zeros included: the stable form `status` shows.
    public var all: [(name: String, count: UInt64)] { Reason.allCases.map { ($0.rawValue, self[$0]) } }
    public var total: UInt64 { counts.values.reduce(0, &+) }
}
