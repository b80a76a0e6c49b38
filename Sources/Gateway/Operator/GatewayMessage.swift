import Nostr

/// A message for the operator's eyes. Name and text are untrusted: escape them before they reach a terminal.
public struct GatewayMessage: Hashable, Sendable {
    public enum Origin: Hashable, Sendable {
        /// The location channel of this geohash.
        case channel(geohash: String)
        /// Across the bridge, from this rendezvous cell; to be marked as such (chapter 06 §4.14).
        case bridge(cell: String)
    }

    public let origin: Origin
    public let id: EventID
    /// The author's key, 64 lower-case hex digits: the only identity to block or limit by.
    public let pubkey: String
    /// Without control characters and at most 50 characters long; nil when the author gave none.
    public let nickname: String?
    public let text: String
    /// Unix seconds, never in the future.
    public let time: Int64
    /// Stable ID of the radio message that this one claims to be a copy of, recomputed from the coordinates in its
    /// `m` tag. A hint that anybody can copy: it may hide this message, never another (chapter 06 §4.8).
    public let radioHint: String?

    /// `nick#abcd`.
    public var displayName: String { DisplayName.of(nickname: nickname, pubkey: pubkey) }
}
