import Basics
import Nostr

/// Where relays have more drops for a subscription than they send at once: anybody can leave a hundred under anybody's
/// tag, and what is older than those would be hidden behind them (NIP-01: the newest come first). One page after
/// another is asked for, each older than the one before, until relays send nothing older or the day is over.
public struct DropPages {
    /// What a page's subscription is called after the one it is of. Two in turn: an end that a relay says late is not
    /// taken for that of the next page.
    private static let suffixes = ["-older", "-older-2"]

    private struct Reading {
        /// The outstanding page and its newest time, in Unix seconds.
        var page: (id: String, until: Int64)?
        /// The newest time of the next page, in Unix seconds.
        var next: Int64?
        /// Where to start again after the last page: relays that answered late were not asked for every page.
        var restart: Int64?
        /// Index into `suffixes` for the next page.
        var suffix = 0
        var lastTurn: UInt64 = 0

        var isWaiting: Bool { page == nil && next != nil }
    }

    /// Keyed by subscription; callers have only a few.
    private var readings: [String: Reading] = [:]
    private var turns: UInt64 = 0
    private var budget = TokenBucket(capacity: CourierLimits.dropPages, perSecond: CourierLimits.dropPagesPerSecond)

    public init() {}

    /// Starts reading a subscription from its first page.
    public mutating func began(_ subscription: String) { readings[subscription] = Reading() }

    /// - Returns: the subscription's outstanding page, if any.
    public mutating func ended(_ subscription: String) -> String? {
        readings.removeValue(forKey: subscription)?.page?.id
    }

    /// Whether more than may be asked for now is to be read.
    public var isBehind: Bool { readings.values.contains(where: \.isWaiting) }

    /// What relays had has come.
    /// - Parameter since: nothing older is asked for, in Unix seconds.
    /// - Returns: whether it was a page, which is over now.
    public mutating func loaded(_ subscription: String, _ extent: StoredExtent, since: Int64) -> Bool {
        if turned(subscription, extent, since: since) { return true }
        answered(subscription, extent, since: since)
        return false
    }

    /// What relays had for the subscription itself has come, of all that answered in time or of one that was late.
    private mutating func answered(_ subscription: String, _ extent: StoredExtent, since: Int64) {
        guard var reading = readings[subscription], let oldest = extent.oldest, oldest > since else { return }
        if reading.page == nil, reading.next == nil {
            reading.next = oldest
        } else {
            reading.restart = max(reading.restart ?? oldest, oldest)
        }
        readings[subscription] = reading
    }

    /// A page has come. Some relays send fewer events than they are asked for and say nothing of it, so that only a
    /// page that goes no further back than the one before was the last.
    /// - Returns: false for what is none, or is not waited for.
    private mutating func turned(_ page: String, _ extent: StoredExtent, since: Int64) -> Bool {
        guard let (subscription, found) = readings.first(where: { $0.value.page?.id == page }),
            let asked = found.page?.until
        else { return false }
        var reading = found
        var next: Int64?
        if let oldest = extent.oldest {
            // A full page of one second would be told again and again.
            next = oldest < asked ? oldest : extent.full == nil ? nil : asked - 1
        }
        reading.page = nil
        reading.next = next.flatMap { $0 > since ? $0 : nil }
        if reading.next == nil { (reading.next, reading.restart) = (reading.restart, nil) }
        readings[subscription] = reading
        return true
    }

    /// The page to ask for, those of the subscriptions in turn; nil when there is none, or too many were asked for
    /// lately.
    public mutating func take(at now: Instant) -> (page: String, subscription: String, until: Int64)? {
        let longestAgo = readings.filter(\.value.isWaiting).min {
            ($0.value.lastTurn, $0.key) < ($1.value.lastTurn, $1.key)
        }
        guard let (subscription, found) = longestAgo, let until = found.next, budget.take(at: now) else { return nil }
        var reading = found
        let page = subscription + DropPages.suffixes[reading.suffix]
        turns += 1
        reading.suffix = (reading.suffix + 1) % DropPages.suffixes.count
        reading.lastTurn = turns
        reading.next = nil
        reading.page = (page, until)
        readings[subscription] = reading
        return (page, subscription, until)
    }

    var nextDeadline: Instant? {
        isBehind ? budget.available(at: .zero) : nil
    }
}
