import Basics

/// The `bitchat://verify` text of a QR code, by which people check each other's keys (chapter 01 §10.3, chapter 02
/// §6.6). It counts only with a signature that verifies, and says only that `signingKeyHex` vouches for the rest.
public struct VerificationCode: Hashable, Sendable {
    /// Bytes of text that are looked at: a QR code holds less.
    public static let maximumTextSize = 4_096
    /// Seconds before and after `timestamp` in which it counts.
    public static let lifetime: UInt64 = 300
    public static let currentVersion: Int64 = 1

    /// Not judged by itself: another value breaks the signature.
    public var version: Int64
    /// 64 digits.
    public var noiseKeyHex: String
    /// 64 digits.
    public var signingKeyHex: String
    public var nickname: String
    /// Seconds since the Unix epoch.
    public var timestamp: Int64
    /// base64url text of 16 random bytes; signed as text.
    public var nonce: String
    /// Ed25519 over `signedBytes`, 128 digits.
    public var signatureHex: String
    public var npub: String?

    public init(
        version: Int64 = VerificationCode.currentVersion, noiseKeyHex: String, signingKeyHex: String, nickname: String,
        timestamp: Int64, nonce: String, signatureHex: String, npub: String? = nil
    ) {
        self.version = version
        self.noiseKeyHex = noiseKeyHex
        self.signingKeyHex = signingKeyHex
        self.nickname = nickname
        self.timestamp = timestamp
        self.nonce = nonce
        self.signatureHex = signatureHex
        self.npub = npub
    }

    private static let origin = "bitchat://verify?"

    /// Items may come in any order; the first of a repeated one counts, unknown ones do not.
    public init?(text: String) {
        guard text.utf8.count <= Self.maximumTextSize, text.utf8.starts(with: Self.origin.utf8) else { return nil }
        var items: [String: String] = [:]
        for item in text.utf8.dropFirst(Self.origin.utf8.count).split(separator: UInt8(ascii: "&")) {
            guard let equals = item.firstIndex(of: UInt8(ascii: "=")) else { continue }
            guard let value = PercentEncoding.decode(item[equals...].dropFirst()) else { return nil }
            let name = String(decoding: item[..<equals], as: UTF8.self)
            if items[name] == nil { items[name] = value }
        }
        guard
            let version = items["v"].flatMap({ Int64($0) }), let noiseKeyHex = items["noise"],
            let signingKeyHex = items["sign"], let nickname = items["nick"],
            let timestamp = items["ts"].flatMap({ Int64($0) }), let nonce = items["nonce"],
            let signatureHex = items["sig"]
        else { return nil }
        self.init(
            version: version, noiseKeyHex: noiseKeyHex, signingKeyHex: signingKeyHex, nickname: nickname,
            timestamp: timestamp, nonce: nonce, signatureHex: signatureHex, npub: items["npub"])
        guard noiseKey != nil, signingKey != nil, signature != nil else { return nil }
    }

    /// The text to show. A `+` goes out as `%2B`, because Android reads a bare one as a space.
    public var text: String {
        var items = [
            ("v", String(version)), ("noise", noiseKeyHex), ("sign", signingKeyHex), ("nick", nickname),
            ("ts", String(timestamp)), ("nonce", nonce), ("sig", signatureHex),
        ]
        if let npub { items.append(("npub", npub)) }
        return Self.origin + items.map { "\($0)=\(PercentEncoding.encode($1))" }.joined(separator: "&")
    }

    /// What the signature covers.
    public var signedBytes: [UInt8] {
        var bytes = [UInt8]()
        let fields = [
            "bitchat-verify-v1", String(version), noiseKeyHex.lowercased(), signingKeyHex.lowercased(), npub ?? "",
            nickname, String(timestamp), nonce,
        ]
        for field in fields { bytes.append(length8: field.utf8) }
        return bytes
    }

    public func isCurrent(at now: WallTime) -> Bool {
        let (age, isOverflown) = now.unixSeconds.subtractingReportingOverflow(timestamp)
        return !isOverflown && age.magnitude <= Self.lifetime
    }

    /// 32 bytes.
    public var noiseKey: [UInt8]? { Self.bytes(noiseKeyHex, 32) }
    /// 32 bytes.
    public var signingKey: [UInt8]? { Self.bytes(signingKeyHex, 32) }
    /// 64 bytes.
    public var signature: [UInt8]? { Self.bytes(signatureHex, 64) }

    private static func bytes(_ hex: String, _ count: Int) -> [UInt8]? {
        Hex.decode(hex).flatMap { $0.count == count ? $0 : nil }
    }
}

/// Percent-encoding of query values (RFC 3986 §2).
private enum PercentEncoding {
    static func encode(_ text: String) -> String {
        var ascii = [UInt8]()
        for byte in text.utf8 {
            if isUnreserved(byte) {
                ascii.append(byte)
            } else {
                ascii.append(UInt8(ascii: "%"))
                ascii.append(contentsOf: Hex.encode([byte]).uppercased().utf8)
            }
        }
        return String(decoding: ascii, as: UTF8.self)
    }

    /// `nil` for a broken escape and for bytes that are not UTF-8. A `+` is a `+`.
    static func decode(_ text: Substring.UTF8View) -> String? {
        var bytes = [UInt8]()
        var rest = text[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard
                let high = rest.popFirst().flatMap(Hex.value), let low = rest.popFirst().flatMap(Hex.value)
            else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default:
            "-._~".utf8.contains(byte)
        }
    }
}
