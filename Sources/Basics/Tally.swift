/// Counters under named reasons. Every drop of outside input is counted here and nowhere printed with its content.
///
/// Several counters move with every packet, so they lie in an array and not in a dictionary. `Reason` must be an
/// enumeration of at most 256 cases without associated values, `allCases` its cases as declared.
public struct Tally<Reason: CaseIterable & Hashable & RawRepresentable & Sendable>: Sendable
where Reason.RawValue == String, Reason.AllCases: Sendable {
    /// By ordinal; empty until something is counted.
    @usableFromInline var counts: [UInt64] = []

    @inlinable public init() {}

    @inlinable public subscript(_ reason: Reason) -> UInt64 {
        let ordinal = Tally.ordinal(reason)
        return ordinal < counts.count ? counts[ordinal] : 0
    }

    @inlinable public mutating func count(_ reason: Reason, _ amount: UInt64 = 1) {
        let ordinal = Tally.ordinal(reason)
        if ordinal >= counts.count { makeRoom(for: ordinal) }
        counts[ordinal] &+= amount
    }

    @usableFromInline mutating func makeRoom(for ordinal: Int) {
        let size = max(Reason.allCases.count, ordinal + 1)
        counts += repeatElement(0, count: size - counts.count)
    }

    /// A case without associated values is stored as one byte, which counts the cases in declaration order.
    @inlinable static func ordinal(_ reason: Reason) -> Int {
        withUnsafeBytes(of: reason) { $0.isEmpty ? 0 : Int($0[0]) }
    }

    /// Every reason with its count, in declaration order, zeros included: the stable form `status` shows.
    public var all: [(name: String, count: UInt64)] { Reason.allCases.map { ($0.rawValue, self[$0]) } }
    public var total: UInt64 { counts.reduce(0, &+) }

    /// The sums of two tallies.
    public func adding(_ other: Tally) -> Tally {
        var sum = self
        for reason in Reason.allCases where other[reason] > 0 { sum.count(reason, other[reason]) }
        return sum
    }
}
