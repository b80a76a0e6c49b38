import Basics

/// Every bound of the Nostr engine, with its source.
public enum NostrLimits {
    // MARK: Events (chapter 05 §1.1)

    public static let tagsPerEvent = 64
    public static let valuesPerTag = 16
    public static let bytesPerTagValue = 1_024
    /// A whole WebSocket text message, hence also any event.
    public static let messageBytes = 262_144
    /// An event's JSON carried over the mesh.
    public static let carriedEventBytes = 16_384
}
