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
        guard hexDigits.count == 2 * EventID.size, let a = EventID.word(in: hexDigits, at: 0),
            let b = EventID.word(in: hexDigits, at: 16), let c = EventID.word(in: hexDigits, at: 32),
            let d = EventID.word(in: hexDigits, at: 48)
        else { return nil }
        self.init((a, b, c, d))
    }

    private static func word(in digits: UnsafeRawBufferPointer, at offset: Int) -> UInt64? {
        var word: UInt64 = 0
        for index in offset..<offset + 16 {
            let digit = digits[index]
            guard digit < UInt8(ascii: "A") || digit > UInt8(ascii: "F"), let value = Hex.value(of: digit)
            else { return nil }
            word = word << 4 | UInt64(value)
        }
        return word
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
