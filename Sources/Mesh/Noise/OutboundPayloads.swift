import Basics
import Wire

/// Typed payloads on their way into sessions, one queue a peer: whatever goes to a peer leaves in this order (chapter
/// 02 §3.5, §4.12).
struct OutboundPayloads {
    private struct Entry {
        let payload: NoisePayload
        let since: Instant
    }

    private var queues: [PeerID: Queue<Entry>] = [:]
    private(set) var count = 0
    private(set) var bytes = 0

    /// Peers with something to send, in the order of their IDs.
    var peers: [PeerID] { queues.keys.sorted() }
    func count(for peer: PeerID) -> Int { queues[peer]?.count ?? 0 }
    func isEmpty(for peer: PeerID) -> Bool { queues[peer] == nil }

    /// - Returns: false when there is no room.
    mutating func add(_ payload: NoisePayload, for peer: PeerID, at now: Instant) -> Bool {
        guard count < NoiseSessionLimits.queuedTotal, count(for: peer) < NoiseSessionLimits.queuedPerPeer,
            bytes + payload.body.count <= NoiseSessionLimits.queuedBytes
        else { return false }
        queues[peer, default: Queue()].append(Entry(payload: payload, since: now))
        count += 1
        bytes += payload.body.count
        return true
    }

    func first(for peer: PeerID) -> NoisePayload? { queues[peer]?.first?.payload }

    @discardableResult
    mutating func takeFirst(for peer: PeerID) -> NoisePayload? {
        guard let entry = queues[peer]?.popFirst() else { return nil }
        if queues[peer]?.isEmpty ?? false { queues[peer] = nil }
        count -= 1
        bytes -= entry.payload.body.count
        return entry.payload
    }

    /// Takes out what has waited for too long.
    mutating func takeExpired(at now: Instant) -> [(peer: PeerID, payload: NoisePayload)] {
        var expired: [(PeerID, NoisePayload)] = []
        for peer in peers {
            while let entry = queues[peer]?.first, now - entry.since > NoiseSessionLimits.queuedLife {
                if let payload = takeFirst(for: peer) { expired.append((peer, payload)) }
            }
        }
        return expired
    }

    mutating func removeAll() { self = OutboundPayloads() }
}
