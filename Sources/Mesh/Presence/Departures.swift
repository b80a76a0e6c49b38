import Basics
import Wire

/// Who said goodbye lately, and when by their own clock. An announce that is not newer was overtaken by the goodbye, or
/// is replayed, and brings nobody back (chapter 03 B11.2).
struct Departures {
    private struct Departure {
        let said: WallTime
        let heard: Instant
    }

    private var departures: [PeerID: Departure] = [:]

    var count: Int { departures.count }

    /// A goodbye took effect. Of two the one said later counts.
    mutating func note(_ peer: PeerID, saidAt said: WallTime, at now: Instant) {
        if let known = departures[peer], isRemembered(known, at: now), known.said >= said { return }
        if departures[peer] == nil, departures.count >= MeshLimits.departureCapacity { makeRoom(at: now) }
        departures[peer] = Departure(said: said, heard: now)
    }

    /// Whether an announce of this time was made before its peer left, as far as is remembered.
    func outdate(_ peer: PeerID, announcedAt announced: WallTime, at now: Instant) -> Bool {
        guard let departure = departures[peer], isRemembered(departure, at: now) else { return false }
        return announced <= departure.said
    }

    mutating func forget(_ peer: PeerID) { departures[peer] = nil }

    private func isRemembered(_ departure: Departure, at now: Instant) -> Bool {
        now - departure.heard <= MeshLimits.departureLifetime
    }

    private mutating func makeRoom(at now: Instant) {
        departures = departures.filter { isRemembered($0.value, at: now) }
        guard departures.count >= MeshLimits.departureCapacity else { return }
        let oldest = departures.min { ($0.value.heard, $0.key) < ($1.value.heard, $1.key) }
        if let oldest { departures[oldest.key] = nil }
    }
}
