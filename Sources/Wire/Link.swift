/// A link to one neighbour, unique per connection instance and local to this process. It never goes on the air, but it
/// seeds the fan-out subset and so is stable for the life of the link (chapter 03 A6).
public struct LinkID: Hashable, Comparable, Sendable, CustomStringConvertible {
    public let value: UInt64

    @inlinable public init(value: UInt64) { self.value = value }

    public var description: String { "L\(value)" }
    @inlinable public static func < (a: LinkID, b: LinkID) -> Bool { a.value < b.value }
}

/// Which side opened the link (chapter 03 A6).
public enum LinkRole: Sendable {
    /// We are the central: we send writes and receive notifications.
    case outgoing
    /// The neighbour is the central: we send notifications and receive writes.
    case incoming
}

/// Order of a link's outbound queue, lower first (chapter 03 A10).
public struct WritePriority: Comparable, Hashable, Sendable {
    public let rank: UInt32

    @inlinable init(rank: UInt32) { self.rank = rank }

    /// Everything except fragments, files and unknown types.
    public static let high = WritePriority(rank: 0)
    /// A fragment of a train of `total`: short trains first.
    public static func fragment(total: UInt16) -> WritePriority { WritePriority(rank: 0x1_0000 + UInt32(total)) }
    /// How many fragments the train has; nil for what is no fragment.
    public var fragments: Int? { (0x1_0000...0x1_ffff).contains(rank) ? Int(rank - 0x1_0000) : nil }
    public static let file = WritePriority(rank: 0x2_fffe)
    /// Unknown types.
    public static let low = WritePriority(rank: 0x2_ffff)

    @inlinable public static func < (a: WritePriority, b: WritePriority) -> Bool { a.rank < b.rank }
}
