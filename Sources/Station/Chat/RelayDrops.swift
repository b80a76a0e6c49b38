import Basics
import Crypto
import Gateway
import Messenger
import Nostr
import Wire

enum RelayDropLimits {
    /// Drops on their way, and those that wait for one of the few connections the relay client allows: each takes a
    /// circuit and connections of its own. The messenger tries the others again.
    static let pending = 64
    /// Drops looked at and done with. The messenger remembers over restarts whose message it has shown.
    static let remembered = 512
}

/// A person's letters at relays: leaves those for others there, and fetches its own (chapter 06 §5.3, §5.6).
final class RelayDrops {
    static let subscription = Courier.subscriptionID

    /// A letter came in. Answers whether it need not be brought again.
    var onLetter: ((CourierEnvelope) -> Bool)?
    /// Whether a letter is still to be left: it may have arrived since, or the person may not want it any more.
    var isWanted: ((DropTicket) -> Bool)?
    /// What came of a letter that was left.
    var onOutcome: ((DropTicket, _ isConfirmed: Bool) -> Void)?

    private let client: NostrClient
    private let own: NoisePublicKey
    private var random: any RandomNumberGenerator
    private struct Waiting {
        let envelope: CourierEnvelope
        let ticket: DropTicket
    }

    private var underWay: [PublicationID: DropTicket] = [:]
    /// In order of arrival.
    private var waiting: [Waiting] = []
    /// When each of those for whom something waits had a turn last, by the tag their letters bear.
    private(set) var turns: [[UInt8]: UInt64] = [:]
    private var lastTurn: UInt64 = 0
    private var handled = BoundedSet<EventID>(capacity: RelayDropLimits.remembered)
    /// The day whose tags are asked for.
    private var day: UInt32?
    private var pages = DropPages()

    init(client: NostrClient, own: NoisePublicKey, random: any RandomNumberGenerator) {
        self.client = client
        self.own = own
        self.random = random
    }

    // MARK: Out

    /// Each under a key that nobody keeps, over connections of its own, as soon as some are free.
    func leave(_ envelope: CourierEnvelope, _ ticket: DropTicket, at now: Now) {
        forgetUnwanted()
        guard underWay.count + waiting.count < RelayDropLimits.pending else {
            onOutcome?(ticket, false)
            return
        }
        waiting.append(Waiting(envelope: envelope, ticket: ticket))
        pump(at: now)
    }

    /// What came of a publication, whoever asked for it: another may have its connections.
    func published(_ id: PublicationID, _ outcome: PublicationOutcome, at now: Now) {
        if let ticket = underWay.removeValue(forKey: id) {
            if case .accepted = outcome { onOutcome?(ticket, true) } else { onOutcome?(ticket, false) }
        }
        pump(at: now)
    }

    private func forgetUnwanted() {
        waiting.removeAll { !(isWanted?($0.ticket) ?? true) }
        forgetTurns()
    }

    private func forgetTurns() {
        let tags = Set(waiting.map(\.envelope.recipientTag))
        turns = turns.filter { tags.contains($0.key) }
    }

    private func pump(at now: Now) {
        forgetUnwanted()
        while client.hasRoomForIsolated(to: client.defaultRelays, at: now), let next = takeNext() {
            // It is dated when it goes, not when it was asked for.
            guard let event = Courier.drop(of: next.envelope, at: now.wall, using: &random) else {
                onOutcome?(next.ticket, false)
                continue
            }
            let relays = RelayChoice.letterOrder(client.defaultRelays, using: &random)
            underWay[client.publishIsolated(event, to: relays, at: now)] = next.ticket
        }
    }

    /// The people in turn, and what is for each in order: many letters for one hold up nobody else's.
    private func takeNext() -> Waiting? {
        func turn(_ index: Int) -> UInt64 { turns[waiting[index].envelope.recipientTag] ?? 0 }
        guard let index = waiting.indices.min(by: { (turn($0), $0) < (turn($1), $1) }) else { return nil }
        let next = waiting.remove(at: index)
        lastTurn += 1
        turns[next.envelope.recipientTag] = lastTurn
        forgetTurns()
        return next
    }

    // MARK: In

    /// Asks for the person's own, yesterday's to tomorrow's; again whenever the day has changed. Call it every few
    /// seconds.
    func ask(at now: Now) {
        let today = CourierEnvelope.day(at: now.wall)
        if today != day {
            day = today
            if let page = pages.ended(RelayDrops.subscription) { client.unsubscribe(page, at: now) }
            pages.began(RelayDrops.subscription)
            subscribe(RelayDrops.subscription, until: nil, at: now)
        }
        readOn(at: now)
    }

    private func subscribe(_ id: String, until: Int64?, at now: Now) {
        let tags = CourierTag.candidates(for: own, at: now.wall).map(Hex.encode).sorted()
        client.subscribe(
            id, Courier.filter(tags, at: now.wall, until: until), to: .defaultSet, movesSince: false, at: now)
    }

    /// What relays keep has come: a hundred worthless drops must not hide a letter.
    func loaded(_ subscription: String, _ extent: StoredExtent, at now: Now) {
        if pages.loaded(subscription, extent, since: Courier.firstSecond(at: now.wall)) {
            client.unsubscribe(subscription, at: now)
        }
        readOn(at: now)
    }

    private func readOn(at now: Now) {
        while let (page, _, until) = pages.take(at: now.monotonic) { subscribe(page, until: until, at: now) }
    }

    /// What does not open is not remembered: it may later.
    func take(_ event: VerifiedEvent, at now: Now) {
        guard !handled.contains(event.id), let envelope = try? Courier.envelope(in: event.event, at: now.wall),
            onLetter?(envelope) ?? false
        else { return }
        handled.insert(event.id)
    }
}
