import Basics
import Nostr

/// The event IDs that keep one service from making loops (chapter 06 §3.1, §3.8). Kept when the service is switched
/// off, lost with the process.
struct CarriedIDs {
    /// Learned from verified broadcasts of other gateways. Filled after verification only, so that a forged copy with
    /// a genuine ID poisons nothing.
    var meshSeen = BoundedSet<EventID>(capacity: GatewayLimits.rememberedIDs)
    /// Handed to relays by us, or composed by us.
    var published = BoundedSet<EventID>(capacity: GatewayLimits.rememberedIDs)
    /// Broadcast by us. Filled after sending only.
    var rebroadcast = BoundedSet<EventID>(capacity: GatewayLimits.rememberedIDs)
}
