import Basics
import Crypto
import Wire

/// What the messenger wants done. Take effects with `Messenger.nextEffect()` until there are none, after every call.
public enum MessengerEffect: Sendable {
    /// Send through the session with the peer, in the order of the effects.
    case send(NoisePayload, to: PeerID)
    /// Put into an envelope for this account of the peer's and publish it; `mailed` reports what comes of a message,
    /// receipts go as they may.
    case mail(NoisePayload, to: NostrPublicKey, of: PeerID)
    /// See to a session with the peer; report what comes of it.
    case openSession(PeerID)
    /// Keep this for the next start, replacing an earlier record of the same key.
    case remember(TrustRecord)
    /// Nothing is to be kept about this key any more.
    case forget(Fingerprint)
    /// Hand this to a neighbour to carry, over its link. Answer with `deposited`.
    case deposit(CourierEnvelope, with: PeerID, DepositTicket)
    /// Leave this at the default relays, confirmed, under a key and over connections of its own. Answer with `dropped`.
    case drop(CourierEnvelope, DropTicket)
    /// Keep this for the next start, replacing an earlier record of its name.
    case store(MessengerRecord)
    case discard(messageID: String)
    /// Nothing is to be kept of this one's prekeys any more.
    case forgetBundle(of: NoisePublicKey)
    case discardHeld(CourierEnvelope)
    /// Broadcast this as the payload of a signed packet 0x24, and give it to gossip.
    case publish(PrekeyBundle)
    case show(MessengerEvent)
}

/// What must survive a restart, besides trust.
public enum MessengerRecord: Sendable {
    case message(OutboxRecord)
    case received(ReceivedMessage)
    case drop(PublishedDrop)
    /// A secret snapshot of `OwnPrekeys`.
    case prekeys(SecretBytes)
    case bundle(PeerPrekeys.Record)
    /// Mail that waits for the clock.
    case held(CourierEnvelope)
}

/// Names a message on its way to a courier.
public struct DepositTicket: Hashable, Sendable {
    let peer: PeerID
    let messageID: String
    let courier: NoisePublicKey
}

/// What a person is told.
public enum MessengerEvent: Hashable, Sendable {
    /// Somebody wrote. Name and text are theirs, and hostile until escaped.
    case message(from: PeerID, isVerified: Bool, text: String)
    /// An own message, as it will be referred to.
    case outgoing(number: Int, to: PeerID, text: String)
    case delivery(number: Int, to: PeerID, DeliveryState)
    /// Messages wait until the peer is in reach.
    case waiting(for: PeerID)
    case file(from: PeerID, isVerified: Bool, FileNotice)
    /// Somebody made the person a favourite, or takes it back.
    case favorite(by: PeerID, Bool)
    case verified(PeerID)
    case verificationFailed(PeerID, VerificationFailure)
    /// Somebody checks the person's code.
    case beingVerified(by: PeerID)
    /// Somebody verified vouches for so many others.
    case vouched(by: PeerID, count: Int)
}

public enum VerificationFailure: String, CaseIterable, Sendable {
    case noAnswer = "no-answer"
    /// An answer that the code's owner did not give.
    case wrongKey = "wrong-key"
}

/// Why a command is not carried out.
public enum MessengerRefusal: String, CaseIterable, Error, Sendable {
    case unknownPeer = "unknown-peer"
    case blocked
    case tooLong = "too-long"
    case otherFingerprint = "other-fingerprint"
    case bookIsFull = "book-is-full"
}

/// Why something a peer sent has no effect.
public enum MessengerDrop: String, CaseIterable, Sendable {
    case blockedSender = "blocked-sender"
    case malformed
    case repeated
    case unknownReceipt = "unknown-receipt"
    case unexpectedResponse = "unexpected-response"
    case refusedChallenge = "refused-challenge"
    case refusedFile = "refused-file"
    case unsupported
    /// A favourite notice of somebody who has not announced the key.
    case unknownKey = "unknown-key"
    case bookIsFull = "book-is-full"
    /// Too much mail waits for the clock.
    case noRoomForMail = "no-room-for-mail"
    /// Mail of an account no favourite has told.
    case unknownAccount = "unknown-account"
    /// Mail of somebody the person did not make a favourite.
    case notAFavorite = "not-a-favorite"
}

/// Somebody in reach, as announced.
public struct Acquaintance: Hashable, Sendable {
    public var noiseKey: NoisePublicKey
    public var signingKey: SigningPublicKey
    public var nickname: String
    /// A direct neighbour.
    public var isConnected: Bool
    public var capabilities: Capabilities?

    public init(
        noiseKey: NoisePublicKey, signingKey: SigningPublicKey, nickname: String, isConnected: Bool = false,
        capabilities: Capabilities? = nil
    ) {
        self.noiseKey = noiseKey
        self.signingKey = signingKey
        self.nickname = nickname
        self.isConnected = isConnected
        self.capabilities = capabilities
    }

    public var peerID: PeerID { noiseKey.peerID }
    public var fingerprint: Fingerprint { noiseKey.fingerprint }
}
