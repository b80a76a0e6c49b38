import Basics
import Crypto
import Nostr
import Wire

/// Composes the rendezvous copies of the operator's own public messages (chapter 06 §4.2, §4.6). Only their author may
/// do this: a neighbour's radio message is nobody else's to publish (chapter 06 §4.1).
struct PhoneBridge {
    let seed: DeviceSeed

    /// - Parameters:
    ///   - sender: our peer ID, as in the radio packet.
    ///   - radioTime: the radio packet's timestamp; the event itself is dated `wall`.
    /// - Returns: nil without text or for one longer than 16 000 bytes.
    func message(
        _ text: String, cell: RendezvousCell, sender: PeerID, radioTime: WallTime, nickname: String?, at wall: WallTime,
        using random: inout some RandomNumberGenerator
    ) -> VerifiedEvent? {
        let content = TextTrimming.trim(text)
        guard !content.isEmpty, content.utf8.count <= GatewayLimits.contentBytes else { return nil }
        var tags = [["r", cell.geohash]]
        if let nickname = Nickname.shown(nickname) { tags.append(["n", nickname]) }
        let stableID = StableMessageID.make(sender: sender, timestamp: radioTime, content: content)
        tags.append(["m", stableID, sender.hex, String(radioTime.milliseconds)])
        return VerifiedEvent.signed(
            kind: EventKind.channelMessage, tags: tags, content: content, createdAt: wall.unixSeconds,
            key: seed.bridge(cell: cell.geohash), using: &random)
    }

    /// Somebody is here: no nickname, no content.
    func presence(
        cell: String, at wall: WallTime, using random: inout some RandomNumberGenerator
    ) -> VerifiedEvent? {
        VerifiedEvent.signed(
            kind: EventKind.presence, tags: [["r", cell]], content: "", createdAt: wall.unixSeconds,
            key: seed.bridge(cell: cell), using: &random)
    }
}
