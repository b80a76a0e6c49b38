import Basics

/// The 8-byte mesh identifier: the first 8 bytes of SHA-256 of a peer's Noise static public key (chapter 01 §7.1).
///
/// Held as a big-endian integer, so that comparing peer IDs is the order of their bytes, most significant first.
public struct PeerID: Hashable, Comparable, Sendable {
    public static let size = 8

    public let value: UInt64

    @inlinable public init(value: UInt64) { self.value = value }

    /// Eight `ff` bytes: Android's explicit form of "no recipient".
    public static let broadcast = PeerID(value: .max)

    /// The wire form; `nil` unless there are exactly 8 bytes.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == PeerID.size else { return nil }
        value = bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// 16 hex digits of either case; `nil` otherwise.
    public init?(hex: some StringProtocol) {
        guard let bytes = Hex.decode(hex) else { return nil }
        self.init(bytes)
    }

    public var bytes: [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: value >> (56 - 8 * UInt64($0))) } }
    /// 16 lower-case hex digits.
    public var hex: String { Hex.encode(bytes) }

    @inlinable public static func < (a: PeerID, b: PeerID) -> Bool { a.value < b.value }
}
