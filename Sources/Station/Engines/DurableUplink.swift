import Basics
import Nostr

/// Publications that outlive the process: joins the engine to the relay client and to what keeps its records.
final class DurableUplink {
    let publications: DurablePublications
    private let client: NostrClient
    /// `nil` where nothing outlives the process.
    private let archive: NostrArchive?
    private var random = SystemRandomNumberGenerator()

    init(client: NostrClient, archive: NostrArchive?, random: any RandomNumberGenerator) {
        self.client = client
        self.archive = archive
        publications = DurablePublications(random: random)
    }

    /// Call it once, before the first publication.
    func restore(at now: Now) { publications.restore(archive?.publications ?? [], at: now) }

    /// Carries out one effect; nil when there is none.
    /// - Parameter relays: those of a place.
    func next(at now: Now, relaysOf relays: (String) -> [NostrRelayURL]) -> RelayInput? {
        guard let effect = publications.nextEffect() else { return nil }
        switch effect {
        case .keep(let record, let isUrgent): archive?.keep(record, isUrgent: isUrgent)
        case .forget(let key): archive?.forget(key)
        case .publish(let key, let event, let place, let isIsolated):
            var targets = place.map(relays) ?? client.defaultRelays
            let id: PublicationID
            if isIsolated {
                if place == nil { targets = RelayChoice.letterOrder(targets, using: &random) }
                id = client.publishIsolated(event, to: targets, at: now)
            } else {
                client.hold(targets, at: now)
                id = client.publishConfirmed(event, to: targets, at: now)
            }
            publications.began(key, as: id)
        case .finished(let key, let outcome): return .published(key, outcome)
        }
        return .handled
    }
}
