import Basics
import Wire

/// Packets of one type, kept in order of arrival and dropped from the front when there are too many, or too many bytes
/// (chapter 04 §2). Four indexes over one table (arrival, sender, ID, timestamp; trap T17) let every operation on one
/// packet cost the same however long the history is.
struct GossipFamily {
    enum Insertion: Equatable {
        case added
        /// Known by ID: the packet was replaced and kept its position.
        case replaced
        /// Held before, and let go of.
        case remembered
        /// Not carried here, or larger than everything that may be held.
        case refused
    }

    let limits: GossipPolicy.Family
    private(set) var bytes = 0
    private(set) var horizon: PacketHorizon
    /// IDs of packets that were added, replaced, let go of or forgotten, for the archive; unused when there is none.
    private(set) var changes: PacketChanges?

    private struct Slot {
        var entry: GossipEntry
        /// Counts up with every arrival, also over restarts where there is an archive.
        var arrival: UInt64
        /// Of the copy that came first. What the archive held counts as ours.
        let bringer: Bringer
    }

    /// What one bringer has here.
    private struct Load {
        var chain = SlotChains.Chain()
        var bytes = 0
    }

    private var slots: [Slot] = []
    private var free: [Int] = []
    private var slotOf: [PacketID: Int] = [:]
    private var order = TimeOrder<SyncCandidate>()
    private var arrivalLinks = SlotChains()
    private var arrivals = SlotChains.Chain()
    private var senderLinks = SlotChains()
    private var senders: [PeerID: SlotChains.Chain] = [:]
    private var bringerLinks = SlotChains()
    private var bringers: [Bringer: Load] = [:]
    private var nextArrival: UInt64 = 0

    init(_ limits: GossipPolicy.Family, tracksChanges: Bool = false) {
        self.limits = limits
        horizon = PacketHorizon(capacity: limits.remembered)
        changes = tracksChanges ? PacketChanges() : nil
    }

    var count: Int { slotOf.count }

    subscript(id: PacketID) -> GossipEntry? { slotOf[id].map { slots[$0].entry } }

    /// Held, or held once and still remembered.
    func knows(_ id: PacketID) -> Bool { slotOf[id] != nil || horizon.contains(id) }

    /// Position among everything that ever arrived; nil when not held.
    func arrival(of id: PacketID) -> UInt64? { slotOf[id].map { slots[$0].arrival } }

    /// Oldest arrival first.
    var inOrder: some Sequence<GossipEntry> {
        sequence(state: arrivals.oldest) { [slots, arrivalLinks] slot -> GossipEntry? in
            guard let here = slot else { return nil }
            slot = arrivalLinks.next(after: here)
            return slots[here].entry
        }
    }

    // MARK: Coming

    /// - Parameter restored: the arrival number of a packet that comes from the archive, which knows it already.
    mutating func insert(_ entry: GossipEntry, restored: UInt64? = nil) -> Insertion {
        guard limits.capacity > 0, entry.frame.bytes.count <= limits.bytes else { return .refused }
        if let slot = slotOf[entry.id] {
            let growth = entry.frame.bytes.count - slots[slot].entry.frame.bytes.count
            bytes += growth
            bringers[slots[slot].bringer]?.bytes += growth
            slots[slot].entry = entry
            changes?.note(entry.id)
            trim()
            return .replaced
        }
        guard !horizon.contains(entry.id) else { return .remembered }
        if let restored {
            nextArrival = max(nextArrival, restored)
        } else {
            changes?.note(entry.id)
        }
        occupy(entry)
        if let share = limits.senderShare {
            while let chain = senders[entry.sender], chain.count > share, let oldest = chain.oldest {
                letGo(of: oldest)
            }
        }
        trim()
        return .added
    }

    /// Takes an ID from the archive into the horizon alone: its frame was let go of.
    mutating func remember(_ id: PacketID, _ timestamp: WallTime) {
        guard slotOf[id] == nil else { return }
        if let forgotten = horizon.remember(id, timestamp) { changes?.note(forgotten) }
    }

    /// The archive holds something under this ID that was not restored: it is to be looked at again.
    mutating func noteLost(_ id: PacketID) { changes?.note(id) }

    // MARK: Going

    /// Lets go of what is too old to be served, and forgets what is too old to be remembered.
    mutating func expire(at now: WallTime) {
        let freshSince = now.cutoff(age: limits.maxAge)
        while let oldest = order.first, oldest.timestamp < freshSince, let slot = slotOf[oldest.id] { letGo(of: slot) }
        let rememberedSince = now.cutoff(age: limits.rememberedFor)
        while let forgotten = horizon.forgetOne(before: rememberedSince) { changes?.note(forgotten) }
    }

    /// Lets go of everything one sender ID sent.
    mutating func letGo(ofAllFrom sender: PeerID) {
        while let slot = senders[sender]?.oldest { letGo(of: slot) }
    }

    private mutating func trim() {
        while count > limits.capacity || bytes > limits.bytes, let slot = mostDispensable { letGo(of: slot) }
    }

    private var mostDispensable: Int? {
        guard limits.sparesSmallBringers else { return arrivals.oldest }
        let isShortOfBytes = bytes > limits.bytes
        var largest: (load: Int, oldest: Int)?
        for bringer in bringers.values {
            guard let oldest = bringer.chain.oldest else { continue }
            let load = isShortOfBytes ? bringer.bytes : bringer.chain.count
            // Of equals the one whose oldest is older.
            if let other = largest, (load, slots[other.oldest].arrival) <= (other.load, slots[oldest].arrival) {
                continue
            }
            largest = (load, oldest)
        }
        return largest?.oldest
    }

    private mutating func occupy(_ entry: GossipEntry) {
        let slot: Int
        if let reused = free.popLast() {
            slot = reused
            slots[slot] = Slot(entry: entry, arrival: nextArrival, bringer: entry.bringer)
        } else {
            slot = slots.count
            slots.append(Slot(entry: entry, arrival: nextArrival, bringer: entry.bringer))
        }
        nextArrival &+= 1
        slotOf[entry.id] = slot
        order.insert(SyncCandidate(entry))
        arrivalLinks.append(slot, to: &arrivals)
        senderLinks.append(slot, to: &senders[entry.sender, default: SlotChains.Chain()])
        if limits.sparesSmallBringers {
            bringerLinks.append(slot, to: &bringers[entry.bringer, default: Load()].chain)
            bringers[entry.bringer]?.bytes += entry.frame.bytes.count
        }
        bytes += entry.frame.bytes.count
    }

    private mutating func letGo(of slot: Int) {
        let entry = slots[slot].entry
        slotOf[entry.id] = nil
        order.remove(SyncCandidate(entry))
        arrivalLinks.remove(slot, from: &arrivals)
        if var chain = senders[entry.sender] {
            senderLinks.remove(slot, from: &chain)
            senders[entry.sender] = chain.count > 0 ? chain : nil
        }
        if let bringer = bringers.index(forKey: slots[slot].bringer) {
            bringerLinks.remove(slot, from: &bringers.values[bringer].chain)
            bringers.values[bringer].bytes -= entry.frame.bytes.count
            if bringers.values[bringer].chain.count == 0 { bringers.remove(at: bringer) }
        }
        bytes -= entry.frame.bytes.count
        free.append(slot)
        changes?.note(entry.id)
        if let forgotten = horizon.remember(entry.id, entry.timestamp) { changes?.note(forgotten) }
    }

    mutating func takeChanges() -> PacketChanges? {
        let taken = changes
        changes?.removeAll()
        return taken
    }

    // MARK: Filters

    /// What a filter should name: packets held or remembered that are still fresh, newest first, at most `most`.
    func newest(_ most: Int, at now: WallTime) -> [SyncCandidate] {
        let cutoff = now.cutoff(age: limits.maxAge)
        let held = order.largest(most) { $0.timestamp >= cutoff }
        guard horizon.count > 0 else { return held }
        return Array(
            (held + horizon.newest(most, since: cutoff)).sorted(by: >).prefix(most))
    }
}

/// IDs of packets that changed since somebody last looked. Beyond its capacity it says "everything".
struct PacketChanges {
    private(set) var ids: [PacketID] = []
    private(set) var isEverything = false
    private var members: Set<PacketID> = []

    var isEmpty: Bool { ids.isEmpty && !isEverything }

    mutating func note(_ id: PacketID) {
        guard !isEverything, members.insert(id).inserted else { return }
        guard members.count <= SyncLimits.archiveChanges else {
            removeAll()
            isEverything = true
            return
        }
        ids.append(id)
    }

    mutating func removeAll() { self = PacketChanges() }
}
