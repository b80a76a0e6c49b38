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

/// How large a filter may grow, and how coarse.
public struct SyncFilterSizing: Sendable {
    /// Bytes of filter.
    public var budget: Int
    /// P: the finest that names every candidate within the budget is taken.
    public var parameters: ClosedRange<UInt8>
    /// Whether the counts of chapter 04 §6.2 bound the filter too.
    public var isCapped: Bool

    /// What phones ask with: 355 packets, and whatever is older is never asked for again.
    public static let reference = SyncFilterSizing(
        budget: SyncLimits.filterBytes, parameters: SyncLimits.filterParameter...SyncLimits.filterParameter,
        isCapped: true)

    /// What the box asks with. A request says from when on the requester wants to know, and never until when, so old
    /// packets can be asked for only by naming all newer ones too. The filter therefore grows to what every peer takes,
    /// and beyond it grows coarser. What a coarse filter hides by mistake, the next one, of another modulus, does not.
    public static let complete = SyncFilterSizing(
        budget: SyncLimits.largestFilterBytes,
        parameters: SyncLimits.smallestFilterParameter...SyncLimits.filterParameter, isCapped: false)

    /// Packets of these types that a filter names at most.
    func capacity(for types: SyncTypes) -> Int {
        let room = GCSFilter.capacity(bytes: budget, parameter: parameters.lowerBound)
        return isCapped ? min(room, Self.referenceCap(for: types)) : room
    }

    /// The finest P that has room for so many packets.
    func parameter(for count: Int) -> UInt8 {
        parameters.last { GCSFilter.capacity(bytes: budget, parameter: $0) >= count } ?? parameters.lowerBound
    }

    private static func referenceCap(for types: SyncTypes) -> Int {
        switch types {
        case .fragment: 600
        case .fileTransfer, .prekeyBundle, .boardPost: 200
        default: 1_000
        }
    }
}

/// Builds the payload of a REQUEST_SYNC (chapter 04 §6.2, §6.3).
public enum SyncRequestBuilder {
    /// - Parameters:
    ///   - fragmentFilter: text naming the stalled streams of a targeted request.
    ///   - variation: a number that differs from one request to the next; see `GCSFilter.build`.
    public static func request(
        for types: SyncTypes, _ inventory: SyncInventory, fragmentFilter: String? = nil,
        sizing: SyncFilterSizing = .reference, variation: UInt32 = 0, at now: WallTime
    ) -> RequestSync {
        let most = sizing.capacity(for: types)
        // One more than the filter takes tells whether it covers everything.
        let candidates = newest(most + 1, of: types, inventory, at: now)
        let (filter, covered) = GCSFilter.build(
            newestFirst: candidates.prefix(most).map(\.hash), budget: sizing.budget,
            parameter: sizing.parameter(for: min(candidates.count, most)), variation: variation)
        let isPartial = covered > 0 && covered < candidates.count
        return RequestSync(
            filter: filter, types: types, since: isPartial ? candidates[covered - 1].timestamp : nil,
            fragmentFilterText: fragmentFilter)
    }

    /// The packet a request to a neighbour travels in, yet to be signed.
    public static func packet(_ payload: [UInt8], from me: PeerID, to peer: PeerID, at now: WallTime) -> Packet {
        Packet(
            type: .requestSync, ttl: 0, timestamp: now, senderID: me, recipientID: peer, payload: payload)
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
            candidates += inventory.board.map(SyncCandidate.init)
        }
        return Array(candidates.sorted(by: >).prefix(most))
    }

    private static func fresh(_ shelf: GossipShelf, for age: UInt64, at now: WallTime) -> [SyncCandidate] {
        let cutoff = now.cutoff(age: age)
        return shelf.inOrder.filter { $0.timestamp >= cutoff }.map(SyncCandidate.init)
    }
}
