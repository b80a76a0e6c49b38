import Basics
import Wire

/// How often handshakes are begun and answered (chapter 02 §4.9). A refusal consumes nothing.
///
/// A peer ID in a packet is anybody's to write. So what comes in over a peer's own link has a count of its own, of
/// which handshakes in its name from elsewhere can take nothing; and no link can take more than its share of the whole.
struct HandshakeRates {
    /// What a handshake message came in on, as far as its sender is concerned.
    enum Origin: Hashable {
        /// A link bound to the sender, or any link while it has none.
        case likely
        /// Another link than the sender's own.
        case elsewhere
    }

    private struct Source: Hashable {
        let peer: PeerID
        let origin: Origin
    }

    private var peers: [Source: SlidingWindow] = [:]
    private var towards: [PeerID: SlidingWindow] = [:]
    private var links: [LinkID: SlidingWindow] = [:]
    private var whole = SlidingWindow(limit: NoiseSessionLimits.handshakes, window: NoiseSessionLimits.rateWindow)

    var count: Int { peers.count + towards.count }

    /// Charges one own start, and the message it sends.
    mutating func admitStart(with peer: PeerID, at now: Instant) -> Bool {
        makeRoom(at: now)
        var source = window(peers, Source(peer: peer, origin: .likely), limit: NoiseSessionLimits.handshakesPerPeer)
        var target = window(towards, peer, limit: NoiseSessionLimits.handshakesPerPeer)
        guard source.take(at: now), target.take(at: now) else { return false }
        peers[Source(peer: peer, origin: .likely)] = source
        towards[peer] = target
        return true
    }

    /// Charges one received message, and the answer it may draw.
    mutating func admitReceived(from peer: PeerID, _ origin: Origin, on link: LinkID, at now: Instant) -> Bool {
        makeRoom(at: now)
        let key = Source(peer: peer, origin: origin)
        let limit =
            origin == .likely ? NoiseSessionLimits.handshakesPerPeer : NoiseSessionLimits.handshakesElsewhere
        var source = window(peers, key, limit: limit)
        var ingress = window(links, link, limit: NoiseSessionLimits.handshakesPerLink)
        var target = window(towards, peer, limit: NoiseSessionLimits.handshakesPerPeer)
        guard target.count(at: now) < target.limit, source.take(at: now), ingress.take(at: now), whole.take(at: now)
        else { return false }
        peers[key] = source
        links[link] = ingress
        return true
    }

    /// Charges an own start that something unproven on a link gave cause for, before it is charged to the peer.
    mutating func admitCause(on link: LinkID, at now: Instant) -> Bool {
        var ingress = window(links, link, limit: NoiseSessionLimits.handshakesPerLink)
        guard ingress.take(at: now), whole.take(at: now) else { return false }
        links[link] = ingress
        return true
    }

    /// Counts an answer sent.
    mutating func noteSent(to peer: PeerID, at now: Instant) {
        var target = window(towards, peer, limit: NoiseSessionLimits.handshakesPerPeer)
        _ = target.take(at: now)
        towards[peer] = target
    }

    mutating func forget(_ link: LinkID) { links[link] = nil }

    private func window<Key: Hashable>(
        _ windows: [Key: SlidingWindow], _ key: Key, limit: Int
    ) -> SlidingWindow {
        windows[key] ?? SlidingWindow(limit: limit, window: NoiseSessionLimits.rateWindow)
    }

    /// Full tables lose what no longer counts; what does is bound by the windows themselves.
    private mutating func makeRoom(at now: Instant) {
        guard peers.count >= NoiseSessionLimits.ratedPeers || towards.count >= NoiseSessionLimits.ratedPeers else {
            return
        }
        peers = HandshakeRates.counting(peers, at: now)
        towards = HandshakeRates.counting(towards, at: now)
    }

    private static func counting<Key: Hashable>(
        _ windows: [Key: SlidingWindow], at now: Instant
    ) -> [Key: SlidingWindow] {
        windows.filter { entry in
            var window = entry.value
            return window.count(at: now) > 0
        }
    }
}
