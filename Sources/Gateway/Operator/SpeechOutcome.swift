/// What became of a message of the operator on its way to the internet. There is no acknowledgement from a gateway.
public enum SpeechOutcome: Hashable, Sendable {
    /// Handed to the relays, or to their queue while they connect.
    case published
    /// Handed to a gateway or bridge peer of the mesh, as "sent via mesh gateway" (chapter 06 §3.7).
    case deposited
    /// Neither a relay nor a peer could take it.
    case noWayOut
    /// Without text, too long, of an invalid place, or with no cell to bridge to.
    case invalid
    /// The clock is not known well enough to date an event.
    case clockUntrusted
}
