import Basics
import Crypto
import Nostr
import Wire

/// Drops that were fetched for a neighbour and could not be handed to it yet (chapter 06 §5.6). In memory only: the
/// relays keep them.
struct UndeliveredDrops {
    struct Drop {
        let id: MailID
        let envelope: CourierEnvelope
        let addressee: NoisePublicKey
        /// Every event it came in.
        var events: [EventID]
        var lastSpeculative: WallTime?
    }

    private var drops: [Drop] = []

    var count: Int { drops.count }
    var isEmpty: Bool { drops.isEmpty }

    subscript(id: MailID) -> Drop? { drops.first { $0.id == id } }

    /// Of whom most wait, the largest makes room, of equals the longest waiting: relays tell it again, and whoever
    /// leaves many drops for one addressee pushes out no others', nor by large ones the small.
    mutating func add(_ envelope: CourierEnvelope, for addressee: NoisePublicKey, from event: EventID) {
        let id = MailID(envelope)
        if let index = drops.firstIndex(where: { $0.id == id }) {
            if drops[index].events.count < CourierLimits.undelivered { drops[index].events.append(event) }
            return
        }
        if drops.count >= CourierLimits.undelivered { removeLargestOfMost() }
        drops.append(Drop(id: id, envelope: envelope, addressee: addressee, events: [event], lastSpeculative: nil))
    }

    private mutating func removeLargestOfMost() {
        var counts: [NoisePublicKey: Int] = [:]
        for drop in drops { counts[drop.addressee, default: 0] += 1 }
        let most = counts.values.max()
        let candidates = drops.indices.filter { counts[drops[$0].addressee] == most }
        let largest = candidates.map { drops[$0].envelope.ciphertext.count }.max()
        let victim = candidates.first { drops[$0].envelope.ciphertext.count == largest }
        if let victim { drops.remove(at: victim) }
    }

    func waiting(for addressee: NoisePublicKey) -> [Drop] { drops.filter { $0.addressee == addressee } }

    func speculative(for addressee: NoisePublicKey, at now: WallTime) -> [Drop] {
        waiting(for: addressee).filter { drop in
            drop.lastSpeculative.map { now.distance(to: $0) >= CourierLimits.remoteHandoverPause } ?? true
        }
    }

    mutating func sentSpeculatively(_ id: MailID, at now: WallTime) {
        if let index = drops.firstIndex(where: { $0.id == id }) { drops[index].lastSpeculative = now }
    }

    /// - Returns: the events it came in, none of which needs to be told again.
    mutating func delivered(_ id: MailID) -> [EventID] {
        defer { drops.removeAll { $0.id == id } }
        return self[id]?.events ?? []
    }

    mutating func prune(at now: WallTime) { drops.removeAll { $0.envelope.isExpired(at: now) } }
}
