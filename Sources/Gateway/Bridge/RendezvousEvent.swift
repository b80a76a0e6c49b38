import Basics
import Nostr
import Wire

/// A bridge event after its structure checks (chapter 06 §4.8 `classify`).
struct RendezvousEvent {
    enum Body {
        case presence
        case message(RendezvousMessage)
    }

    let cell: String
    let body: Body

    /// The event of a `toBridge` or `fromBridge` carrier, and what it is.
    static func parse(
        _ carrier: NostrCarrier, at wall: WallTime
    ) throws(CarriageOutcome) -> (NostrEvent, RendezvousEvent) {
        let event = try CarriedEvent.parse(carrier)
        return (event, try classify(event, cell: carrier.geohash, at: wall))
    }

    static func classify(
        _ event: NostrEvent, cell: String, at wall: WallTime
    ) throws(CarriageOutcome) -> RendezvousEvent {
        guard Freshness.isFresh(event.createdAt, at: wall) else { throw .stale }
        guard event.hasTag("r", cell) else { throw .wrongTag }
        guard Geohash.isCanonical(cell) else { throw .invalidGeohash }
        switch event.kind {
        case EventKind.presence: return RendezvousEvent(cell: cell, body: .presence)
        case EventKind.channelMessage:
            return RendezvousEvent(cell: cell, body: .message(try RendezvousMessage(event)))
        default: throw .wrongKind
        }
    }

    /// The cell a relay's event belongs to: the value of the first tag named `r`, whatever other such tags say.
    static func firstCell(of event: NostrEvent) -> String? {
        event.tags.first { $0.first?.hasSameBytes(as: "r") ?? false }?.dropFirst().first
    }
}

/// A message across the bridge. Untrusted text.
struct RendezvousMessage {
    let text: String
    /// nil when blank or absent.
    let nickname: String?
    /// Stable ID of the radio message this one claims to be a copy of. Recomputed: the ID that the tag itself names is
    /// for 1.7.0 receivers and could reserve another message's slot.
    let radioHint: String?

    init(_ event: NostrEvent) throws(CarriageOutcome) {
        guard event.content.utf8.count <= GatewayLimits.contentBytes else { throw .tooLong }
        text = TextTrimming.trim(event.content)
        guard !text.isEmpty else { throw .blank }
        nickname = DisplayName.nickname(of: event)
        radioHint = RendezvousMessage.radioHint(of: event)
    }

    private static func radioHint(of event: NostrEvent) -> String? {
        let tag = event.tags.first { $0.count >= 4 && $0[0].hasSameBytes(as: "m") }
        guard let tag, let sender = PeerID(hex: tag[2]), let milliseconds = UInt64(tag[3]) else { return nil }
        return StableMessageID.make(
            sender: sender, timestamp: WallTime(milliseconds: milliseconds), content: event.content)
    }
}
