import Basics

/// Publications that wait for a relay's word (chapter 05 §6.8). Oldest first.
struct Confirmations {
    private struct Attempt {
        let id: PublicationID
        let event: EventID
        /// Relays that may still accept it, and whether it has been written to each.
        var waiting: [NostrRelayURL: Bool]
        let deadline: Instant
    }

    typealias Result = (id: PublicationID, outcome: PublicationOutcome)

    private var attempts: [Attempt] = []

    var count: Int { attempts.count }
    var nextDeadline: Instant? { attempts.first?.deadline }

    mutating func begin(_ id: PublicationID, event: EventID, relays: [NostrRelayURL], at now: Instant) {
        let waiting = Dictionary(relays.map { ($0, false) }, uniquingKeysWith: { $1 })
        attempts.append(
            Attempt(id: id, event: event, waiting: waiting, deadline: now + NostrLimits.confirmationTimeout))
    }

    mutating func written(_ id: PublicationID, to relay: NostrRelayURL) {
        guard let index = attempts.firstIndex(where: { $0.id == id }) else { return }
        if attempts[index].waiting[relay] != nil { attempts[index].waiting[relay] = true }
    }

    /// Fails the attempt for the same event that a newer one takes the place of.
    mutating func supersede(_ event: EventID) -> Result? {
        guard let index = attempts.firstIndex(where: { $0.event == event }) else { return nil }
        return (attempts.remove(at: index).id, .failed(.superseded))
    }

    /// A relay's answer; nil when it settles nothing. An answer to what was not yet written is no answer.
    mutating func answered(_ event: EventID, _ answer: RelayAnswer, by relay: NostrRelayURL) -> Result? {
        guard let index = attempts.firstIndex(where: { $0.event == event && $0.waiting[relay] == true })
        else { return nil }
        if answer.isSuccess { return (attempts.remove(at: index).id, .accepted(by: relay)) }
        return lost(relay, at: index)
    }

    /// `relay` is not asked at all.
    mutating func declined(_ id: PublicationID, by relay: NostrRelayURL) -> Result? {
        attempts.firstIndex { $0.id == id }.flatMap { lost(relay, at: $0) }
    }

    /// `relay` went away.
    mutating func disconnected(_ relay: NostrRelayURL) -> [Result] {
        attempts.indices.reversed().compactMap { lost(relay, at: $0) }.reversed()
    }

    private mutating func lost(_ relay: NostrRelayURL, at index: Int) -> Result? {
        guard attempts[index].waiting.removeValue(forKey: relay) != nil, attempts[index].waiting.isEmpty
        else { return nil }
        return (attempts.remove(at: index).id, .failed(.rejected))
    }

    mutating func expired(at now: Instant) -> [Result] {
        let late = attempts.prefix { $0.deadline <= now }
        attempts.removeFirst(late.count)
        return late.map { ($0.id, .failed(.timedOut)) }
    }
}
