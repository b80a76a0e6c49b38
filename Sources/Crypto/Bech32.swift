/// Bech32 text (BIP-173; not Bech32m) as clients write Nostr keys with it: lower case only (chapter 05 §3.4).
public enum Bech32 {
    /// BIP-173's bound on the whole text.
    public static let maximumSize = 90
    static let checksumSize = 6

    /// `nil` when the prefix is empty or holds something else than printable lower-case ASCII, or the text would pass
    /// 90 characters.
    public static func encode(prefix: String, data: [UInt8]) -> String? {
        let prefix = Array(prefix.utf8)
        guard isPrefix(prefix), let values = regroup(data, from: 8, to: 5, isPadded: true) else { return nil }
        let remainder = checksum(expanded(prefix) + values + [UInt8](repeating: 0, count: checksumSize)) ^ 1
        let check = (0..<checksumSize).map { UInt8(truncatingIfNeeded: remainder >> (25 - 5 * UInt32($0)) & 31) }
        guard prefix.count + 1 + values.count + checksumSize <= maximumSize else { return nil }
        return String(decoding: prefix + [separator] + (values + check).map { alphabet[Int($0)] }, as: UTF8.self)
    }

    /// Prefix and data; `nil` for anything that is not lower-case Bech32. Leftover pad bits are ignored.
    public static func decode(_ text: String) -> (prefix: String, data: [UInt8])? {
        let text = Array(text.utf8)
        guard text.count <= maximumSize, let split = text.lastIndex(of: separator) else { return nil }
        let prefix = Array(text[..<split])
        var values = [UInt8]()
        for character in text[(split + 1)...] {
            guard let value = alphabet.firstIndex(of: character) else { return nil }
            values.append(UInt8(truncatingIfNeeded: value))
        }
        guard isPrefix(prefix), values.count >= checksumSize, checksum(expanded(prefix) + values) == 1,
            let data = regroup(values.dropLast(checksumSize), from: 5, to: 8, isPadded: false)
        else { return nil }
        return (String(decoding: prefix, as: UTF8.self), data)
    }

    private static let alphabet = Array("qpzry9x8gf2tvdw0s3jn54khce6mua7l".utf8)
    private static let separator = UInt8(ascii: "1")

    private static func isPrefix(_ prefix: [UInt8]) -> Bool {
        !prefix.isEmpty && prefix.allSatisfy { (33...126).contains($0) && !(65...90).contains($0) }
    }

    private static func expanded(_ prefix: [UInt8]) -> [UInt8] {
        prefix.map { $0 >> 5 } + [0] + prefix.map { $0 & 31 }
    }

    private static func checksum(_ values: [UInt8]) -> UInt32 {
        let generator: [UInt32] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3]
        return values.reduce(1) { sum, value in
            let shifted = (sum & 0x1ff_ffff) << 5 ^ UInt32(value)
            return generator.enumerated().reduce(shifted) { (sum >> 25) >> $1.offset & 1 == 1 ? $0 ^ $1.element : $0 }
        }
    }

    private static func regroup(
        _ input: some Sequence<UInt8>, from: UInt32, to: UInt32, isPadded: Bool
    ) -> [UInt8]? {
        var output = [UInt8]()
        var pending: UInt32 = 0
        var bits: UInt32 = 0
        for value in input {
            pending = (pending << from | UInt32(value)) & 0xffff
            bits += from
            while bits >= to {
                bits -= to
                output.append(UInt8(truncatingIfNeeded: pending >> bits & (1 << to - 1)))
            }
        }
        if isPadded, bits > 0 { output.append(UInt8(truncatingIfNeeded: pending << (to - bits) & (1 << to - 1))) }
        return output
    }
}

extension NostrPublicKey {
    /// The NIP-19 text form, `npub1…`.
    public var npub: String { Bech32.encode(prefix: "npub", data: bytes) ?? "" }

    /// Parses `npub1…` text of exactly 32 bytes.
    public init?(npub: String) {
        guard let (prefix, data) = Bech32.decode(npub), prefix == "npub" else { return nil }
        self.init(data)
    }
}
