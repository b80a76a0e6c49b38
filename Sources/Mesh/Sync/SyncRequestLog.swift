import Basics
import Wire

/// When each peer was last asked for which types (chapter 04 §6.4, §8.2): answers of those types are welcome for 30 s.
/// Not used up by answers, since many packets answer one request.
public struct SyncRequestLog: Sendable {
    /// Nanoseconds at which a type was last asked for, by position in `families`; `.min` for never.
    private var asked: [PeerID: SIMD8<Int64>] = [:]

    private static let families: [SyncTypes] = [
        .announce, .message, .fragment, .fileTransfer, .boardPost, .prekeyBundle, .groupMessage,
    ]
    /// Every type a request can bring an answer of.
    static let answerable = families.reduce(into: SyncTypes()) { $0.formUnion($1) }

    public init() {}

    /// - Parameter types: what was asked for; everything when not said.
    public mutating func noteRequest(to peer: PeerID, types: SyncTypes? = nil, at now: Instant) {
        if asked[peer] == nil, asked.count >= MeshLimits.syncRequestCapacity {
            prune(at: now)
            guard asked.count < MeshLimits.syncRequestCapacity else { return }
        }
        var times = asked[peer] ?? SIMD8(repeating: .min)
        for (position, family) in SyncRequestLog.families.enumerated() where types?.isSuperset(of: family) ?? true {
            times[position] = now.nanoseconds
        }
        asked[peer] = times
    }

    /// The types whose answers are welcome from a peer now.
    public func open(for peer: PeerID, at now: Instant) -> SyncTypes {
        guard let times = asked[peer] else { return [] }
        let since = (now - MeshLimits.syncAnswerWindow).nanoseconds
        var types: SyncTypes = []
        for (position, family) in SyncRequestLog.families.enumerated()
        where times[position] != .min && times[position] >= since {
            types.formUnion(family)
        }
        return types
    }

    public mutating func prune(at now: Instant) {
        let since = (now - MeshLimits.syncAnswerWindow).nanoseconds
        asked = asked.filter { $0.value.max() >= since }
    }

    public mutating func removeAll() { asked.removeAll() }
}
