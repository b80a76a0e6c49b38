import Basics

/// Puts fragments together again, within caps (chapter 01 §9.9, chapter 03 B12).
///
/// A set of fragments is keyed by sender and stream ID. Every fragment's own total counts: fragments are easily forged,
/// so one that contradicts the others must not throw the set away.
public struct FragmentAssembler: Sendable {
    /// What is evicted over a cap is always the set that started earliest.
    public struct Limits: Sendable {
        /// Sets in flight.
        public var sets = 128
        /// Slice bytes of one set; the larger cap is for files and encrypted packets, which may hold files.
        public var bytesPerSet = 1_048_576
        public var bytesPerFileSet = 1_179_760
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

    enum Source: Hashable {
        case sender(PeerID)
        case link(LinkID)
    }

    /// Charged per held slice, so that empty slices are not free.
    static let overhead = 64

    public let limits: Limits
    private var sets: [Key: FragmentSet] = [:]
    private var usage: [Source: (sets: Int, bytes: Int)] = [:]
    private var heldBytes = 0
    private var opened: UInt64 = 0

    public init(limits: Limits = Limits()) { self.limits = limits }

    public var count: Int { sets.count }
    public var bytes: Int { heldBytes }

    /// Takes in one fragment.
    ///
    /// - Parameter isBroadcast: Only broadcast trains can be asked for again (chapter 04 §6.5).
    public mutating func add(
        _ header: FragmentHeader, slice: UnsafeRawBufferPointer, sender: PeerID, link: LinkID,
        isBroadcast: Bool = true, at now: Instant
    ) -> Outcome {
        guard !limits.refusesNestedFragments || header.originalType != .fragment else { return .refused }
        let key = Key(sender: sender, streamID: header.streamID)
        var isNew = false
        if sets[key] == nil {
            makeRoom(sender: sender, link: link)
            open(key, FragmentSet(order: opened, started: now, link: link, isBroadcast: isBroadcast))
            opened += 1
            isNew = true
        }
        guard let position = sets.index(forKey: key) else { return .refused }

        let isFile = header.originalType == .fileTransfer || header.originalType == .noiseEncrypted
        let limit = isFile ? limits.bytesPerFileSet : limits.bytesPerSet
        let projected = sets.values[position].bytes + slice.count
        guard projected <= limit else {
            discard(key)
            return .oversized(projected: projected, limit: limit)
        }
        let before = sets.values[position].charge
        sets.values[position].hold(slice, at: header.index, now)
        charge(sets.values[position].charge - before, to: key, link: sets.values[position].link)

        if sets.values[position].held == Int(header.total) {
            let joined = sets.values[position].joined(total: header.total)
            discard(key)
            return .complete(joined)
        }
        guard shrink(around: key) else {
            return .oversized(projected: projected, limit: min(limits.bytesPerSource, limits.bytes))
        }
        return .stored(opened: isNew)
    }

    /// Drops the sets older than their lifetime.
    /// - Returns: How many.
    public mutating func expire(at now: Instant) -> Int {
        let expired = sets.filter { now - $0.value.started > limits.lifetime }.map(\.key)
        for key in expired { discard(key) }
        return expired.count
    }

    /// Broadcast sets that had no new fragment for `idle` and were not returned within `retry`: longest stalled first,
    /// ties by sender and stream ID, at most `most`. The returned ones count as asked for (chapter 04 §6.5).
    public mutating func takeStalled(idle: Interval, retry: Interval, most: Int, at now: Instant) -> [FragmentStreamID]
    {
        let stalled = sets.filter { _, set in
            set.isBroadcast && now - set.progressed >= idle && set.requested.map { now - $0 >= retry } ?? true
        }
        let chosen = stalled.sorted { a, b in
            (a.value.progressed, a.key.sender, a.key.streamID) < (b.value.progressed, b.key.sender, b.key.streamID)
        }.prefix(most)
        for (key, _) in chosen { sets[key]?.requested = now }
        return chosen.map(\.key.streamID)
    }

    public mutating func removeAll() { self = FragmentAssembler(limits: limits) }

    // MARK: Caps

    private mutating func makeRoom(sender: PeerID, link: LinkID) {
        for source in [Source.sender(sender), .link(link)] {
            while let used = usage[source]?.sets, used >= limits.setsPerSource, let oldest = oldest(of: source) {
                discard(oldest)
            }
        }
        while sets.count >= limits.sets, let oldest = oldest() { discard(oldest) }
    }

    /// Evicts other sets until the byte caps hold; when there is no other, gives up `key` itself.
    /// - Returns: Whether `key` is still held.
    private mutating func shrink(around key: Key) -> Bool {
        guard let link = sets[key]?.link else { return false }
        for source in [Source.sender(key.sender), .link(link)] {
            while let used = usage[source]?.bytes, used > limits.bytesPerSource {
                guard let oldest = oldest(of: source, except: key) else {
                    discard(key)
                    return false
                }
                discard(oldest)
            }
        }
        while heldBytes > limits.bytes {
            guard let oldest = oldest(except: key) else {
                discard(key)
                return false
            }
            discard(oldest)
        }
        return true
    }

    private func oldest(of source: Source? = nil, except spared: Key? = nil) -> Key? {
        sets.lazy.filter { key, set in
            guard key != spared else { return false }
            switch source {
            case .sender(let sender): return key.sender == sender
            case .link(let link): return set.link == link
            case nil: return true
            }
        }.min { $0.value.order < $1.value.order }?.key
    }

    private mutating func open(_ key: Key, _ set: FragmentSet) {
        sets[key] = set
        for source in [Source.sender(key.sender), .link(set.link)] { usage[source, default: (0, 0)].sets += 1 }
    }

    private mutating func discard(_ key: Key) {
        guard let set = sets.removeValue(forKey: key) else { return }
        charge(-set.charge, to: key, link: set.link)
        for source in [Source.sender(key.sender), .link(set.link)] {
            guard let used = usage[source] else { continue }
            usage[source] = used.sets > 1 ? (used.sets - 1, used.bytes) : nil
        }
    }

    private mutating func charge(_ amount: Int, to key: Key, link: LinkID) {
        heldBytes += amount
        usage[.sender(key.sender)]?.bytes += amount
        usage[.link(link)]?.bytes += amount
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
