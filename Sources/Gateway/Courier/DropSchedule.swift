import Basics
import Crypto
import Wire

/// One attempt to leave a copy at relays: an answer to an earlier one, which comes late, settles nothing.
public struct DropAttempt: Hashable, Sendable {
    public let mail: MailID
    /// Never used twice in a run.
    let number: UInt64
}

/// When an envelope's next copy goes to the relays (chapter 06 §5.4): at once when it was taken in, ever more rarely
/// the more copies were confirmed, and after a pause where nobody confirmed.
struct DropSchedule {
    private struct Failure {
        var count = 0
        var retryAt: Instant
    }

    let pauses: [UInt64]
    private var inFlight: [MailID: UInt64] = [:]
    private var lastNumber: UInt64 = 0
    private var failures: [MailID: Failure] = [:]

    init(pauses: [UInt64] = CourierPolicy.gateway.publicationPauses) { self.pauses = pauses }

    /// Envelopes due, as many as may be under way: the never published first, and of those the first of each depositor
    /// before anybody's second, so that whoever leaves many holds up nobody else's.
    func due(among carried: [CarriedEnvelope], at now: Now) -> [CarriedEnvelope] {
        let room = CourierLimits.publicationsAtOnce - underWay
        guard room > 0 else { return [] }
        let due = carried.filter { mail in
            guard inFlight[mail.id] == nil, !mail.envelope.isExpired(at: now.wall) else { return false }
            if let failure = failures[mail.id], failure.retryAt > now.monotonic { return false }
            return isPauseOver(mail, at: now.wall)
        }
        var ranks: [NoisePublicKey: Int] = [:]
        for mail in carried where inFlight[mail.id] != nil || mail.lastPublished != nil {
            ranks[mail.depositor, default: 0] += 1
        }
        let ranked = due.enumerated().map { place, mail in
            let rank = ranks[mail.depositor, default: 0]
            ranks[mail.depositor] = rank + 1
            return (mail: mail, order: (mail.lastPublished == nil ? 0 : 1, rank, place))
        }
        return ranked.sorted { $0.order < $1.order }.prefix(room).map(\.mail)
    }

    private func isPauseOver(_ mail: CarriedEnvelope, at wall: WallTime) -> Bool {
        guard let last = mail.lastPublished else { return true }
        return wall.distance(to: last) >= pause(after: Int(mail.publications))
    }

    private func pause(after publications: Int) -> UInt64 {
        let index = min(max(publications, 1), pauses.count) - 1
        return pauses.indices.contains(index) ? pauses[index] : 0
    }

    var underWay: Int { inFlight.count }

    mutating func begin(_ id: MailID) -> DropAttempt {
        lastNumber += 1
        inFlight[id] = lastNumber
        return DropAttempt(mail: id, number: lastNumber)
    }

    /// - Returns: whether anybody waits for this answer.
    mutating func ended(_ attempt: DropAttempt, isConfirmed: Bool, at now: Instant) -> Bool {
        let id = attempt.mail
        guard inFlight[id] == attempt.number else { return false }
        inFlight[id] = nil
        guard !isConfirmed else {
            failures[id] = nil
            return true
        }
        let count = (failures[id]?.count ?? 0) + 1
        let pause = CourierLimits.retryPause * Int64(1 << min(count - 1, 8))
        failures[id] = Failure(count: count, retryAt: now + min(pause, CourierLimits.longestRetryPause))
        return true
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
