import Basics
import Wire

/// Which recipients source routes have lately failed for (chapter 03 B9.5). A routed send counts as failed when nothing
/// authored by the recipient is heard for ten seconds.
struct RouteHealth {
    private struct Record {
        var pendingSince: Instant?
        var suppressedUntil: Instant?
        var touched: Instant
    }

    private var records: [PeerID: Record] = [:]

    /// Whether a route may be tried now. Asking turns an overdue send into a suppression.
    mutating func mayRoute(to recipient: PeerID, at now: Instant) -> Bool {
        guard var record = records[recipient] else { return true }
        if let until = record.suppressedUntil, now < until { return false }
        if let since = record.pendingSince, now - since > MeshLimits.routeConfirmationWindow {
            record.pendingSince = nil
            record.suppressedUntil = now + MeshLimits.routeSuppression
            record.touched = now
            records[recipient] = record
            return false
        }
        return true
    }

    mutating func noteRoutedSend(to recipient: PeerID, at now: Instant) {
        guard records[recipient] != nil || records.count < MeshLimits.routeRecordCapacity else { return }
        var record = records[recipient] ?? Record(touched: now)
        record.pendingSince = record.pendingSince ?? now
        record.touched = now
        records[recipient] = record
    }

    /// A packet authored by `author` arrived. Lifts no suppression.
    mutating func confirm(_ author: PeerID) {
        guard !records.isEmpty, records[author]?.pendingSince != nil else { return }
        records[author]?.pendingSince = nil
    }

    mutating func prune(at now: Instant) {
        records = records.filter { now - $0.value.touched <= MeshLimits.routeRecordIdle }
    }
}
