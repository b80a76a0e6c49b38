import Basics
import Nostr
import Wire

/// Decides what reaches the operator's eyes (chapter 05 §8.2, §8.3): each event once, within the limits, cut to bounds.
struct MessageDisplay {
    private var shown = BoundedSet<EventID>(capacity: GatewayLimits.rememberedIDs)
    private var limits = DisplayBuckets()

    /// Our own message is on the screen already.
    mutating func markShown(_ id: EventID) { shown.insert(id) }

    /// A location-channel message, or nil when it is not to be shown.
    mutating func channelMessage(_ event: VerifiedEvent, geohash: String, at now: Now) -> GatewayMessage? {
        let text = TextTrimming.trim(event.event.content)
        guard !text.isEmpty, text.count <= GatewayLimits.channelCharacters else { return nil }
        let nickname = DisplayName.nickname(of: event.event)
        return show(event, .channel(geohash: geohash), text, nickname: nickname, hint: nil, at: now)
    }

    mutating func bridgedMessage(
        _ event: VerifiedEvent, _ message: RendezvousMessage, cell: String, at now: Now
    ) -> GatewayMessage? {
        show(
            event, .bridge(cell: cell), message.text, nickname: message.nickname, hint: message.radioHint, at: now)
    }

    private mutating func show(
        _ event: VerifiedEvent, _ origin: GatewayMessage.Origin, _ text: String, nickname: String?, hint: String?,
        at now: Now
    ) -> GatewayMessage? {
        guard shown.insert(event.id) else { return nil }
        guard limits.admit(sender: event.author.hex, text: text, provenWork: event.proofOfWork, at: now.monotonic)
        else {
            return nil
        }
        return GatewayMessage(
            origin: origin, id: event.id, pubkey: event.author.hex, nickname: nickname, text: text,
            time: min(event.event.createdAt, now.wall.unixSeconds), radioHint: hint)
    }
}
