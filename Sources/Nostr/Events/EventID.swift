import Basics

/// The SHA-256 of an event's canonical form (NIP-01), held in place.
public struct EventID: Hashable, Sendable, CustomStringConvertible {
    public static let size = 32

    /// The bytes as four big-endian words, so that the first holds the leading zero bits that count as work.
    private let words: (UInt64, UInt64, UInt64, UInt64)

    private init(_ words: (UInt64, UInt64, UInt64, UInt64)) { self.words = words }

    /// The id of an event with this canonical form.
    public init(hashing canonicalBytes: [UInt8]) {
        self.init(digest: SHA256.hash(canonicalBytes))
    }

    init(digest: [UInt8]) { self = EventID(digest) ?? EventID((0, 0, 0, 0)) }

    /// `nil` unless there are exactly 32 bytes.
    public init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard let a = reader.readUInt64(), let b = reader.readUInt64(), let c = reader.readUInt64(),
            let d = reader.readUInt64(), reader.isAtEnd
        else { return nil }
        self.init((a, b, c, d))
    }

    public init?(_ bytes: [UInt8]) {
        guard let id = bytes.withUnsafeBytes({ EventID($0) }) else { return nil }
        self = id
    }

    /// Exactly 64 lower-case hex digits: an id in any other spelling never verifies (chapter 05 §1.2).
    public init?(hex: String) {
        var hex = hex
        guard let id = hex.withUTF8({ EventID(hexDigits: UnsafeRawBufferPointer($0)) }) else { return nil }
        self = id
    }

    init?(hexDigits: UnsafeRawBufferPointer) {
        guard hexDigits.count == 2 * EventID.size else { return nil }
        func half(_ index: Int) -> UInt64? {
            let digits = UInt64(bigEndian: hexDigits.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
            return EventID.value(ofDigits: digits)
        }
        guard let a = half(0), let b = half(1), let c = half(2), let d = half(3), let e = half(4), let f = half(5),
            let g = half(6), let h = half(7)
        else { return nil }
        self.init((a << 32 | b, c << 32 | d, e << 32 | f, g << 32 | h))
    }

    /// What eight lower-case hex digits stand for, all at once: the first is the highest byte of `digits`.
    private static func value(ofDigits digits: UInt64) -> UInt64? {
        let ones: UInt64 = 0x0101_0101_0101_0101
        let highBits = ones &* 0x80
        guard digits & highBits == 0 else { return nil }
        /// The high bit of every byte that is at least this; no sum of a byte carries into the next one.
        func atLeast(_ scalar: Unicode.Scalar) -> UInt64 { digits &+ ones &* (0x80 - UInt64(scalar.value)) }
        let isDigit = atLeast("0") & ~atLeast(":")
        let isLetter = atLeast("a") & ~atLeast("g")
        guard (isDigit | isLetter) & highBits == highBits else { return nil }
        var value = (digits & (ones &* 0x0f)) &+ (digits >> 6 & ones) &* 9
        value = (value | value >> 4) & 0x00ff_00ff_00ff_00ff
        value = (value | value >> 8) & 0x0000_ffff_0000_ffff
        return (value | value >> 16) & 0xffff_ffff
    }

    public var bytes: [UInt8] {
        var bytes = [UInt8]()
        bytes.reserveCapacity(EventID.size)
        for word in [words.0, words.1, words.2, words.3] { bytes.append(bigEndian: word) }
        return bytes
    }

    /// 64 lower-case hex digits.
    public var hex: String { Hex.encode(bytes) }
    public var description: String { hex }

    /// Leading zero bits, 0–256: the work an id shows (NIP-13).
    public var leadingZeroBits: Int {
        var bits = 0
        for word in [words.0, words.1, words.2, words.3] {
            bits += word.leadingZeroBitCount
            guard word == 0 else { break }
        }
        return bits
    }

    public static func == (a: EventID, b: EventID) -> Bool { a.words == b.words }

    public func hash(into hasher: inout Hasher) {
        // The id is a digest: any word of it is as good as all.
        hasher.combine(words.3)
    }
}
