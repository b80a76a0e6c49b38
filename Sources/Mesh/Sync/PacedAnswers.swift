import Basics
import Wire

/// Answers under way, one lane a link, each sent a frame at a time (chapter 04 §7.3). Lanes hold IDs, not frames: what
/// the store lets go of in the meantime is not sent.
struct PacedAnswers {
    struct Item {
        let type: MessageType
        let id: PacketID
        let requested: Instant
        /// The request had a types field: the requester is no Android phone.
        let knowsTypes: Bool

        /// After this the peer refuses answers, unless it asks again.
        var deadline: Instant { requested + SyncLimits.answerWindow }
    }

    /// A packet too long for the link, cut into fragments.
    struct Train {
        let plan: FragmentPlan
        let deadline: Instant
        var next = 0
    }

    private struct Lane {
        let peer: PeerID
        var items: [Item] = []
        var next = 0
        var train: Train?
        var due: Instant
        var lastSent: Instant?

        var waiting: Int { items.count - next }
        var isDone: Bool { waiting == 0 && train == nil }
    }

    private var lanes: [LinkID: Lane] = [:]
    private(set) var waiting = 0

    var nextDeadline: Instant? { lanes.isEmpty ? nil : lanes.values.lazy.map(\.due).min() }
    /// Links whose next frame is due, in order.
    func due(at now: Instant) -> [LinkID] { lanes.filter { $0.value.due <= now }.map(\.key).sorted() }
    func peer(on link: LinkID) -> PeerID? { lanes[link]?.peer }

    /// Queues an answer.
    /// - Parameter superseded: families of this answer; what older answers to the peer still have of them is dropped,
    ///   because the new filter knows better. Nil for a request that names streams, which adds to what is under way.
    /// - Returns: how many items found no room.
    mutating func add(
        _ items: [Item], to peer: PeerID, on link: LinkID, superseding superseded: SyncTypes?, at now: Instant
    ) -> Int {
        if let superseded {
            for (other, lane) in lanes where lane.peer == peer { drop(superseded, on: other) }
        }
        var lane = lanes.removeValue(forKey: link) ?? Lane(peer: peer, due: now)
        if lane.peer != peer {
            waiting -= lane.waiting
            lane = Lane(peer: peer, due: now)
        }
        let room = min(SyncLimits.pendingAnswersPerLink - lane.waiting, SyncLimits.pendingAnswers - waiting)
        let taken = items.prefix(max(0, room))
        lane.items.append(contentsOf: taken)
        waiting += taken.count
        if !lane.isDone { lanes[link] = lane }
        return items.count - taken.count
    }

    private mutating func drop(_ types: SyncTypes, on link: LinkID) {
        guard var lane = lanes[link] else { return }
        let before = lane.waiting
        lane.items = lane.items[lane.next...].filter { !types.contains($0.type) }
        lane.next = 0
        waiting -= before - lane.waiting
        lanes[link] = lane.isDone ? nil : lane
    }

    // MARK: One lane

    /// The next packet whose time is not over; nil when none is left.
    mutating func takeItem(on link: LinkID, at now: Instant) -> Item? {
        while var lane = lanes[link], lane.waiting > 0 {
            let item = lane.items[lane.next]
            lane.next += 1
            waiting -= 1
            if lane.next > 64, lane.next * 2 > lane.items.count {
                lane.items.removeFirst(lane.next)
                lane.next = 0
            }
            lanes[link] = lane
            if now <= item.deadline { return item }
        }
        return nil
    }

    /// The next fragment of a packet under way.
    mutating func takeFragment(on link: LinkID, at now: Instant) -> Frame? {
        guard var train = lanes[link]?.train else { return nil }
        guard now <= train.deadline, let frame = train.plan.frame(at: train.next) else {
            lanes[link]?.train = nil
            return nil
        }
        train.next += 1
        lanes[link]?.train = train.next < train.plan.count ? train : nil
        return frame
    }

    mutating func begin(_ train: Train, on link: LinkID) { lanes[link]?.train = train }

    /// Live traffic passed on the link since our last frame: the next one waits a little longer.
    mutating func yields(on link: LinkID, lastOut: Instant?, at now: Instant) -> Bool {
        guard let lane = lanes[link], let sent = lane.lastSent, let lastOut, lastOut > sent else { return false }
        let due = sent + SyncLimits.answerPaceBesideTraffic
        guard now < due else { return false }
        lanes[link]?.due = due
        return true
    }

    /// The link is busy with better things.
    mutating func postpone(_ link: LinkID, at now: Instant) {
        lanes[link]?.due = now + SyncLimits.answerPaceBesideTraffic
    }

    /// Arms the next frame, or ends the lane.
    mutating func noteSent(on link: LinkID, at now: Instant) {
        guard var lane = lanes[link] else { return }
        lane.lastSent = now
        lane.due = now + SyncLimits.answerPace
        lanes[link] = lane.isDone ? nil : lane
    }

    /// The link is gone, or nothing is left to send on it.
    mutating func end(_ link: LinkID) {
        guard let lane = lanes.removeValue(forKey: link) else { return }
        waiting -= lane.waiting
    }

    mutating func removeAll() {
        lanes.removeAll()
        waiting = 0
    }
}
