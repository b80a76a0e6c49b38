import Basics
import Crypto
import EventLoop
import Nostr
import Vault
import Wire

/// Why an envelope that came from a relay has no effect, besides those the envelope itself gives.
enum RelayMailRefusal: String, CaseIterable, Sendable {
    /// Acted upon before, in this run or an earlier one.
    case repeated
    /// By the time inside (chapter 05 §12.4 rule 4).
    case outdated
    /// No mesh packet of a kind that is mailed.
    case otherContent = "other-content"
}

enum MailLimits {
    /// Outer envelopes are dated back by up to two days; a relay that was away for one more is caught up with (chapter
    /// 05 §12.6).
    static let lookBack: Int64 = 259_200
    static let batch = 500
    /// Messages whose way to a relay is followed at once; as many as the outbox keeps.
    static let underWay = 1_024
}

/// The person's mailbox at relays: puts payloads into envelopes for favourites, and takes theirs out.
final class RelayMail {
    static let subscription = "chat-messages"

    /// A payload came in, from whoever sealed it. Answers whether it was acted upon.
    var onPayload: ((NoisePayload, NostrPublicKey) -> Bool)?
    /// What came of a message that was sent.
    var onOutcome: ((_ messageID: String, PeerID, _ isTaken: Bool) -> Void)?
    private(set) var drops = Tally<RelayMailRefusal>()
    private(set) var rejections = Tally<PrivateEnvelopeRejection>()

    let account: NostrSecretKey
    private let client: NostrClient
    private let archive: NostrArchive?
    private let me: PeerID
    private var random: any RandomNumberGenerator
    private var processed: ProcessedEvents
    private var underWay: [PublicationID: (messageID: String, peer: PeerID)] = [:]

    init(
        account: NostrSecretKey, client: NostrClient, archive: NostrArchive?, me: PeerID,
        random: any RandomNumberGenerator
    ) {
        self.account = account
        self.client = client
        self.archive = archive
        self.me = me
        self.random = random
        processed = ProcessedEvents(archive?.processed ?? [])
    }

    func open(at now: Now) {
        client.subscribe(
            RelayMail.subscription,
            NostrFilter(
                kinds: [EventKind.privateEnvelope], tags: ["p": [account.publicKey.hex]],
                since: now.wall.unixSeconds - MailLimits.lookBack, limit: MailLimits.batch),
            to: .defaultSet, movesSince: false, at: now)
    }

    // MARK: Out

    func send(_ payload: NoisePayload, to key: NostrPublicKey, of peer: PeerID, at now: Now) {
        // Receipts go to the account, not to the peer (chapter 05 §13.1).
        let message = payload.type == .privateMessage ? PrivateMessage(body: payload.body) : nil
        let packet = EmbeddedPacket(
            senderID: me, recipientID: message == nil ? nil : peer, timestamp: now.wall, payload: payload)
        let envelope = packet.text.flatMap {
            PrivateEnvelope.wrap($0, from: account, to: key, at: now.wall, using: &random)
        }
        guard let envelope else {
            if let message { onOutcome?(message.messageID, peer, false) }
            return
        }
        guard let message, underWay.count < MailLimits.underWay else {
            return client.publish(envelope, to: client.defaultRelays, at: now)
        }
        let id = client.publishConfirmed(envelope, to: client.defaultRelays, at: now)
        underWay[id] = (message.messageID, peer)
    }

    func published(_ id: PublicationID, _ outcome: PublicationOutcome) {
        guard let (messageID, peer) = underWay.removeValue(forKey: id) else { return }
        if case .accepted = outcome { onOutcome?(messageID, peer, true) } else { onOutcome?(messageID, peer, false) }
    }

    // MARK: In

    /// How many come is bounded by the relay client, which stops reading a relay that sends more than may be verified:
    /// a flood delays what favourites send, and does not lose it.
    func take(_ event: VerifiedEvent, at now: Now) {
        guard !processed.contains(event.id) else { return drops.count(.repeated) }
        let letter: PrivateLetter
        do {
            letter = try PrivateEnvelope.open(event, with: account)
        } catch {
            return rejections.count(error)
        }
        guard letter.isCurrent(at: now.wall) else { return drops.count(.outdated) }
        guard let packet = letter.packet else { return drops.count(.otherContent) }
        // Only what was acted upon is remembered: what strangers send must not push out what favourites sent.
        guard onPayload?(packet.payload, letter.sender) ?? false, processed.insert(event.id) else { return }
        archive?.keep(processed: event.id)
    }
}
