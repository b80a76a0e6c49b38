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
        let template = EventTemplate.bridgeMessage(
            cell: cell.geohash, nickname: nickname ?? "", text: content, origin: (sender, radioTime))
        return VerifiedEvent.signed(
            template, createdAt: wall.unixSeconds, key: seed.bridge(cell: cell.geohash), using: &random)
    }

    /// Somebody is here: no nickname, no content.
    func presence(
        cell: String, at wall: WallTime, using random: inout some RandomNumberGenerator
    ) -> VerifiedEvent? {
        VerifiedEvent.signed(
            .bridgePresence(cell: cell), createdAt: wall.unixSeconds, key: seed.bridge(cell: cell), using: &random)
    }
}
