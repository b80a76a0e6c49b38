/// What a peer says it can do: a 64-bit set, unknown bits kept (chapter 01 §12). The copy in an announce is a hint;
/// only the one in `AuthenticatedPeerState` is proven.
public struct Capabilities: OptionSet, Hashable, Sendable {
    public let rawValue: UInt64

    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Publishes one-time prekeys and can open mail sealed to them.
    public static let prekeys = Capabilities(rawValue: 1 << 0)
    /// Never advertised.
    public static let wifiBulk = Capabilities(rawValue: 1 << 1)
    /// Uplinks geohash events at this moment.
    public static let gateway = Capabilities(rawValue: 1 << 2)
    public static let groups = Capabilities(rawValue: 1 << 3)
    /// Never advertised; boards work without it.
    public static let board = Capabilities(rawValue: 1 << 4)
    public static let vouch = Capabilities(rawValue: 1 << 5)
    /// Never advertised; ping works without it.
    public static let meshDiagnostics = Capabilities(rawValue: 1 << 6)
    /// Bridges the rendezvous cell named in the announce.
    public static let bridge = Capabilities(rawValue: 1 << 7)
    public static let privateMedia = Capabilities(rawValue: 1 << 8)
    public static let privateMediaReceipts = Capabilities(rawValue: 1 << 9)
    /// Burned: never advertise.
    public static let nonDestructiveNoiseReplacement = Capabilities(rawValue: 1 << 10)

    /// Little-endian bytes of any number: the low 64 bits count, none is the empty set.
    public init(littleEndian bytes: some Sequence<UInt8>) {
        rawValue = bytes.prefix(8).enumerated().reduce(0) { $0 | UInt64($1.element) << (8 * UInt64($1.offset)) }
    }

    /// The one minimal encoding of 1 to 8 bytes; `nil` for any other.
    init?(minimal bytes: UnsafeRawBufferPointer) {
        guard (1...8).contains(bytes.count) else { return nil }
        self.init(littleEndian: bytes)
        guard encoded.elementsEqual(bytes) else { return nil }
    }

    /// Little-endian without trailing zero bytes, but at least one byte.
    public var encoded: [UInt8] {
        let significant = max(1, (UInt64.bitWidth - rawValue.leadingZeroBitCount + 7) / 8)
        return (0..<significant).map { UInt8(truncatingIfNeeded: rawValue >> (8 * UInt64($0))) }
    }

    private static let carriers: Capabilities = [.prekeys, .groups, .vouch, .gateway]

    /// Whoever announces these takes mail for others: gateways, and every iOS build that knows mail. Android announces
    /// none of the four and silently drops it (chapter 06 §16).
    public var carriesMail: Bool { !isDisjoint(with: Capabilities.carriers) }
}
