import Basics

/// Every bound of private messaging.
public enum MessengerLimits {
    // MARK: One-time prekeys (chapter 02 §7.7)

    /// Unconsumed keys in the published bundle.
    static let prekeyBatch = 8
    /// With fewer than this left, the batch is filled up.
    static let prekeyFloor = 3
    /// Milliseconds a consumed private key still opens redeliveries: 48 h.
    static let consumedPrekeyLife: UInt64 = 172_800_000
    /// Milliseconds an unconsumed key is offered: 30 d.
    static let prekeyLife: UInt64 = 2_592_000_000
    /// Milliseconds after which an unchanged bundle gets a new date, because senders refuse it after seven days: 6 d.
    static let prekeyRestamp: UInt64 = 518_400_000
    /// Consumed keys kept at once. Beyond the specification: whoever fetches bundles quickly could otherwise make the
    /// box keep any number for two days. The longest consumed goes first.
    static let consumedPrekeys = 256
    /// An unchanged bundle is broadcast at most so often (§7.8).
    static let bundleInterval = Interval.minutes(60)

    // MARK: Prekeys of others (chapter 02 §7.8)

    public static let bundleOwners = 200
    /// Milliseconds a bundle may be old to seal to it: 7 d.
    static let bundleAge: UInt64 = 604_800_000

    // MARK: Mail (chapter 02 §7.5)

    /// Inner message IDs remembered as opened.
    static let openedMail = 512

    // MARK: People (chapter 02 §2.5, §6.6, §6.7)

    /// Records of the trust book. The specification leaves the number to the box; people decide by hand.
    public static let trustRecords = 2_000
    static let vouchees = 1_000
    static let vouchersPerVouchee = 8
    /// Milliseconds between two batches for one peer: 24 h.
    static let vouchInterval: UInt64 = 86_400_000
    static let codeInterval = Interval.seconds(60)
    /// How long a challenge waits for a session and an answer: handshake and its one retry take 20 s (§4.2).
    static let verificationTimeout = Interval.seconds(30)
    static let pendingVerifications = 16
    static let answeredChallenges = 256
    /// One notice of being verified a peer in this time (§6.6).
    static let beingVerifiedInterval = Interval.seconds(600)

    // MARK: Conversations (chapter 06 §7, chapter 02 §6.1)

    /// Messages kept for one peer, and for all.
    public static let outboxPerPeer = 100
    public static let outboxTotal = 1_024
    static let outboxLife = Interval.hours(24)
    public static let sendAttempts = 8
    static let outboxSweep = Interval.seconds(120)
    /// Messages one typed text may become.
    public static let partsPerText = 16
    /// IDs of incoming messages remembered.
    public static let incomingMemory = 1_024
    /// People in reach; as many as the registry of the mesh holds.
    static let people = 1_024

    // MARK: Couriers and relays (chapter 06 §5.3, §5.8, §6.8)

    public static let couriersPerMessage = 3
    /// Drops that wait for a relay; the one that waited longest makes room.
    static let waitingDrops = 20
    /// Drops remembered as published, and as refused; entries, and age in milliseconds: 24 h.
    public static let rememberedDrops = 512
    static let rememberedDropLife: UInt64 = 86_400_000
    /// Messages whose writers have not been told that they arrived.
    static let owedReceipts = 512
    /// How long a receipt that was sent is kept, for a new session that shows the one before to have been dead: ours. A
    /// peer that cannot open what it gets begins one at once, and its handshake takes 20 s at most (chapter 02 §4.2).
    static let receiptPatience = Interval.seconds(60)
    /// Envelopes that wait until it is known what time it is: ours.
    public static let heldMail = 64
}
