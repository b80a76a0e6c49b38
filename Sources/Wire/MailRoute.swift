/// What is known about the way a verified announce came (chapter 06 §6.3).
public enum AnnounceStanding: Hashable, Sendable {
    /// With its first TTL, over a link that the announcing peer's own handshake came in over, in a session that stands.
    case proven
    /// With its first TTL, which anybody can restore.
    case direct
    case relayed
}

/// How mail travels to a peer.
public enum MailRoute: Hashable, Sendable {
    /// Only over a link that the peer has proven: what is handed over for good.
    case provenLink
    /// Only over a link of the peer's: what it is asked to carry, of which more than one copy is about.
    case link
    /// On the chance that it arrives, over everybody in between.
    case flood
}
