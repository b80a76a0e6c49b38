import Basics
import Wire

/// What is held, as the parts of sync see it.
public struct SyncInventory {
    public var store: GossipStore
    /// What the board offers: posts in order of arrival, then tombstones.
    public var board: [GossipEntry]

    public init(store: GossipStore, board: [GossipEntry] = []) {
        self.store = store
        self.board = board
    }
}

/// Builds the payload of a REQUEST_SYNC (chapter 04 §6.2, §6.3).
public enum SyncRequestBuilder {
    /// - Parameter fragmentFilter: text naming the stalled streams of a targeted request.
    public static func request(
        for types: SyncTypes, _ inventory: SyncInventory, fragmentFilter: String? = nil, at now: WallTime
    ) -> RequestSync {
        let budget = SyncLimits.filterBytes
        let parameter = SyncLimits.filterParameter
        let most = min(GCSFilter.capacity(bytes: budget, parameter: parameter), largestFilter(for: types))
        // One more than the filter takes tells whether it covers everything.
        let candidates = newest(most + 1, of: types, inventory, at: now)
        let (filter, covered) = GCSFilter.build(
            newestFirst: candidates.prefix(most).map { GCSHash($0.id) }, budget: budget, parameter: parameter)
        let isPartial = covered > 0 && covered < candidates.count
        return RequestSync(
            filter: filter, types: types, since: isPartial ? candidates[covered - 1].timestamp : nil,
            fragmentFilterText: fragmentFilter)
    }

    private static func largestFilter(for types: SyncTypes) -> Int {
        switch types {
        case .fragment: 600
        case .fileTransfer, .prekeyBundle, .boardPost: 200
        default: 1_000
        }
    }

    /// Everything that is fresh and of these types, newest first, at most `most`.
    static func newest(
        _ most: Int, of types: SyncTypes, _ inventory: SyncInventory, at now: WallTime
    ) -> [SyncCandidate] {
        let store = inventory.store
        var candidates: [SyncCandidate] = []
        if types.contains(.message) { candidates += store.messages.newest(most, at: now) }
        if types.contains(.fragment) { candidates += store.fragments.newest(most, at: now) }
        if types.contains(.fileTransfer) { candidates += store.files.newest(most, at: now) }
        if types.contains(.groupMessage) { candidates += store.groupMessages.newest(most, at: now) }
        if types.contains(.announce) {
            candidates += fresh(store.announces, for: SyncLimits.announceMaxAgeMilliseconds, at: now)
        }
        if types.contains(.prekeyBundle) {
            candidates += fresh(store.prekeys, for: SyncLimits.prekeyMaxAgeMilliseconds, at: now)
        }
        if types.contains(.boardPost) {
            candidates += inventory.board.map { SyncCandidate(timestamp: $0.timestamp, id: $0.id) }
        }
        return Array(candidates.sorted(by: >).prefix(most))
    }

    private static func fresh(_ shelf: GossipShelf, for age: UInt64, at now: WallTime) -> [SyncCandidate] {
        let cutoff = now.cutoff(age: age)
        return shelf.inOrder.filter { $0.timestamp >= cutoff }
            .map { SyncCandidate(timestamp: $0.timestamp, id: $0.id) }
    }
}
