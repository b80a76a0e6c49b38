import Basics

/// The 32 secret bytes from which every per-place Nostr identity of a device follows (chapter 05 §3.2).
public final class DeviceSeed: Secret, Sendable {
    public static let size = 32
    /// Derivations tried before the fallback (chapter 05 §3.2).
    static let attempts: UInt32 = 10

    public let secret: SecretBytes

    /// `nil` unless there are 32 bytes.
    public convenience init?(_ secret: SecretBytes) {
        guard secret.count == DeviceSeed.size else { return nil }
        self.init(checked: secret)
    }

    public convenience init?(_ bytes: [UInt8]) { self.init(SecretBytes(copying: bytes)) }

    private init(checked secret: SecretBytes) { self.secret = secret }

    public static func generate(using random: inout some RandomNumberGenerator) -> DeviceSeed {
        DeviceSeed(checked: .random(count: size, using: &random))
    }

    /// The identity of a location channel. Labels are case-sensitive, so the geohash is taken in lower case.
    public func channel(_ geohash: String) -> NostrSecretKey { derive(label: geohash.lowercased()) }

    /// The identity towards a rendezvous cell, which the prefix keeps unlinkable from the channel's.
    public func bridge(cell: String) -> NostrSecretKey { derive(label: "bridge|" + cell.lowercased()) }

    /// The identity of any label, used as given.
    public func derive(label: String) -> NostrSecretKey { derive(label: label) { NostrSecretKey($0) } }

    /// `accept` is the test whether a candidate is a usable scalar, apart so that its refusals can be tested.
    func derive<Key>(label: String, accept: (SecretBytes) -> Key?) -> Key {
        let label = Array(label.utf8)
        for attempt in 0..<DeviceSeed.attempts {
            var message = label
            message.append(bigEndian: attempt)
            if let key = accept(secret.withBytes { HMACSHA256.secret(of: message, key: $0) }) { return key }
        }
        var candidate = secret.withBytes { SHA256.secret(of: $0, then: label) }
        while true {
            if let key = accept(candidate) { return key }
            // Beyond the specification, which stops here; the chance is 2^-128 for each candidate.
            candidate = candidate.withBytes { SHA256.secret(of: $0, then: []) }
        }
    }
}
