import Basics
import Wire

/// The events the apps build, tag for tag in the order they emit them (chapter 05 §2). Geohashes are lower case and
/// text is taken as given; both are the caller's to check.
extension EventTemplate {
    /// A message in a location channel. Signed by the channel's own identity.
    public static func channelMessage(
        geohash: String, nickname: String = "", text: String, isTeleported: Bool = false
    ) -> EventTemplate {
        EventTemplate(
            kind: EventKind.channelMessage,
            tags: [["g", geohash]] + nicknameTag(nickname) + (isTeleported ? [["t", "teleport"]] : []), content: text)
    }

    public static func channelPresence(geohash: String) -> EventTemplate {
        EventTemplate(kind: EventKind.presence, tags: [["g", geohash]])
    }

    /// A mesh message mirrored to a rendezvous cell. Signed by the cell's bridge identity.
    ///
    /// - Parameter origin: sender and wire timestamp of the mesh packet the text came in, from which receivers
    ///   recognise their radio copy; a hint nobody may trust.
    public static func bridgeMessage(
        cell: String, nickname: String = "", text: String, origin: (sender: PeerID, timestamp: WallTime)? = nil
    ) -> EventTemplate {
        var tags = [["r", cell]] + nicknameTag(nickname)
        if let origin {
            let id = StableMessageID.make(sender: origin.sender, timestamp: origin.timestamp, content: text)
            tags.append(["m", id, origin.sender.hex, String(origin.timestamp.milliseconds)])
        }
        return EventTemplate(kind: EventKind.channelMessage, tags: tags, content: text)
    }

    public static func bridgePresence(cell: String) -> EventTemplate {
        EventTemplate(kind: EventKind.presence, tags: [["r", cell]])
    }

    /// A courier envelope left on relays. Signed by a key made for this one publication.
    ///
    /// - Parameters:
    ///   - recipientTag: the 16-byte rotating tag of chapter 02 §7.
    ///   - expiresAt: Unix seconds.
    public static func courierDrop(envelope: [UInt8], recipientTag: [UInt8], expiresAt: Int64) -> EventTemplate {
        EventTemplate(
            kind: EventKind.courierDrop,
            tags: [["x", Hex.encode(recipientTag)], ["expiration", String(expiresAt)]],
            content: Base64.encode(envelope))
    }

    /// A note pinned to a place.
    ///
    /// - Parameter expiresAt: Unix seconds.
    public static func locationNote(
        geohash: String, nickname: String = "", text: String, expiresAt: Int64? = nil, isUrgent: Bool = false
    ) -> EventTemplate {
        EventTemplate(
            kind: EventKind.locationNote,
            tags: [["g", geohash]] + nicknameTag(nickname)
                + (expiresAt.map { [["expiration", String($0)]] } ?? []) + (isUrgent ? [["t", "urgent"]] : []),
            content: text)
    }

    /// Asks relays to delete an own event (NIP-09).
    public static func deletion(of event: EventID) -> EventTemplate {
        EventTemplate(kind: EventKind.deletion, tags: [["e", event.hex]])
    }

    /// Answers a relay's challenge (NIP-42). Signed by a key made for this one answer.
    public static func authentication(relay: NostrRelayURL, challenge: String) -> EventTemplate {
        EventTemplate(kind: EventKind.authentication, tags: [["relay", relay.text], ["challenge", challenge]])
    }

    private static func nicknameTag(_ nickname: String) -> [[String]] {
        let nickname = TextTrimming.trim(nickname)
        return nickname.isEmpty ? [] : [["n", nickname]]
    }
}
