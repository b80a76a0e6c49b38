import Basics
import Wire

/// A frame too long for its links, on its way as fragments.
struct FragmentTrain {
    let plan: FragmentPlan
    /// How each fragment is sent; `frame` is replaced by the fragment.
    let template: Transmission
    let bytes: Int
    var next = 0

    func isNoise(for recipient: PeerID) -> Bool {
        let frame = template.frame
        return frame.recipientID == recipient && (frame.type == .noiseEncrypted || frame.type == .noiseHandshake)
    }
}

/// What makes a train a transfer, of which only two run at a time (chapter 03 B13.2).
struct Transfer: Equatable {
    /// The digest of a file packet's payload.
    let id: [UInt8]
    /// Nil for everybody.
    let audience: PeerID?

    /// Whoever hears this one needs not the other.
    func covers(_ other: Transfer) -> Bool { id == other.id && (audience == nil || audience == other.audience) }
}

/// Fragment trains under way, paced, with slots for transfers (chapter 03 B13.2).
struct FragmentTrains {
    enum Start: Equatable {
        case started
        /// Waits for a slot.
        case queued
        /// The same content is on its way to the same audience already.
        case redundant
        /// No room.
        case refused
    }

    private struct Running {
        var train: FragmentTrain
        let transfer: Transfer?
    }
    private struct Waiting {
        let train: FragmentTrain
        let transfer: Transfer
    }

    private var running: [UInt64: Running] = [:]
    private var waiting: [Waiting] = []
    private var deadlines = DeadlineQueue<UInt64>()
    private var nextID: UInt64 = 0
    private var heldBytes = 0

    var count: Int { running.count }
    var waitingCount: Int { waiting.count }
    var nextDeadline: Instant? { deadlines.nextDeadline }
    private var activeTransfers: [Transfer] { running.values.compactMap(\.transfer) }

    /// Whether pieces of a Noise packet for this peer are still to leave.
    func isBusy(with recipient: PeerID) -> Bool {
        running.values.contains { $0.train.isNoise(for: recipient) }
            || waiting.contains { $0.train.isNoise(for: recipient) }
    }

    mutating func start(_ train: FragmentTrain, transfer: Transfer? = nil, at now: Instant) -> Start {
        let known = activeTransfers + waiting.map(\.transfer)
        if let transfer, known.contains(where: { $0.covers(transfer) }) { return .redundant }
        guard running.count + waiting.count < MeshLimits.fragmentTrains,
            heldBytes + train.bytes <= MeshLimits.fragmentTrainBytes
        else { return .refused }

        if let transfer {
            let isActive = activeTransfers.contains { $0.id == transfer.id }
            if isActive || activeTransfers.count >= MeshLimits.activeTransfers {
                guard !train.template.isStrict, waiting.count < MeshLimits.pendingTransfers else { return .refused }
                waiting.insert(
                    Waiting(train: train, transfer: transfer), at: isActive ? 0 : waiting.endIndex)
                heldBytes += train.bytes
                return .queued
            }
        }
        heldBytes += train.bytes
        run(train, transfer, at: now)
        return .started
    }

    /// The next fragment that is due, ready to be sent.
    mutating func takeDue(at now: Instant) -> Transmission? {
        while let id = deadlines.takeDue(at: now) {
            guard var entry = running[id] else { continue }
            let fragment = entry.train.plan.frame(at: entry.train.next)
            entry.train.next += 1
            if fragment == nil || entry.train.next >= entry.train.plan.count {
                finish(id, at: now)
            } else {
                running[id] = entry
                deadlines.add(id, due: now + entry.train.plan.spacing)
            }
            guard let fragment else { continue }
            var transmission = entry.train.template
            transmission.frame = fragment
            return transmission
        }
        return nil
    }

    mutating func removeAll() { self = FragmentTrains() }

    private mutating func run(_ train: FragmentTrain, _ transfer: Transfer?, at now: Instant) {
        running[nextID] = Running(train: train, transfer: transfer)
        deadlines.add(nextID, due: now)
        nextID &+= 1
    }

    private mutating func finish(_ id: UInt64, at now: Instant) {
        guard let done = running.removeValue(forKey: id) else { return }
        heldBytes -= done.train.bytes
        guard done.transfer != nil else { return }
        // In order; one whose ID is still active is passed over without spending the slot.
        var index = 0
        while activeTransfers.count < MeshLimits.activeTransfers, index < waiting.count {
            let next = waiting[index]
            if activeTransfers.contains(where: { $0.id == next.transfer.id }) {
                index += 1
            } else {
                waiting.remove(at: index)
                run(next.train, next.transfer, at: now)
            }
        }
    }
}
