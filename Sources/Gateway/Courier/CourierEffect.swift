import Crypto
import Nostr
import Wire

/// Names an envelope on its way to a peer, for the answer of what became of it.
public enum MailTicket: Hashable, Sendable {
    /// For good: it is carried no longer once it is written.
    case handover(MailID, NoisePublicKey)
    case share(CourierShare, NoisePublicKey)
    /// A drop that was fetched from relays.
    case drop(MailID, NoisePublicKey)
    /// A copy; what it is of stays where it is.
    case speculative
}

/// What the courier wants done, in order.
public enum CourierEffect: Hashable, Sendable {
    /// Answer at once with `sent`: whether it was written whole to a link.
    case send(CourierEnvelope, to: PeerID, MailRoute, MailTicket)
    /// Begin a handshake, so that the peer's next announce may come over a proven link.
    case prove(PeerID)
    /// Mail for this box itself. Answer with `opened`.
    case open(CourierEnvelope, drop: EventID?)
    /// Leave it at the default relays, confirmed, over connections of its own. Answer with `published`.
    case publish(VerifiedEvent, DropAttempt)
    /// Ask the default relays.
    case subscribe(id: String, NostrFilter)
    case unsubscribe(id: String)
    /// Keep for `restore`, replacing an earlier record of this ID.
    case keep(CarriedEnvelope)
    case forget(MailID)
    /// Keep for `restore`.
    case remember(DealtDrop)
}
