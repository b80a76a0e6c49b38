import Basics
import Crypto
import Nostr
import Wire

/// Effects requested by the notes desk, in order.
public enum NotesEffect: Sendable {
    case subscribe(GatewaySubscription)
    case unsubscribe(id: String)
    /// Publish until a relay of the place has confirmed it.
    case publish(VerifiedEvent, geohash: String, expiresAt: WallTime)
    /// Try no more to publish, if no relay has confirmed it yet.
    case withdraw(EventID)
    /// Keep for `restore`, before anything else is done: what is published and not known can not be taken away.
    case keep(BoardCopy)
    case forget(EventID)
}

/// The operator's view of the notes pinned to one place, and what the operator pins or takes away (chapter 05 §10).
/// Nothing of it happens by itself: notes tell where a building is, and asking for them tells which one interests.
public final class NotesDesk {
    public private(set) var geohash: String?
    /// Whether the relays have said what they have, or were waited for long enough.
    public private(set) var isLoaded = false
    private let seed: DeviceSeed
    private var board: NotesBoard?
    private var subscription = ""
    private var closesAt: Instant?
    private var pruneAt: Instant?
    private struct Work {
        var miner: ProofOfWorkMiner
        let key: NostrSecretKey
        let geohash: String
        let expiresAt: WallTime
        let boardPost: [UInt8]?
    }

    private var works: [Work] = []
    /// Oldest first. Kept over restarts, so that a post can be taken away from relays by any later run; phones forget
    /// theirs (chapter 04 §11.5).
    private var copies: [BoardCopy] = []
    private var copiesDue: Instant?
    private var isClockTrusted = false
    private var effects = Queue<NotesEffect>()
    private var random: any RandomNumberGenerator

    public init(seed: DeviceSeed, random: any RandomNumberGenerator) {
        self.seed = seed
        self.random = random
    }

    public func nextEffect() -> NotesEffect? { effects.popFirst() }

    public var notes: [LocationNote] { board?.all ?? [] }
    /// Notes whose work is being done.
    public var beingMade: Int { works.count }

    /// Starts or extends viewing a place; viewing ends ten minutes after the last call.
    public func look(at geohash: String, at now: Now) {
        guard Geohash.isCanonical(geohash) else { return }
        closesAt = now.monotonic + GatewayLimits.notesSession
        guard geohash != self.geohash else { return }
        close()
        let board = NotesBoard(around: geohash)
        self.geohash = geohash
        self.board = board
        isLoaded = false
        closesAt = now.monotonic + GatewayLimits.notesSession
        pruneAt = now.monotonic + GatewayLimits.notesPruning
        subscription = "locnotes-\(geohash)-\(Hex.encode(random.bytes(4)))"
        effects.append(
            .subscribe(
                GatewaySubscription(
                    id: subscription, filter: board.filter, geohash: geohash, fallsBackToDefaultRelays: false)))
    }

    public func close() {
        if geohash != nil { effects.append(.unsubscribe(id: subscription)) }
        geohash = nil
        board = nil
        closesAt = nil
        pruneAt = nil
        isLoaded = false
    }

    public func owns(subscription id: String) -> Bool { geohash != nil && id == subscription }

    public func relayEvent(_ event: VerifiedEvent, at now: Now) { board?.receive(event, at: now.wall) }
    public func loaded() { isLoaded = true }

    // MARK: Own notes

    /// Pins a note.
    /// - Parameters:
    ///   - expiresAt: when readers forget it; nil for never.
    ///   - work: leading zero bits its relays ask for.
    ///   - boardPost: the ID of the post on the mesh's board that this is a copy of.
    /// - Returns: false without text, for one that is too long, or while others are still being made.
    public func post(
        _ text: String, at geohash: String, nickname: String, expiresAt: WallTime?, isUrgent: Bool, work: Int,
        copyOf boardPost: [UInt8]? = nil, at now: Now
    ) -> Bool {
        let content = TextTrimming.trim(text)
        guard !content.isEmpty, content.utf8.count <= GatewayLimits.contentBytes, Geohash.isCanonical(geohash),
            hasRoom
        else { return false }
        let template = EventTemplate.locationNote(
            geohash: geohash, nickname: nickname, text: content, expiresAt: expiresAt?.unixSeconds, isUrgent: isUrgent)
        let key = seed.channel(geohash)
        let until = expiresAt ?? WallTime(milliseconds: now.wall.milliseconds + GatewayLimits.noteRetry)
        guard work > 0 else {
            publish(template, key, geohash, until: until, copyOf: boardPost, at: now)
            return true
        }
        let miner = ProofOfWorkMiner(
            template, author: key.publicKey, createdAt: now.wall.unixSeconds, target: work, nonce: random.next(),
            at: now.monotonic)
        works.append(Work(miner: miner, key: key, geohash: geohash, expiresAt: until, boardPost: boardPost))
        return true
    }

    /// Asks the relays of the place to delete an own note, and forgets it at once. A note that still waits for a relay
    /// is not published any more: not every relay refuses what it was asked to delete before it came.
    public func delete(_ id: EventID, at geohash: String, at now: Now) -> Bool {
        guard Geohash.isCanonical(geohash) else { return false }
        board?.remove(id)
        effects.append(.withdraw(id))
        let until = WallTime(milliseconds: now.wall.milliseconds + GatewayLimits.noteRetry)
        publish(.deletion(of: id), seed.channel(geohash), geohash, until: until, at: now)
        forgetCopies { $0.id == id }
        return true
    }

    /// Asks for the deletion of what was published as a copy of this post on the mesh's board, if there is any.
    /// - Returns: whether there was.
    @discardableResult
    public func delete(copyOf boardPost: [UInt8], at now: Now) -> Bool {
        let isBeingMade = works.contains { $0.boardPost == boardPost }
        works.removeAll { $0.boardPost == boardPost }
        let published = copies.filter { $0.boardPost == boardPost }
        for copy in published where !copy.isRefused { _ = delete(copy.id, at: copy.geohash, at: now) }
        forgetCopies { $0.boardPost == boardPost }
        return isBeingMade || !published.isEmpty
    }

    /// Copies that readers have not forgotten yet.
    public func boardCopies(at now: Now) -> [BoardCopy] { copies.filter { $0.expiresAt > now.wall } }

    /// Whether the copy of a post waits for its work.
    public func isMakingCopy(of boardPost: [UInt8]) -> Bool { works.contains { $0.boardPost == boardPost } }

    /// Whether there is room for the work of one more note.
    public var hasRoom: Bool { works.count < GatewayLimits.notesBeingMade }

    /// A publication was refused.
    public func refused(_ id: EventID) {
        for index in copies.indices where copies[index].id == id {
            copies[index].isRefused = true
            effects.append(.forget(id))
        }
    }

    /// Restores the records of an earlier run, oldest first. Call it once, before the first note.
    public func restore(_ kept: [BoardCopy]) { copies = kept.suffix(GatewayLimits.boardCopies) }

    /// Whether the clock can tell what has expired.
    public func setClockTrusted(_ isTrusted: Bool, at now: Now) {
        isClockTrusted = isTrusted
        pruneCopies(at: now)
    }

    private func pruneCopies(at now: Now) {
        if isClockTrusted { forgetCopies { $0.expiresAt <= now.wall } }
        copiesDue = isClockTrusted && !copies.isEmpty ? now.monotonic + GatewayLimits.boardCopyPruning : nil
    }

    private func forgetCopies(_ isOver: (BoardCopy) -> Bool) {
        for copy in copies where isOver(copy) { effects.append(.forget(copy.id)) }
        copies.removeAll(where: isOver)
    }

    /// Whether a note is one that `delete` can delete.
    public func isOwn(_ note: LocationNote) -> Bool {
        seed.channel(note.geohash).publicKey.hex == note.pubkey
    }

    private func publish(
        _ template: EventTemplate, _ key: NostrSecretKey, _ geohash: String, until: WallTime,
        copyOf boardPost: [UInt8]? = nil, at now: Now
    ) {
        let event = VerifiedEvent.signed(template, createdAt: now.wall.unixSeconds, key: key, using: &random)
        if let event { publish(event, geohash, until: until, copyOf: boardPost, at: now) }
    }

    private func publish(
        _ event: VerifiedEvent, _ geohash: String, until: WallTime, copyOf boardPost: [UInt8]?, at now: Now
    ) {
        board?.receive(event, at: now.wall)
        if let boardPost {
            let copy = BoardCopy(
                boardPost: boardPost, id: event.id, geohash: geohash, text: event.event.content, postedAt: now.wall,
                expiresAt: until)
            if copies.count >= GatewayLimits.boardCopies, let oldest = copies.first?.id {
                forgetCopies { $0.id == oldest }
            }
            copies.append(copy)
            effects.append(.keep(copy))
            pruneCopies(at: now)
        }
        effects.append(.publish(event, geohash: geohash, expiresAt: until))
    }

    // MARK: Time

    /// A slice of work, a look at what has expired.
    public func timeout(at now: Now) {
        if !works.isEmpty, let mined = works[0].miner.mine(at: now.monotonic) {
            let work = works.removeFirst()
            if let event = VerifiedEvent.signed(mined, key: work.key, using: &random) {
                publish(event, work.geohash, until: work.expiresAt, copyOf: work.boardPost, at: now)
            }
        }
        if let closesAt, closesAt <= now.monotonic { close() }
        if let copiesDue, copiesDue <= now.monotonic { pruneCopies(at: now) }
        if let due = pruneAt, due <= now.monotonic {
            board?.prune(at: now.wall)
            pruneAt = now.monotonic + GatewayLimits.notesPruning
        }
    }

    public var nextDeadline: Instant? {
        // Due at once while there is work: whatever else waits for the loop comes in between the slices.
        if !works.isEmpty { return .zero }
        return [closesAt, pruneAt, copiesDue].compactMap { $0 }.min()
    }
}
