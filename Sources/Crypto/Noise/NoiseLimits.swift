/// Sizes and counters of Noise messages (chapter 02 §3).
public enum NoiseLimits {
    public static let tagSize = 16
    /// §3.6: any message of an XX handshake. Peers send 32, 96 and 64 bytes.
    public static let handshakeMessage = 2_048
    /// The Noise specification's bound on any handshake message, for one-way seals; their carrier is bound more
    /// tightly.
    public static let message = 65_535

    /// §3.4: the counter in front of a transport message.
    public static let noncePrefixSize = 4
    public static let transportOverhead = noncePrefixSize + tagSize
    /// §3.4: the last counter a sender may use, 2³² − 2.
    public static let lastNonce = UInt64(UInt32.max) - 1
    /// §3.5: how far behind the highest accepted counter another is still accepted.
    public static let replayWindow = 1_024
    /// §3.6: plaintext of everything but private files.
    public static let plaintext = 65_535
    /// §3.6: plaintext whose type byte says private file.
    public static let privateFilePlaintext = 1_179_708
    /// §3.6: type bytes of a private file; the second is an alias some builds send.
    static let privateFileTypes: [UInt8] = [0x20, 0x09]
}

/// Why a Noise message is refused. A refusal changes nothing: the next message finds the state of before.
public enum NoiseRejection: String, CaseIterable, Error, Sendable {
    /// Shorter than its parts.
    case truncated
    case tooLong = "too-long"
    /// An X25519 key of chapter 02 §1.3, or an agreement of all zeros.
    case refusedKey = "refused-key"
    /// A tag does not match.
    case notAuthentic = "not-authentic"
    /// The handshake expects the other party's message, ours, or none any more.
    case outOfTurn = "out-of-turn"
    /// The counter was accepted before, or is too far behind.
    case replayed
    /// The counters are used up: a new handshake must come first.
    case exhausted
}
