import Basics
import Wire

/// When an envelope's next copy goes to the relays (chapter 06 §5.4): at once when it was taken in, ever more rarely
/// the more copies were confirmed, and after a pause where nobody confirmed.
struct DropSchedule {
    private struct Failure {
        var count = 0
        var retryAt: Instant
    }

    let pauses: [UInt64]
    private(set) var inFlight: Set<MailID> = []
    private var failures: [MailID: Failure] = [:]

    init(pauses: [UInt64] = CourierPolicy.gateway.publicationPauses) { self.pauses = pauses }

    /// Envelopes due, the never published first, as many as may be under way.
    func due(among carried: [CarriedEnvelope], at now: Now) -> [CarriedEnvelope] {
        let room = CourierLimits.publicationsAtOnce - inFlight.count
        guard room > 0 else { return [] }
        let due = carried.filter { mail in
            guard !inFlight.contains(mail.id), !mail.envelope.isExpired(at: now.wall) else { return false }
            if let failure = failures[mail.id], failure.retryAt > now.monotonic { return false }
            return isPauseOver(mail, at: now.wall)
        }
        return Array((due.filter { $0.lastPublished == nil } + due.filter { $0.lastPublished != nil }).prefix(room))
    }

    private func isPauseOver(_ mail: CarriedEnvelope, at wall: WallTime) -> Bool {
        guard let last = mail.lastPublished else { return true }
        return wall.distance(to: last) >= pause(after: Int(mail.publications))
    }

    private func pause(after publications: Int) -> UInt64 {
        let index = min(max(publications, 1), pauses.count) - 1
        return pauses.indices.contains(index) ? pauses[index] : 0
    }

    mutating func began(_ id: MailID) { inFlight.insert(id) }

    mutating func ended(_ id: MailID, isConfirmed: Bool, at now: Instant) {
        inFlight.remove(id)
        guard !isConfirmed else {
            failures[id] = nil
            return
        }
        let count = (failures[id]?.count ?? 0) + 1
        let pause = CourierLimits.retryPause * Int64(1 << min(count - 1, 8))
        failures[id] = Failure(count: count, retryAt: now + min(pause, CourierLimits.longestRetryPause))
    }

    /// Forgets what is not carried any more; its bound is the store's.
    mutating func keep(_ isCarried: (MailID) -> Bool) {
        failures = failures.filter { isCarried($0.key) }
    }

    /// What was under way is nobody's business any more, and fails.
    mutating func cancel() {
        inFlight.removeAll()
        failures.removeAll()
    }

    func nextRetry(at now: Instant) -> Instant? { failures.values.map(\.retryAt).filter { $0 > now }.min() }
}
