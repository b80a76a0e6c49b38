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
    let filter: NostrFilter
    let targets: RelayTargets
    /// Replays move `since` up to the last end of stored events less an overlap. Not for stored kinds, whose look-back
    /// means something.
    let movesSince: Bool
    /// REQs wait until then: the same id may not be requested twice within a second.
    let dueAt: Instant
    var load: InitialLoad
    /// Unix seconds of the last EOSE from any relay.
    var lastEndOfStored: Int64?

    /// The filter to send now.
    var currentFilter: NostrFilter {
        guard movesSince, let since = filter.since, let last = lastEndOfStored else { return filter }
        var filter = filter
        filter.since = max(since, last - NostrLimits.sinceOverlap)
        return filter
    }

    func isSame(_ filter: NostrFilter, _ targets: RelayTargets) -> Bool {
        self.filter == filter && self.targets == targets
    }
}

/// Watches for the end of a subscription's initial load: when every relay asked has sent EOSE or gone, or after 10 s
/// (chapter 05 §6.6).
struct InitialLoad {
    private var awaitingSend: Set<NostrRelayURL>
    private var awaitingEnd: Set<NostrRelayURL> = []
    private var isAnySent = false
    private(set) var isReported = false
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
    mutating func ended(_ relay: NostrRelayURL) {
        awaitingSend.remove(relay)
        awaitingEnd.remove(relay)
    }

    /// True once, when the load is over.
    mutating func takeCompletion(at now: Instant) -> Bool {
        guard !isReported else { return false }
        let isComplete = awaitingEnd.isEmpty && (isAnySent || awaitingSend.isEmpty)
        guard isComplete || now >= deadline else { return false }
        isReported = true
        return true
    }
}

/// How one relay stands to one subscription that is meant for it.
struct RelayRequest {
    /// When the REQ in force was written; nil while none is.
    private(set) var activeSince: Instant?
    /// While none is in force: no REQ before this.
    private(set) var dueAt: Instant
    var isLoading = false
    private(set) var lastRefusal: RelayAnswer?
    private var retryDelay: Interval?

    init(dueAt: Instant) { self.dueAt = dueAt }

    var isActive: Bool { activeSince != nil }

    mutating func activate(at now: Instant) {
        activeSince = now
        isLoading = true
    }

    mutating func deactivate() {
        activeSince = nil
        isLoading = false
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
