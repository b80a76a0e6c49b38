import Clibsodium
import Wire

/// Outcomes of frame verifications already made, for a process that plays many nodes: each of them then verifies every
/// frame, and each distinct frame costs one check. A lone node needs none, since it drops copies before verifying.
///
/// It holds outcomes, never claims: only a check puts one in, or the act of signing.
public final class SignatureMemory {
    /// Outcomes kept at least; twice as many at most.
    public let capacity: Int
    private var recent: [Bytes32: Bool] = [:]
    private var older: [Bytes32: Bool] = [:]
    /// Checks that were really made.
    public private(set) var checks: UInt64 = 0

    public init(capacity: Int) { self.capacity = max(1, capacity) }

    public var count: Int { recent.count + older.count }

    /// Whether `frame` carries a signature under `key`: remembered, or found out now.
    func outcome(of frame: Frame, under key: SigningPublicKey, check: () -> Bool) -> Bool {
        let digest = SignatureMemory.digest(of: frame, under: key)
        if let known = recent[digest] { return known }
        if let known = older[digest] {
            keep(known, digest)
            return known
        }
        let outcome = check()
        checks &+= 1
        keep(outcome, digest)
        return outcome
    }

    /// Whoever holds the secret key has just signed this frame.
    func note(ownFrame frame: Frame, under key: SigningKey) {
        keep(true, SignatureMemory.digest(of: frame, under: key.publicKey))
    }

    private func keep(_ outcome: Bool, _ digest: Bytes32) {
        if recent.count >= capacity {
            older = recent
            recent = Dictionary(minimumCapacity: capacity)
        }
        recent[digest] = outcome
    }

    /// Everything the outcome depends on: the key, and the frame except for what may change on the way.
    private static func digest(of frame: Frame, under key: SigningPublicKey) -> Bytes32 {
        var frame = frame
        frame.setTTL(0)
        frame.setSyncResponse(false)
        return Bytes32 { digest in
            frame.bytes.withUnsafeBytes { bytes in
                key.withUnsafeBytes { key in
                    _ = crypto_generichash(
                        digest, Bytes32.size, bytes.octets, UInt64(bytes.count), key.octets, key.count)
                }
            }
        }
    }
}
