/// Event kinds this project reads or writes (chapter 05 §2).
public enum EventKind {
    public static let locationNote = 1
    public static let deletion = 5
    /// Signed layer inside a private envelope; never published bare.
    public static let seal = 13
    /// Unsigned innermost layer of a private envelope; never published.
    public static let privateMessage = 14
    public static let privateEnvelope = 1_059
    public static let courierDrop = 1_401
    /// Answer to a relay's challenge (NIP-42); never published.
    public static let authentication = 22_242
    /// Location channel or bridge message.
    public static let channelMessage = 20_000
    /// Location channel or bridge presence.
    public static let presence = 20_001

    /// Kinds that relays pass on and do not keep (NIP-01).
    public static func isEphemeral(_ kind: Int) -> Bool { (20_000...29_999).contains(kind) }
}
