import Wire

/// A mesh node's own announcement, and the bounds of its tables.
public struct MeshConfiguration: Sendable {
    /// Announced name, UTF-8 up to 255 bytes (chapter 01 §9.1).
    public var nickname: String
    /// Announced capability bits. Set only what the node really does (chapter 03 B19).
    public var capabilities: Capabilities
    /// Rendezvous cell, announced only together with the bridge bit.
    public var bridgeCell: String?
    /// Seen packets remembered; see `MeshLimits.duplicateCapacity`. Smaller only for simulations of many nodes.
    public var duplicateCapacity: Int
    /// Attach source routes to own directed packets (chapter 03 B9.2). Forwarding is not optional.
    public var originatesRoutes: Bool
    /// Whether wall time is known to be right at the start; see `MeshNode.setClockTrusted`.
    public var isClockTrusted: Bool
    /// Take part in gossip sync. Off only in simulations that look at something else.
    public var synchronises = true
    /// Report sealed mail addressed to this node, and every verified announce; without it both pass unseen.
    public var takesMail = false
    /// What gossip keeps.
    public var gossip = GossipPolicy.gateway

    public init(
        nickname: String, capabilities: Capabilities = [], bridgeCell: String? = nil,
        duplicateCapacity: Int = MeshLimits.duplicateCapacity, originatesRoutes: Bool = true,
        isClockTrusted: Bool = true
    ) {
        self.nickname = nickname
        self.capabilities = capabilities
        self.bridgeCell = bridgeCell
        self.duplicateCapacity = max(2, duplicateCapacity)
        self.originatesRoutes = originatesRoutes
        self.isClockTrusted = isClockTrusted
    }
}
