import Basics

/// Puts fragments together again, within caps (chapter 01 §9.9, chapter 03 B12).
///
/// A set of fragments is keyed by sender and stream ID. Every fragment's own total counts: fragments are easily forged,
/// so one that contradicts the others must not throw the set away.
public struct FragmentAssembler: Sendable {
    /// Over a cap the set that started earliest is evicted; over a cap of one sender, the earliest on the link that
    /// holds most in that sender's name, since names are easily forged and links are not.
    public struct Limits: Sendable {
        /// Sets in flight.
        public var sets = 128
        /// Slice bytes of one set; the larger cap is for files and encrypted packets, which may hold files.
        public var bytesPerSet = 1_048_576
        public var bytesPerFileSet = WireLimits.payload
        /// Sets and bytes held for one sender, and for one ingress link.
        public var setsPerSource = 16
        public var bytesPerSource = 2_097_152
        /// Bytes over all sets, `FragmentAssembler.overhead` for every slice included.
        public var bytes = 8_388_608
        /// From the first fragment.
        public var lifetime = Interval.seconds(30)
        public var refusesNestedFragments = true

        public init() {}
    }

    public enum Outcome: Hashable, Sendable {
        /// Held; `opened` when it began a new set.
        case stored(opened: Bool)
        /// The joined slices; the set is gone.
        case complete([UInt8])
        /// The set would have become larger than a cap and was discarded.
        case oversized(projected: Int, limit: Int)
        /// A fragment of fragments.
        case refused
    }

    struct Key: Hashable {
        let sender: PeerID
        let streamID: FragmentStreamID
    }

    /// Charged per held slice, so that empty slices are not free.
    static let overhead = 64

    public let limits: Limits
    /// Few enough that whatever concerns one sender or link is found by looking at them all.
    private var sets: [Key: FragmentSet] = [:]
    private var opened: UInt64 = 0

    public init(limits: Limits = Limits()) { self.limits = limits }

    public var count: Int { sets.count }
    /// What counts against `Limits.bytes`.
    public var bytes: Int { sets.values.reduce(0) { $0 + $1.charge } }

    /// Takes in one fragment.
    ///
    /// - Parameter isBroadcast: Only broadcast trains can be asked for again (chapter 04 §6.5).
    public mutating func add(
        _ header: FragmentHeader, slice: UnsafeRawBufferPointer, sender: PeerID, link: LinkID,
        isBroadcast: Bool = true, at now: Instant
    ) -> Outcome {
        guard !limits.refusesNestedFragments || header.originalType != .fragment else { return .refused }
        let key = Key(sender: sender, streamID: header.streamID)
        let known = sets.index(forKey: key)
        guard let position = known ?? open(key, link: link, isBroadcast: isBroadcast, at: now) else { return .refused }

        let isFile = header.originalType == .fileTransfer || header.originalType == .noiseEncrypted
        let limit = isFile ? limits.bytesPerFileSet : limits.bytesPerSet
        let projected = sets.values[position].bytes + slice.count
        guard projected <= limit else {
            sets.remove(at: position)
            return .oversized(projected: projected, limit: limit)
        }
        sets.values[position].hold(slice, at: header.index, now)
        if sets.values[position].held == Int(header.total) {
            return .complete(sets.remove(at: position).value.joined(total: header.total))
        }
        guard evict(around: key, link: sets.values[position].link) else {
            return .oversized(projected: projected, limit: min(limits.bytesPerSource, limits.bytes))
        }
        return .stored(opened: known == nil)
    }

    /// Drops the sets older than their lifetime.
    /// - Returns: How many.
    public mutating func expire(at now: Instant) -> Int {
        let expired = sets.filter { now - $0.value.started > limits.lifetime }.map(\.key)
        for key in expired { sets[key] = nil }
        return expired.count
    }

    /// Broadcast sets that had no new fragment for `idle` and were not returned within `retry`: longest stalled first,
    /// ties by sender and stream ID, at most `most`. The returned ones count as asked for (chapter 04 §6.5).
    public mutating func takeStalled(
        idle: Interval, retry: Interval, most: Int, at now: Instant
    ) -> [FragmentStreamID] {
        let stalled = sets.filter { _, set in
            set.isBroadcast && now - set.progressed >= idle && set.requested.map { now - $0 >= retry } ?? true
        }
        let chosen = stalled.sorted { a, b in
            (a.value.progressed, a.key.sender, a.key.streamID) < (b.value.progressed, b.key.sender, b.key.streamID)
        }.prefix(most)
        for (key, _) in chosen { sets[key]?.requested = now }
        return chosen.map(\.key.streamID)
    }

    // MARK: Caps

    private mutating func open(
        _ key: Key, link: LinkID, isBroadcast: Bool, at now: Instant
    ) -> Dictionary<Key, FragmentSet>.Index? {
        while sets.count(where: { $0.key.sender == key.sender }) >= limits.setsPerSource,
            let victim = mostDispensable(of: key.sender, for: link, by: { _ in 1 })
        {
            sets[victim] = nil
        }
        evictOldest(whileMoreThan: limits.setsPerSource - 1) { _, set in set.link == link }
        evictOldest(whileMoreThan: limits.sets - 1) { _, _ in true }
        sets[key] = FragmentSet(order: opened, started: now, link: link, isBroadcast: isBroadcast)
        opened += 1
        return sets.index(forKey: key)
    }

    private mutating func evictOldest(whileMoreThan most: Int, where concerns: (Key, FragmentSet) -> Bool) {
        while true {
            var count = 0
            var oldest: (key: Key, order: UInt64)?
            for (key, set) in sets where concerns(key, set) {
                count += 1
                if set.order < oldest?.order ?? .max { oldest = (key, set.order) }
            }
            guard count > most, let oldest else { return }
            sets[oldest.key] = nil
        }
    }

    /// Of one sender's sets the earliest on the link that has most of them; of links with as much, the newcomer's. The
    /// spared set goes only when that link has no other.
    private func mostDispensable(
        of sender: PeerID, for newcomer: LinkID, sparing spared: Key? = nil, by size: (FragmentSet) -> Int
    ) -> Key? {
        var sizes: [LinkID: Int] = [:]
        for (key, set) in sets where key.sender == sender { sizes[set.link, default: 0] += size(set) }
        let rank = { (key: Key, set: FragmentSet) -> (Int, Int, Int, UInt64) in
            (sizes[set.link] ?? 0, set.link == newcomer ? 1 : 0, key == spared ? 0 : 1, ~set.order)
        }
        return sets.filter { $0.key.sender == sender }.max { rank($0.key, $0.value) < rank($1.key, $1.value) }?.key
    }

    /// Evicts other sets until the byte caps hold; when there is no other, gives up `key` itself.
    /// - Returns: Whether `key` is still held.
    private mutating func evict(around key: Key, link: LinkID) -> Bool {
        while true {
            var total = 0
            var ofSender = 0
            var ofLink = 0
            for (other, set) in sets {
                total += set.charge
                if other.sender == key.sender { ofSender += set.charge }
                if set.link == link { ofLink += set.charge }
            }
            let senderIsOver = ofSender > limits.bytesPerSource
            let linkIsOver = ofLink > limits.bytesPerSource
            guard senderIsOver || linkIsOver || total > limits.bytes else { return true }
            if senderIsOver, let victim = mostDispensable(of: key.sender, for: link, sparing: key, by: \.charge) {
                sets[victim] = nil
                if victim == key { return false }
                continue
            }
            let candidates = sets.lazy.filter { other, set in
                other != key && !senderIsOver && (!linkIsOver || set.link == link)
            }
            guard let oldest = candidates.min(by: { $0.value.order < $1.value.order })?.key else {
                sets[key] = nil
                return false
            }
            sets[oldest] = nil
        }
    }
}

/// The fragments held of one parent.
private struct FragmentSet: Sendable {
    /// Number among all sets ever opened.
    let order: UInt64
    let started: Instant
    /// Ingress link of the first fragment.
    let link: LinkID
    let isBroadcast: Bool
    /// When a fragment last filled a gap; copies are no progress.
    private(set) var progressed: Instant
    var requested: Instant?
    private(set) var bytes = 0
    private var slices: [UInt16: [UInt8]] = [:]

    init(order: UInt64, started: Instant, link: LinkID, isBroadcast: Bool) {
        self.order = order
        self.started = started
        self.link = link
        self.isBroadcast = isBroadcast
        progressed = started
    }

    var held: Int { slices.count }
    var charge: Int { bytes + slices.count * FragmentAssembler.overhead }

    mutating func hold(_ slice: UnsafeRawBufferPointer, at index: UInt16, _ now: Instant) {
        bytes += slice.count
        if let replaced = slices.updateValue([UInt8](slice), forKey: index) {
            bytes -= replaced.count
        } else {
            progressed = now
        }
    }

    /// Slices 0 ..< total in order, those that are missing left out: the decoder refuses the result then.
    func joined(total: UInt16) -> [UInt8] {
        var joined = [UInt8]()
        joined.reserveCapacity(bytes)
        for index in 0..<total {
            if let slice = slices[index] { joined.append(contentsOf: slice) }
        }
        return joined
    }
}
