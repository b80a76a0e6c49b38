import Basics
import Wire

/// So many uses a peer in a window that slides: what a peer may ask of us, and what we may ask of it (chapter 04 §6.1,
/// §7.1).
struct SyncRateLimit {
    private let fresh: SlidingWindow
    private var windows: [PeerID: SlidingWindow] = [:]

    init(limit: Int, window: Interval) { fresh = SlidingWindow(limit: limit, window: window) }

    var count: Int { windows.count }

    /// Records one use, or refuses it; a refused one leaves no trace.
    mutating func take(_ peer: PeerID, at now: Instant) -> Bool {
        if windows[peer] == nil, windows.count >= MeshLimits.peerCapacity {
            prune(at: now)
            guard windows.count < MeshLimits.peerCapacity else { return false }
        }
        return windows[peer, default: fresh].take(at: now)
    }

    mutating func prune(at now: Instant) {
        windows = windows.filter { entry in
            var window = entry.value
            return window.count(at: now) > 0
        }
    }
}
