import Basics

/// Which relays a subscription or publication is for.
public enum RelayTargets: Hashable, Sendable {
    /// The default set, whatever it is at the time.
    case defaultSet
    case listed([NostrRelayURL])
}

/// Tells apart the subscriptions that one id has had.
typealias SubscriptionNumber = UInt64

/// One subscription: what is wanted, kept over reconnects until the owner ends it (chapter 05 §6.5).
struct Subscription {
    let number: SubscriptionNumber
    let id: String
    /// Of the id in UTF-8.
    private let idBytes: [UInt8]
    private(set) var filter: NostrFilter
    let targets: RelayTargets
    /// Replays move `since` up to the last end of stored events less an overlap. Not for stored kinds, whose look-back
    /// means something.
    let movesSince: Bool
    /// When it was made, in Unix seconds.
    private(set) var madeAt: Int64
    /// REQs wait until then: the same id may not be requested twice within a second.
    let dueAt: Instant
    var load: InitialLoad
    /// Unix seconds of the last EOSE from any relay.
    var lastEndOfStored: Int64?

    init(
        number: SubscriptionNumber, id: String, filter: NostrFilter, targets: RelayTargets, movesSince: Bool,
        dueAt: Instant, load: InitialLoad, at wall: WallTime
    ) {
        self.number = number
        self.id = id
        idBytes = Array(id.utf8)
        self.filter = filter
        self.targets = targets
        self.movesSince = movesSince
        self.dueAt = dueAt
        self.load = load
        madeAt = wall.unixSeconds
    }

    /// The filter to send at a relay of `limit` events a request.
    func filter(at now: WallTime, limit: Int?) -> NostrFilter {
        var filter = filter
        if let wanted = filter.limit, let limit { filter.limit = min(wanted, limit) }
        guard movesSince, let since = filter.since else { return filter }
        // After a while as far back as it looked at first, and no further than what was complete at the last end of
        // stored events.
        let age = now.unixSeconds - madeAt
        if age > NostrLimits.sinceOverlap { filter.since = since + age }
        if let last = lastEndOfStored { filter.since = max(filter.since ?? since, last - NostrLimits.sinceOverlap) }
        return filter
    }

    /// The clock that `since` was computed from was wrong by so much.
    mutating func shift(bySeconds seconds: Int64) {
        filter.since = filter.since.map { max(0, $0 + seconds) }
        filter.until = filter.until.map { max(0, $0 + seconds) }
        lastEndOfStored = lastEndOfStored.map { max(0, $0 + seconds) }
        madeAt = max(0, madeAt + seconds)
    }

    /// Whether these bytes are its id.
    func isCalled(_ bytes: UnsafeRawBufferPointer) -> Bool {
        idBytes.count == bytes.count && idBytes.elementsEqual(bytes)
    }

    func isSame(_ filter: NostrFilter, _ targets: RelayTargets) -> Bool {
        self.filter == filter && self.targets == targets
    }
}

/// Watches for the end of a subscription's initial load: when every relay asked has sent EOSE or gone, or after 10 s
/// (chapter 05 §6.6); and for what relays have that answer later.
struct InitialLoad {
    private var awaitingSend: Set<NostrRelayURL>
    private var awaitingEnd: Set<NostrRelayURL> = []
    private var isAnySent = false
    private(set) var isReported = false
    private var extent = StoredExtent()
    let deadline: Instant

    init(relays: [NostrRelayURL], at now: Instant) {
        awaitingSend = Set(relays)
        deadline = now + NostrLimits.initialLoadTimeout
    }

    mutating func sent(to relay: NostrRelayURL) {
        guard awaitingSend.remove(relay) != nil else { return }
        awaitingEnd.insert(relay)
        isAnySent = true
    }

    /// EOSE, CLOSED, disconnection or removal.
    /// - Parameter answer: all that the relay had; nil when it did not come to an end.
    mutating func ended(_ relay: NostrRelayURL, with answer: StoredAnswer? = nil) {
        awaitingSend.remove(relay)
        awaitingEnd.remove(relay)
        if let answer { extent.add(answer) }
    }

    /// How far the answers go back: once when the load is over, and whenever a relay has sent something later.
    /// - Parameter unfinished: what a relay has sent that has not come to an end.
    mutating func takeReport(at now: Instant, _ unfinished: (NostrRelayURL) -> StoredAnswer?) -> StoredExtent? {
        if !isReported {
            let isComplete = awaitingEnd.isEmpty && (isAnySent || awaitingSend.isEmpty)
            guard isComplete || now >= deadline else { return nil }
            isReported = true
            for answer in awaitingEnd.compactMap(unfinished) { extent.add(answer, isOver: false) }
        } else if extent.oldest == nil {
            return nil
        }
        defer { extent = StoredExtent() }
        return extent
    }
}

/// How one relay stands to one subscription that is meant for it.
struct RelayRequest {
    /// When the REQ in force was written; nil while none is.
    private(set) var activeSince: Instant?
    /// While none is in force: no REQ before this.
    private(set) var dueAt: Instant
    var isLoading = false
    /// Until its EOSE; then as it was.
    private(set) var answer = StoredAnswer(limit: nil)
    private(set) var lastRefusal: RelayAnswer?
    private var retryDelay: Interval?

    init(dueAt: Instant) { self.dueAt = dueAt }

    var isActive: Bool { activeSince != nil }

    /// - Parameter limit: most stored events asked for.
    mutating func activate(limit: Int?, at now: Instant) {
        activeSince = now
        isLoading = true
        answer = StoredAnswer(limit: limit)
    }

    /// An event came, made at `time` as far as that can be told. What was not asked for is no part of the answer.
    mutating func received(_ time: Int64?, under filter: NostrFilter) {
        guard isLoading, time.map({ filter.isInPeriod($0) }) ?? true else { return }
        answer.count(time)
    }

    mutating func deactivate() {
        activeSince = nil
        isLoading = false
    }

    /// What stood in the way is gone.
    mutating func readmit(at now: Instant) {
        if !isActive { dueAt = min(dueAt, now) }
    }

    /// The relay ended the subscription. The pause doubles from 60 s to 1 h, and starts over after a REQ that held
    /// longer than the pause before it (chapter 05 §5.2).
    mutating func refused(_ answer: RelayAnswer, at now: Instant) {
        let held = activeSince.map { now - $0 } ?? .zero
        deactivate()
        lastRefusal = answer
        let delay: Interval
        if let last = retryDelay, held <= last {
            delay = min(last * 2, NostrLimits.longestClosedRetry)
        } else {
            delay = NostrLimits.firstClosedRetry
        }
        retryDelay = delay
        dueAt = now + delay
    }
}
