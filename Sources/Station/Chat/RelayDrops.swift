import Basics
import Crypto
import Gateway
import Messenger
import Nostr
import Wire

enum RelayDropLimits {
    /// Drops on their way; each has a circuit and connections of its own, of which the relay client allows few.
    static let underWay = 64
    /// Drops looked at and done with. The messenger remembers over restarts whose message it has shown.
    static let remembered = 512
}

/// A person's letters at relays: leaves those for others there, and fetches its own (chapter 06 §5.3, §5.6).
final class RelayDrops {
    static let subscription = "bridge-courier-drops"

    /// A letter came in. Answers whether it need not be brought again.
    var onLetter: ((CourierEnvelope) -> Bool)?
    /// What came of a letter that was left.
    var onOutcome: ((DropTicket, _ isConfirmed: Bool) -> Void)?

    private let client: NostrClient
    private let own: NoisePublicKey
    private var random: any RandomNumberGenerator
    private var underWay: [PublicationID: DropTicket] = [:]
    private var handled = BoundedSet<EventID>(capacity: RelayDropLimits.remembered)
    /// The day whose tags are asked for.
    private var day: UInt32?

    init(client: NostrClient, own: NoisePublicKey, random: any RandomNumberGenerator) {
        self.client = client
        self.own = own
        self.random = random
    }

    // MARK: Out

    /// Each under a key that nobody keeps, over connections of its own.
    func leave(_ envelope: CourierEnvelope, _ ticket: DropTicket, at now: Now) {
        guard underWay.count < RelayDropLimits.underWay,
            let event = Courier.drop(of: envelope, at: now.wall, using: &random)
        else {
            onOutcome?(ticket, false)
            return
        }
        underWay[client.publishIsolated(event, to: client.defaultRelays, at: now)] = ticket
    }

    func published(_ id: PublicationID, _ outcome: PublicationOutcome) {
        guard let ticket = underWay.removeValue(forKey: id) else { return }
        if case .accepted = outcome { onOutcome?(ticket, true) } else { onOutcome?(ticket, false) }
    }

    // MARK: In

    /// Asks for the person's own, yesterday's to tomorrow's; again whenever the day has changed.
    func ask(at now: Now) {
        let today = CourierEnvelope.day(at: now.wall)
        guard today != day else { return }
        day = today
        client.subscribe(
            RelayDrops.subscription,
            NostrFilter(
                kinds: [EventKind.courierDrop],
                tags: ["x": CourierTag.candidates(for: own, at: now.wall).map(Hex.encode).sorted()],
                since: now.wall.unixSeconds - CourierLimits.dropLookBack, limit: CourierLimits.dropLimit),
            to: .defaultSet, movesSince: false, at: now)
    }

    /// In the order of chapter 06 §5.6. What does not open is not remembered: it may later.
    func take(_ event: VerifiedEvent, at now: Now) {
        guard event.event.kind == EventKind.courierDrop, !handled.contains(event.id),
            event.event.content.utf8.count <= (CourierLimits.dropBytes + 2) / 3 * 4,
            let bytes = Base64.decode(event.event.content), bytes.count <= CourierLimits.dropBytes,
            let envelope = CourierEnvelope(payload: bytes), !envelope.isExpired(at: now.wall),
            event.event.hasTag("x", Hex.encode(envelope.recipientTag)), onLetter?(envelope) ?? false
        else { return }
        handled.insert(event.id)
    }
}
