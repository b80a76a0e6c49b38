import Basics
import Wire

/// Transport messages that came before the third handshake message, kept to be tried once behind it (chapter 02 §4.11).
struct EarlyCiphertexts {
    private struct Entry {
        let peer: PeerID
        let link: LinkID
        let message: [UInt8]
        let arrived: Instant
    }

    /// In order of arrival.
    private var entries: [Entry] = []
    private var bytes = 0

    var count: Int { entries.count }
    var heldBytes: Int { bytes }

    /// - Returns: false when there is no room.
    mutating func add(_ message: [UInt8], from peer: PeerID, on link: LinkID, at now: Instant) -> Bool {
        removeAll { now - $0.arrived > NoiseSessionLimits.earlyLife }
        guard entries.count < NoiseSessionLimits.earlyTotal,
            bytes + message.count <= NoiseSessionLimits.earlyBytes,
            entries.count(where: { $0.link == link }) < NoiseSessionLimits.earlyPerLink,
            entries.count(where: { $0.peer == peer }) < NoiseSessionLimits.earlyPerPeer
        else { return false }
        entries.append(Entry(peer: peer, link: link, message: message, arrived: now))
        bytes += message.count
        return true
    }

    /// The peer's messages, in order of arrival, taken out.
    mutating func take(of peer: PeerID, at now: Instant) -> [[UInt8]] {
        removeAll { now - $0.arrived > NoiseSessionLimits.earlyLife }
        let taken = entries.filter { $0.peer == peer }.map(\.message)
        removeAll { $0.peer == peer }
        return taken
    }

    mutating func removeAll() { self = EarlyCiphertexts() }

    private mutating func removeAll(where isGone: (Entry) -> Bool) {
        for entry in entries where isGone(entry) { bytes -= entry.message.count }
        entries.removeAll(where: isGone)
    }
}
