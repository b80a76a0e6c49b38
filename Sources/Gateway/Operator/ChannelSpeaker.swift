import Basics
import Crypto
import Nostr
import Wire

/// Composes the operator's location-channel messages (chapter 05 §8.1, chapter 06 §3.7).
struct ChannelSpeaker {
    let seed: DeviceSeed

    /// A signed channel message under the geohash's own identity, with the work that phones expect; nil without text or
    /// for an invalid geohash.
    func compose(
        _ text: String, geohash: String, nickname: String?, isTeleported: Bool, at now: Now,
        using random: inout some RandomNumberGenerator
    ) -> VerifiedEvent? {
        let content = TextTrimming.trim(text)
        guard !content.isEmpty, content.utf8.count <= GatewayLimits.contentBytes, Geohash.isCanonical(geohash) else {
            return nil
        }
        let template = EventTemplate.channelMessage(
            geohash: geohash, nickname: nickname ?? "", text: content, isTeleported: isTeleported)
        let key = seed.channel(geohash)
        let mined = mine(template, author: key.publicKey, at: now, using: &random)
        return VerifiedEvent.signed(mined, createdAt: now.wall.unixSeconds, key: key, using: &random)
    }

    /// Mining never prevents sending: after some 4000 hashes, in which an 8-bit target is missed once in ten million
    /// messages, the miner is told that its time is up and lowers the target.
    private func mine(
        _ template: EventTemplate, author: NostrPublicKey, at now: Now, using random: inout some RandomNumberGenerator
    ) -> EventTemplate {
        var miner = ProofOfWorkMiner(
            template, author: author, createdAt: now.wall.unixSeconds, nonce: random.next(), at: now.monotonic)
        var time = now.monotonic
        var slices = 0
        while true {
            if let event = miner.mine(at: time) {
                return EventTemplate(kind: event.kind, tags: event.tags, content: event.content)
            }
            slices += 1
            if slices >= GatewayLimits.miningSlices { time = time + ProofOfWorkMiner.budget }
        }
    }
}
