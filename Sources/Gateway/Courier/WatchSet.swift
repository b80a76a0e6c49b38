import Basics
import Crypto
import Nostr
import Wire

/// The neighbours whose mail relays are asked for: stable, by how recently each was heard, and in groups that each fill
/// one filter, so that a coming or going re-opens one subscription and no other (chapter 06 §5.5).
struct WatchSet {
    struct Watched {
        let peer: PeerID
        let key: NoisePublicKey
        var heard: Instant
        /// Once a link of the peer was proven, an invented identity cannot take its place.
        var isProven: Bool
    }

    /// Nil where somebody left and nobody took the place yet. The first place of all is the box's own.
    private var places: [Watched?] = []
    private let own: NoisePublicKey
    private let capacity: Int

    init(own: NoisePublicKey, capacity: Int = CourierLimits.watchedPeers) {
        self.own = own
        self.capacity = capacity
    }

    var watched: [Watched] { places.compactMap { $0 } }
    var count: Int { watched.count }

    /// - Returns: whether the set changed.
    mutating func heard(_ peer: PeerID, _ key: NoisePublicKey, isProven: Bool, at now: Instant) -> Bool {
        if let index = places.firstIndex(where: { $0?.key == key }) {
            places[index]?.heard = now
            if isProven { places[index]?.isProven = true }
            return false
        }
        let newcomer = Watched(peer: peer, key: key, heard: now, isProven: isProven)
        if let free = places.firstIndex(where: { $0 == nil }) {
            places[free] = newcomer
        } else if places.count < capacity {
            places.append(newcomer)
        } else if let victim = replaceable(by: newcomer, at: now) {
            places[victim] = newcomer
        } else {
            return false
        }
        return true
    }

    private func replaceable(by newcomer: Watched, at now: Instant) -> Int? {
        let candidates = places.indices.filter { index in
            guard let watched = places[index] else { return false }
            if newcomer.isProven, !watched.isProven { return true }
            return now - watched.heard > CourierLimits.watchReach && (newcomer.isProven || !watched.isProven)
        }
        return candidates.min { (places[$0]?.heard ?? .zero) < (places[$1]?.heard ?? .zero) }
    }

    /// Lets go of whoever has been gone for long.
    /// - Returns: whether the set changed.
    mutating func prune(at now: Instant) -> Bool {
        let before = count
        for index in places.indices {
            if let watched = places[index], now - watched.heard > CourierLimits.watchAge { places[index] = nil }
        }
        while let last = places.last, last == nil { places.removeLast() }
        return count != before
    }

    /// When to remove the first peer that is gone.
    var nextDeparture: Instant? {
        watched.map(\.heard).min().map { $0 + CourierLimits.watchAge + CourierLimits.watchGrace }
    }

    /// Whose mail this may be: the one longest in the set whose tags fit.
    func addressee(of tag: [UInt8], in memory: inout TagMemory, at now: WallTime) -> Watched? {
        watched.first { memory.tags(of: $0.key, at: now).contains(tag) }
    }

    /// The tag values of each filter, sorted, in hex.
    func tagGroups(from memory: inout TagMemory, at now: WallTime) -> [[String]] {
        let keys: [NoisePublicKey?] = [own] + places.map { $0?.key }
        return stride(from: 0, to: keys.count, by: CourierLimits.keysPerFilter).map { start in
            keys[start..<min(start + CourierLimits.keysPerFilter, keys.count)].compactMap { $0 }
                .flatMap { memory.tags(of: $0, at: now).tags }.map(Hex.encode).sorted()
        }
    }
}
