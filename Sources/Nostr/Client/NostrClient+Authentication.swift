import Basics
import Crypto

/// Relays that want their clients to authenticate.
extension NostrClient {
    func challenged(_ challenge: JSONString?, by relay: RelayConnection, at now: Now) {
        guard let challenge, (1...NostrLimits.challengeBytes).contains(challenge.utf8Count) else {
            drops.count(.authIgnored)
            return bothered(by: relay, at: now)
        }
        relay.authentication.challenged(challenge.text)
        guard !authenticate(to: relay, at: now) else { return }
        drops.count(.authIgnored)
        bothered(by: relay, at: now)
    }

    /// The relay refused something until we authenticate.
    func authenticationDemanded(by relay: RelayConnection, at now: Now) {
        relay.authentication.demand()
        _ = authenticate(to: relay, at: now)
    }

    private func authenticate(to relay: RelayConnection, at now: Now) -> Bool {
        guard let challenge = relay.authentication.takeChallenge() else { return false }
        let key = NostrSecretKey.generate(using: &random)
        let template = EventTemplate.authentication(relay: relay.url, challenge: challenge)
        guard
            let event = VerifiedEvent.signed(
                template, createdAt: now.wall.unixSeconds, key: key, using: &random)
        else { return false }
        relay.authentication.answered(with: event.id)
        activity.count(.authenticationSent)
        emit(.send(ClientFrame.authentication(event.json()), on: relay.socket))
        return true
    }

    /// What the relay says to our authentication. What it refused for want of it is asked for again.
    func authenticationAnswered(_ answer: RelayAnswer, by relay: RelayConnection, at now: Now) {
        guard answer.isSuccess else { return }
        activity.count(.authenticationAccepted)
        relay.authentication.accepted()
        relay.readmitRequests(refusedFor: .authRequired, at: now.monotonic)
        sendRequests(to: relay, at: now)
    }
}
