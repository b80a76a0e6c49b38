import Basics
import Crypto

/// Publications that are tried until a relay has confirmed them, over restarts too, and each at most once in 24 hours
/// however often its owner asks for it.
///
/// An owner may ask for everything it still waits for whenever it starts: what was confirmed lately is not published
/// again. Take effects after every call, carry them out in order, and arm one timer for `nextDeadline`.
public final class DurablePublications {
    public enum Effect: Hashable, Sendable {
        /// Put the record in the place of the key's earlier one, on the disk before what follows is done where
        /// `isUrgent`.
        case keep(PublicationRecord, isUrgent: Bool)
        case forget(PublicationKey)
        /// Publish confirmed, in isolation where so said, and call `began`.
        case publish(PublicationKey, VerifiedEvent, place: String?, isIsolated: Bool)
        case finished(PublicationKey, Outcome)
    }

    public enum Outcome: Hashable, Sendable {
        case accepted(by: NostrRelayURL)
        /// No relay took it in time.
        case expired
    }

    /// What became of a request to publish.
    public enum Admission: Hashable, Sendable {
        case queued
        /// It waits already.
        case waiting
        /// A relay has it since then.
        case published(at: WallTime)
        /// Too much waits already, or it is too large.
        case refused
    }

    private struct Entry {
        let key: PublicationKey
        let content: DurableContent
        let bytes: Int
        let expiresAt: WallTime
        var attempts: Int
        var lastAttempt: WallTime
        var dueAt: Instant
        var isUnderWay = false
        /// No relay of its was connected.
        var isParked = false

        var record: PublicationRecord {
            PublicationRecord(
                key: key,
                state: .waiting(content, expiresAt: expiresAt, attempts: attempts, lastAttempt: lastAttempt))
        }

        mutating func countAttempt(at wall: WallTime) {
            attempts += 1
            lastAttempt = wall
        }
    }

    /// Oldest first.
    private var entries: [Entry] = []
    private var underWay: [PublicationID: PublicationKey] = [:]
    /// When a relay confirmed each, oldest first in `order`.
    private var published: [PublicationKey: WallTime] = [:]
    private var order: [PublicationKey] = []
    private var isReady = false
    private var pruneAt: Instant?
    private var effects = Queue<Effect>()
    private var random: any RandomNumberGenerator

    public init(random: any RandomNumberGenerator) { self.random = random }

    public func nextEffect() -> Effect? { effects.popFirst() }

    public var waiting: Int { entries.count }
    /// Whether one more of the largest size would be taken.
    public var hasRoom: Bool {
        entries.count < NostrLimits.durablePublications
            && entries.reduce(NostrLimits.durableBytesEach, { $0 + $1.bytes }) <= NostrLimits.durableBytes
    }
    /// Keys that keep their publication from being repeated.
    public var remembered: Int { published.count }

    public func isWaiting(_ key: PublicationKey) -> Bool { entries.contains { $0.key == key } }

    // MARK: Inputs

    /// Takes back what an earlier process kept, in the order it came. Call it once, before anything else.
    public func restore(_ records: [PublicationRecord], at now: Now) {
        for record in records {
            switch record.state {
            case .published(let at): remember(record.key, at: at)
            case .waiting(let content, let expiresAt, let attempts, let lastAttempt):
                guard entries.count < NostrLimits.durablePublications, !isWaiting(record.key) else { continue }
                // What was tried a moment ago is not tried again because the box was restarted.
                let since: Interval =
                    now.wall > lastAttempt ? .milliseconds(clamping: now.wall.distance(to: lastAttempt)) : .zero
                let pause = attempts > 0 ? max(.zero, DurablePublications.pause(after: attempts) - since) : .zero
                entries.append(
                    Entry(
                        key: record.key, content: content, bytes: content.size, expiresAt: expiresAt,
                        attempts: attempts, lastAttempt: lastAttempt, dueAt: now.monotonic + pause))
            }
        }
        prune(at: now)
        pump(at: now)
    }

    /// Publishes as soon as possible and until `expiresAt`.
    public func publish(
        _ key: PublicationKey, _ content: DurableContent, expiresAt: WallTime, at now: Now
    ) -> Admission {
        prune(at: now)
        if let at = published[key] { return .published(at: at) }
        if isWaiting(key) { return .waiting }
        let bytes = content.size
        guard entries.count < NostrLimits.durablePublications, bytes <= NostrLimits.durableBytesEach,
            entries.reduce(bytes, { $0 + $1.bytes }) <= NostrLimits.durableBytes, expiresAt > now.wall
        else { return .refused }
        let entry = Entry(
            key: key, content: content, bytes: bytes, expiresAt: expiresAt, attempts: 0, lastAttempt: now.wall,
            dueAt: now.monotonic)
        entries.append(entry)
        pruneAt = pruneAt ?? now.monotonic + NostrLimits.durablePruning
        effects.append(.keep(entry.record, isUrgent: false))
        pump(at: now)
        return .queued
    }

    /// It is not wanted any more, such as a note deleted before a relay had it; an attempt under way may still succeed.
    public func withdraw(_ key: PublicationKey) {
        guard let index = entries.firstIndex(where: { $0.key == key }) else { return }
        entries.remove(at: index)
        effects.append(.forget(key))
    }

    /// Whether publishing can succeed at all: the route is ready and a relay connected. Say so again for every relay
    /// that comes: it may be the one that was missing.
    public func setReady(_ isReady: Bool, at now: Now) {
        self.isReady = isReady
        for index in entries.indices where isReady && entries[index].isParked {
            entries[index].isParked = false
            entries[index].dueAt = now.monotonic
        }
        pump(at: now)
    }

    /// The relay client calls the attempt by this name.
    public func began(_ key: PublicationKey, as id: PublicationID) { underWay[id] = key }

    /// What the relay client says of an attempt; other publications' outcomes are ignored.
    public func finished(_ id: PublicationID, _ outcome: PublicationOutcome, at now: Now) {
        guard let key = underWay.removeValue(forKey: id) else { return }
        let index = entries.firstIndex { $0.key == key }
        switch outcome {
        case .accepted(let relay):
            if let index { entries.remove(at: index) }
            remember(key, at: now.wall)
            effects.append(.keep(PublicationRecord(key: key, state: .published(at: now.wall)), isUrgent: true))
            effects.append(.finished(key, .accepted(by: relay)))
        case .failed(let failure):
            guard let index else { break }
            entries[index].isUnderWay = false
            switch failure {
            case .rejected, .timedOut, .superseded:
                if !entries[index].content.isUnlinkable { entries[index].countAttempt(at: now.wall) }
                let pause = DurablePublications.pause(after: entries[index].attempts)
                let spread = Double.random(in: 0.8..<1.2, using: &random)
                entries[index].dueAt = now.monotonic + .seconds(pause.seconds * spread)
                effects.append(.keep(entries[index].record, isUrgent: false))
            case .notConnected, .busy:
                if entries[index].content.isUnlinkable { entries[index].attempts -= 1 }
                entries[index].isParked = failure == .notConnected
                entries[index].dueAt = now.monotonic + NostrLimits.durableRetry
            }
        }
        prune(at: now)
        pump(at: now)
    }

    public func timeout(at now: Now) {
        if let pruneAt, pruneAt <= now.monotonic { prune(at: now) }
        pump(at: now)
    }

    public var nextDeadline: Instant? {
        var next = pruneAt
        guard isReady, underWay.count < NostrLimits.durableAtOnce else { return next }
        for entry in entries where !entry.isUnderWay { next = min(next ?? entry.dueAt, entry.dueAt) }
        return next
    }

    // MARK: Parts

    /// 30 s, doubling to an hour.
    private static func pause(after attempts: Int) -> Interval {
        min(NostrLimits.durableRetry * (1 << Int64(min(max(0, attempts - 1), 10))), NostrLimits.longestDurableRetry)
    }

    private func pump(at now: Now) {
        guard isReady else { return }
        while underWay.count + begun < NostrLimits.durableAtOnce,
            let index = entries.firstIndex(where: { !$0.isUnderWay && $0.dueAt <= now.monotonic })
        {
            guard let event = entries[index].content.event(at: now.wall, using: &random) else {
                expire(at: index)
                continue
            }
            entries[index].isUnderWay = true
            if entries[index].content.isUnlinkable {
                // No relay knows it again under another key. A process that ends before the answer leaves behind that
                // it was tried, and the next one waits before it tries once more.
                entries[index].countAttempt(at: now.wall)
                effects.append(.keep(entries[index].record, isUrgent: true))
            }
            effects.append(
                .publish(
                    entries[index].key, event, place: entries[index].content.place,
                    isIsolated: entries[index].content.isUnlinkable))
        }
    }

    /// Attempts handed out that the relay client has not named yet.
    private var begun: Int {
        let named = Set(underWay.values)
        return entries.count { $0.isUnderWay && !named.contains($0.key) }
    }

    private func remember(_ key: PublicationKey, at wall: WallTime) {
        if published.updateValue(wall, forKey: key) == nil { order.append(key) }
        while order.count > NostrLimits.publishedKeys {
            let oldest = order.removeFirst()
            published[oldest] = nil
            effects.append(.forget(oldest))
        }
    }

    /// Forgets keys of more than 24 hours ago, and gives up what has expired. A time that far ahead was told by a wrong
    /// clock.
    private func prune(at now: Now) {
        pruneAt = nil
        for key in order {
            guard let at = published[key], at.distance(to: now.wall) >= NostrLimits.publishedAge else { continue }
            published[key] = nil
            effects.append(.forget(key))
        }
        order.removeAll { published[$0] == nil }
        for index in entries.indices.reversed()
        where !entries[index].isUnderWay && entries[index].expiresAt <= now.wall { expire(at: index) }
        if !order.isEmpty || !entries.isEmpty { pruneAt = now.monotonic + NostrLimits.durablePruning }
    }

    private func expire(at index: Int) {
        let key = entries.remove(at: index).key
        effects.append(.forget(key))
        effects.append(.finished(key, .expired))
    }
}

extension DurableContent {
    var place: String? {
        switch self {
        case .event(_, let place): place
        case .unlinkable: nil
        }
    }

    var isUnlinkable: Bool {
        switch self {
        case .event: false
        case .unlinkable: true
        }
    }

    /// Bytes it takes at rest, more or less.
    var size: Int {
        switch self {
        case .event(let event, _): event.json().count
        case .unlinkable(let template): template.draft.json().count
        }
    }

    /// The event of the next attempt; nil for a template that makes none.
    func event(at wall: WallTime, using random: inout some RandomNumberGenerator) -> VerifiedEvent? {
        switch self {
        case .event(let event, _): return event
        case .unlinkable(let template):
            let key = NostrSecretKey.generate(using: &random)
            return VerifiedEvent.signed(template, createdAt: wall.unixSeconds, key: key, using: &random)
        }
    }
}

extension EventTemplate {
    /// As an event that nobody has signed, to be written down.
    public var draft: NostrEvent {
        NostrEvent(id: "", pubkey: "", createdAt: 0, kind: kind, tags: tags, content: content, sig: nil)
    }

    public init(draft: NostrEvent) {
        self.init(kind: draft.kind, tags: draft.tags, content: draft.content)
    }
}
