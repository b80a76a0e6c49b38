import Basics

/// Names one train of fragments, together with its sender: 8 random bytes, fresh for every send (chapter 01 §9.9).
public struct FragmentStreamID: Hashable, Comparable, Sendable {
    public static let size = 8

    public let value: UInt64

    @inlinable public init(value: UInt64) { self.value = value }

    public init(using random: inout some RandomNumberGenerator) { value = random.next() }

    /// `nil` unless there are exactly 8 bytes.
    public init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == FragmentStreamID.size else { return nil }
        value = bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    public var bytes: [UInt8] { withUnsafeBytes(of: value.bigEndian) { [UInt8]($0) } }
    /// 16 lower-case hex digits.
    public var hex: String { Hex.encode(bytes) }

    @inlinable public static func < (a: FragmentStreamID, b: FragmentStreamID) -> Bool { a.value < b.value }
}

/// The first 13 payload bytes of a fragment; the rest is a slice of the encoded parent frame (chapter 01 §9.9).
public struct FragmentHeader: Hashable, Sendable {
    public static let size = 13
    /// Fragments of one train; a larger total is ignored.
    public static let mostFragments = 10_000

    public let streamID: FragmentStreamID
    /// 0 ..< `total`.
    public let index: UInt16
    /// 1 … `mostFragments`.
    public let total: UInt16
    /// Type of the parent, a hint only.
    public let originalType: MessageType

    /// `nil` when the numbers contradict each other or the bounds.
    public init?(streamID: FragmentStreamID, index: UInt16, total: UInt16, originalType: MessageType) {
        guard total > 0, total <= UInt16(FragmentHeader.mostFragments), index < total else { return nil }
        self.streamID = streamID
        self.index = index
        self.total = total
        self.originalType = originalType
    }

    /// The header of a fragment payload; `nil` when the payload is to be ignored. The slice may be empty.
    public init?(payload: UnsafeRawBufferPointer) {
        var reader = ByteReader(payload)
        guard let streamID = reader.readUInt64(), let index = reader.readUInt16(), let total = reader.readUInt16(),
            let type = reader.readUInt8()
        else { return nil }
        self.init(
            streamID: FragmentStreamID(value: streamID), index: index, total: total,
            originalType: MessageType(rawValue: type))
    }

    /// What a valid fragment payload carries behind the header.
    public static func slice(of payload: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: payload.dropFirst(size))
    }

    func append(to bytes: inout [UInt8]) {
        bytes.append(bigEndian: streamID.value)
        bytes.append(bigEndian: index)
        bytes.append(bigEndian: total)
        bytes.append(originalType.rawValue)
    }
}
