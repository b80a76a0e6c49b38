import Basics

/// 32 bytes held in place, without an allocation: public keys, fingerprints and digests are dictionary keys everywhere.
public struct Bytes32: Sendable {
    public static let size = 32

    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    /// All zero.
    init() {}

    /// `nil` unless there are exactly 32 bytes.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == Bytes32.size else { return nil }
        Swift.withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: bytes) }
    }

    /// 32 bytes written by `fill`, which sees zeros first.
    init(fill: (UnsafeMutablePointer<UInt8>) -> Void) {
        Swift.withUnsafeMutableBytes(of: &words) { fill($0.octets) }
    }

    public var array: [UInt8] { withUnsafeBytes { [UInt8]($0) } }

    public func withUnsafeBytes<R, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> R
    ) throws(Failure) -> R {
        try Swift.withUnsafeBytes(of: words, body)
    }
}

extension Bytes32: Hashable {
    /// Constant time.
    public static func == (a: Bytes32, b: Bytes32) -> Bool {
        let (a, b) = (a.words, b.words)
        return (a.0 ^ b.0) | (a.1 ^ b.1) | (a.2 ^ b.2) | (a.3 ^ b.3) == 0
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }
}

/// A public value of 32 bytes with a meaning of its own. Equality takes constant time.
public protocol Bytes32Representable: RawRepresentable, Hashable, Sendable, CustomStringConvertible
where RawValue == Bytes32 {
    init(rawValue: Bytes32)
}

extension Bytes32Representable {
    /// `nil` unless there are exactly 32 bytes.
    public init?(_ bytes: some Collection<UInt8>) {
        guard let value = Bytes32(bytes) else { return nil }
        self.init(rawValue: value)
    }

    /// 64 hex digits of either case; `nil` otherwise.
    public init?(hex: some StringProtocol) {
        guard let bytes = Hex.decode(hex) else { return nil }
        self.init(bytes)
    }

    public var bytes: [UInt8] { rawValue.array }
    /// 64 lower-case hex digits.
    public var hex: String { rawValue.withUnsafeBytes { Hex.encode($0) } }
    public var description: String { hex }

    public func withUnsafeBytes<R, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> R
    ) throws(Failure) -> R {
        try rawValue.withUnsafeBytes(body)
    }
}
