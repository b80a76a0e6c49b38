import Basics
import Crypto
import Wire

/// What the mail desk wants done, in this order: what is to be stored must be stored before what follows is done.
public enum MailEffect: Sendable {
    /// Keep this secret snapshot for the next start (`OwnPrekeys`).
    case storePrekeys(SecretBytes)
    /// Keep this for the next start, replacing the owner's earlier record.
    case storeBundle(PeerPrekeys.Record)
    /// Nothing of this owner's is to be kept any more.
    case discardBundle(NoisePublicKey)
    /// Broadcast this as the payload of a signed packet 0x24, and give it to gossip.
    case publish(PrekeyBundle)
    /// Somebody wrote, and has not been told that it arrived.
    case letter(Mailbox.Letter)
}

/// Sealed mail both ways, without I/O: opens what is for us, seals for others, and keeps the prekeys of both sides
/// (chapter 02 §7).
///
/// Wall time must be right: tags, expiry and the life of prekeys follow it. Until it is, do not start the desk.
public final class MailDesk {
    public private(set) var drops = Tally<EnvelopeRefusal>()

    private let identity: NodeIdentity
    private var random: any RandomNumberGenerator
    private var prekeys: OwnPrekeys
    private var bundles = PeerPrekeys()
    private var mailbox: Mailbox
    private var nextMaintenance: Instant?
    private var lastPublished: Instant?
    private var effects = Queue<MailEffect>()

    /// - Parameters:
    ///   - prekeys: the last snapshot stored; `nil` for none yet.
    ///   - bundles: the records stored, the longest unchanged first.
    public init(
        identity: NodeIdentity, prekeys: OwnPrekeys? = nil, bundles: [PeerPrekeys.Record] = [],
        random: any RandomNumberGenerator
    ) {
        self.identity = identity
        self.random = random
        self.prekeys = prekeys ?? OwnPrekeys()
        self.bundles.restore(bundles)
        mailbox = Mailbox(identity: identity.noise)
    }

    public func start(at now: Now) { maintain(at: now) }

    public var nextDeadline: Instant? { nextMaintenance }

    public func timeout(at now: Now) {
        if let due = nextMaintenance, due <= now.monotonic { maintain(at: now) }
    }

    public func nextEffect() -> MailEffect? { effects.popFirst() }

    // MARK: Own prekeys

    /// Our announce went out: the bundle goes with it, though not more often than hourly (§7.8).
    public func announced(at now: Now) {
        guard nextMaintenance != nil else { return }
        if let last = lastPublished, now.monotonic - last < MessengerLimits.bundleInterval { return }
        publish(at: now)
    }

    private func maintain(at now: Now) {
        nextMaintenance = now.monotonic + MessengerLimits.bundleInterval
        guard prekeys.maintain(at: now.wall, using: &random) else { return }
        effects.append(.storePrekeys(prekeys.snapshot))
        publish(at: now)
    }

    private func publish(at now: Now) {
        guard let bundle = prekeys.bundle(of: identity) else { return }
        lastPublished = now.monotonic
        effects.append(.publish(bundle))
    }

    // MARK: Receiving

    /// Whether an envelope may be for us, where nobody knows the day: its writer did, and it expires a day later.
    func mayBeForUs(_ envelope: CourierEnvelope) -> Bool {
        mailbox.isForUs(envelope, at: envelope.expiry.before(MessengerLimits.outboxLife))
    }

    /// Whether the key that an envelope says it is sealed to is there.
    func hasKey(of envelope: CourierEnvelope) -> Bool { envelope.prekeyID.map { prekeys.contains($0) } ?? true }

    /// Opens an envelope, whoever brought it.
    /// - Returns: whether it need not be brought again.
    @discardableResult
    public func take(
        _ envelope: CourierEnvelope, at now: Now, isBlocked: (NoisePublicKey) -> Bool = { _ in false }
    ) -> Bool {
        open(envelope, at: now, isBlocked: isBlocked).isHandled
    }

    /// Opens an envelope that nobody will bring again.
    /// - Returns: whether it need not be kept any longer.
    func takeHeld(_ envelope: CourierEnvelope, at now: Now, isBlocked: (NoisePublicKey) -> Bool) -> Bool {
        !open(envelope, at: now, isBlocked: isBlocked).isWaitingForKey
    }

    private func open(
        _ envelope: CourierEnvelope, at now: Now, isBlocked: (NoisePublicKey) -> Bool
    ) -> Mailbox.Opening {
        let opening = mailbox.open(
            envelope, prekeys: &prekeys, at: now.wall, isBlocked: isBlocked, using: &random)
        switch opening.consumption {
        case .toppedUp:
            effects.append(.storePrekeys(prekeys.snapshot))
            publish(at: now)
        case .first:
            effects.append(.storePrekeys(prekeys.snapshot))
            announced(at: now)
        case .repeated, nil: break
        }
        switch opening.result {
        case .letter(let letter): effects.append(.letter(letter))
        case .dropped(let why): drops.count(why)
        }
        return opening
    }

    /// Keeps the bundle of somebody else for sealing to.
    public func take(_ bundle: Verified<PrekeyBundle>) {
        guard let owner = NoisePublicKey(bundle.payload.noisePublicKey), owner != identity.noise.publicKey,
            case .kept(let forgotten) = bundles.take(bundle), let record = bundles.record(of: owner)
        else { return }
        if let forgotten { effects.append(.discardBundle(forgotten)) }
        effects.append(.storeBundle(record))
    }

    // MARK: Sending

    /// A message that an earlier run sealed to this prekey, which must serve no other.
    func noteAssigned(_ prekey: UInt32, of owner: NoisePublicKey, to messageID: String) {
        bundles.noteAssigned(prekey, of: owner, to: messageID)
    }

    /// Seals a private message for somebody who is away; `nil` when a text is too long or the key is refused.
    ///
    /// - Parameters:
    ///   - opensPrekeys: whether the recipient, being in reach, announces that it opens mail to prekeys; `nil` while it
    ///     is away.
    ///   - copies: `SealedMail.courierCopies` for couriers, 1 for a relay.
    public func seal(
        _ message: PrivateMessage, to recipient: NoisePublicKey, opensPrekeys: Bool? = nil,
        copies: UInt8 = SealedMail.courierCopies, at now: Now
    ) -> CourierEnvelope? {
        guard let body = message.encoded() else { return nil }
        var prekey: PrekeyBundle.Prekey?
        if opensPrekeys != false {
            prekey = bundles.prekey(for: message.messageID, to: recipient, at: now.wall)
            // A prekey assigned is used up, whatever becomes of the envelope.
            if prekey != nil, let record = bundles.record(of: recipient) { effects.append(.storeBundle(record)) }
        }
        return SealedMail.seal(
            NoisePayload(type: .privateMessage, body: body).encoded(), to: recipient, prekey: prekey,
            from: identity.noise, copies: copies, at: now.wall, using: &random)
    }
}
