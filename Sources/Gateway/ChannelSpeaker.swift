import Basics
import Crypto
import Nostr
import Wire

/// Composes the operator's location-channel messages (chapter 05 §8.1, chapter 06 §3.7).
struct ChannelSpeaker {
    let seed: DeviceSeed

    /// A signed channel message under the geohash's own identity; nil without text or for an invalid geohash.
    func compose(
        _ text: String, geohash: String, nickname: String?, isTeleported: Bool, at wall: WallTime,
        using random: inout some RandomNumberGenerator
    ) -> VerifiedEvent? {
        let content = TextTrimming.trim(text)
        guard !content.isEmpty, content.utf8.count <= GatewayLimits.contentBytes, Geohash.isCanonical(geohash) else {
            return nil
        }
        var tags = [["g", geohash]]
        if let nickname = Nickname.shown(nickname) { tags.append(["n", nickname]) }
        if isTeleported { tags.append(["t", "teleport"]) }
        return VerifiedEvent.signed(
            kind: EventKind.channelMessage, tags: tags, content: content, createdAt: wall.unixSeconds,
            key: seed.channel(geohash), using: &random)
    }
}
