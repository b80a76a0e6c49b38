import Basics
import EventLoop

/// Lines from a pipe, said in order, each once somebody is there whom it is for.
public final class PipedLines {
    /// How long to wait for somebody after the input has ended.
    public static let patience = Interval.seconds(10)
    /// From meeting somebody to the first line: they take none before they have heard our announce.
    private static let introduction = Interval.milliseconds(500)
    /// After the last line, before leaving: relays on the way and carriers to a gateway take this long.
    private static let linger = Interval.seconds(1)
    /// Lines held until somebody is there, and their bytes in UTF-8; the last line may exceed them.
    static let capacity = 1_024
    static let byteCapacity = 262_144

    /// Whether more lines are wanted, whenever that changes. What comes all the same is held too.
    public var onDemand: ((_ isThere: Bool) -> Void)?

    private let peer: ChatPeer
    private let loop: any EventLoop
    private let giveUp: (_ unsaid: Int) -> Void
    private var held = Queue<String>()
    private var heldBytes = 0
    private var isFull = false
    private var hasCompany = false
    private var isIntroduced = false
    private var hasEnded = false
    private var isLeaving = false

    /// - Parameter giveUp: nobody came for what is still held; the peer leaves afterwards.
    public init(peer: ChatPeer, loop: any EventLoop, giveUp: @escaping (_ unsaid: Int) -> Void) {
        self.peer = peer
        self.loop = loop
        self.giveUp = giveUp
        peer.onCompany = { [weak self, unowned peer] in
            let isMet = peer.hasMetSomebody
            loop.schedule(after: PipedLines.introduction) { [weak self] in
                guard let self else { return }
                self.hasCompany = true
                self.isIntroduced = self.isIntroduced || isMet
                self.release()
            }
        }
    }

    public func enter(_ line: String) {
        held.append(line)
        heldBytes += line.utf8.count
        if hasCompany { release() }
        updateDemand()
    }

    private func updateDemand() {
        let isFull = held.count >= PipedLines.capacity || heldBytes >= PipedLines.byteCapacity
        guard isFull != self.isFull else { return }
        self.isFull = isFull
        onDemand?(!isFull)
    }

    /// No more lines come.
    public func end() {
        hasEnded = true
        guard !held.isEmpty else { return leaveSoon() }
        loop.schedule(after: PipedLines.patience) { [self] in
            guard !held.isEmpty else { return }
            giveUp(held.count)
            held.removeAll()
            peer.leave()
        }
    }

    private func release() {
        while let line = held.first, isIntroduced || peer.isAtRelay && peer.reachesRelays(line) {
            held.popFirst()
            heldBytes -= line.utf8.count
            peer.enter(line)
        }
        updateDemand()
        if hasEnded, held.isEmpty { leaveSoon() }
    }

    private func leaveSoon(waited: Interval = .zero) {
        guard !isLeaving || waited > .zero else { return }
        isLeaving = true
        loop.schedule(after: PipedLines.linger) { [self] in
            // A private message that has just been typed may still be shaking hands.
            let waited = waited + PipedLines.linger
            if peer.undelivered > 0, waited < PipedLines.patience { leaveSoon(waited: waited) } else { peer.leave() }
        }
    }
}

extension ChatPeer {
    /// Whether relays alone carry a line: what is said in a location channel, and what is for somebody already known.
    func reachesRelays(_ line: String) -> Bool {
        switch ChatCommand(line) {
        case .say: return geohash != nil
        case .message(let typed): return isKnown(typed)
        case .why(let typed), .fingerprint(let typed), .verify(let typed), .unverify(let typed),
            .favorite(let typed, _), .block(let typed, _):
            return typed.isEmpty || isKnown(typed)
        default: return true
        }
    }
}
