import Basics

/// Every bound of the gateway, the bridge and the phone side (chapter 06 §18), apart from those of the wire.
public enum GatewayLimits {
    // MARK: Carried events

    /// Largest difference between an event's `created_at` and now, in seconds (chapter 06 §3.2, §3.4, §4.8).
    public static let eventSkew: UInt64 = 900
    /// Longest bridged text, in UTF-8 bytes (chapter 06 §4.8).
    public static let contentBytes = 16_000
    /// Longest location-channel text shown, in characters (chapter 05 §8.2).
    public static let channelCharacters = 16_000

    // MARK: Loop prevention

    /// Event IDs remembered in each of `meshSeen`, `published`, `rebroadcast` and `received` (chapter 06 §3.1, §4.12).
    public static let rememberedIDs = 512
    /// Event IDs that are kept over a restart: those that were published or brought down.
    public static let carriedIDs = rememberedIDs
    /// Radio messages remembered: entries and age. A box has no timeline to fall back on, and a bridged copy may be
    /// up to 15 minutes late (chapter 06 §4.12).
    public static let radioMemory = 4_096
    public static let radioMemoryAge = Interval.minutes(20)

    // MARK: Uplink

    /// Deposits waiting for a relay, in total and of one depositor (chapter 06 §3.1).
    public static let queuedDeposits = 20
    public static let queuedDepositsEach = 5
    /// Deposits of one depositor per window that reach the signature check (chapter 06 §3.2 step 4).
    public static let depositTokens = 10
    /// Depositors tracked; idle ones are forgotten first, and with none idle a new one is refused.
    public static let trackedDepositors = 512

    // MARK: Downlink

    /// Carriers waiting for airtime (chapter 06 §3.1, §4.12).
    public static let pendingDownlinks = 30
    /// Geohash-channel carriers per window (chapter 06 §3.4).
    public static let channelCarriers = 30
    /// Bridge carriers per window (chapter 06 §4.12).
    public static let bridgeCarriers = 20
    /// Carrier bytes per window and service. Thirty ordinary carriers take about 17 KiB, but a single one of 16 KiB
    /// is a train of some 35 fragments flooded over every link: a count alone does not bound airtime.
    public static let downlinkBytes = 32 * 1_024
    /// Every window of chapter 06 §3 and §4.
    public static let window = Interval.seconds(60)
    /// Pause before a budget is tried again that should just have freed (chapter 06 §3.4).
    public static let leastBudgetWait = Interval.milliseconds(50)
    /// Hold before a downlink, so that of several gateways on one island only the fastest speaks (chapter 06 §4.8).
    public static let leastHold = Interval.milliseconds(200)
    public static let longestHold = Interval.milliseconds(1_500)

    // MARK: Channels

    /// Channels followed because of deposits, and how long after the last one (chapter 06 §3.5).
    public static let demandedChannels = 8
    public static let demandAge = Interval.minutes(60)
    /// Longest geohash that a deposit makes followed, the block: ours, the finest channel that phones open by
    /// themselves. Finer ones name a building (chapter 05 §7).
    public static let demandedPrecision = 7
    /// Channels followed by configuration.
    public static let configuredChannels = 32
    /// Look-back and size of a channel subscription, in seconds and events (chapter 06 §3.5).
    public static let channelLookBack: Int64 = 3_600
    public static let subscriptionLimit = 200

    /// Between two beats of channel presence, and how long after one each cell is told, in milliseconds (chapter 05
    /// §9.2).
    public static let presenceBeat = 40_000...80_000
    public static let presenceSpread = 2_000...5_000
    /// How long somebody counts as present, in seconds, and how many are counted in one channel (chapter 05 §9.3).
    public static let presentSeconds: Int64 = 300
    public static let channelParticipants = 2_000

    // MARK: Notes (chapter 05 §10)

    public static let notes = 500
    /// Bytes of one note's text and of all texts together: ours, since a character may have any number of bytes.
    public static let noteBytes = 16_000
    public static let notesBytes = 1_048_576
    /// Ids of notes seen, so that none comes back.
    public static let rememberedNotes = 2_000
    /// How long a place is looked at after the operator last asked.
    public static let notesSession = Interval.minutes(10)
    public static let notesPruning = Interval.seconds(60)
    /// Own notes whose work is being done.
    public static let notesBeingMade = 4
    /// Notes that are copies of own posts on the board of the mesh: as many as one author has there, some times over.
    public static let boardCopies = 32
    /// Between two looks for copies that readers have forgotten.
    static let boardCopyPruning = Interval.hours(1)
    /// How long a deletion, or a note that never expires, is tried, in milliseconds.
    public static let noteRetry: UInt64 = 86_400_000

    // MARK: Bridge

    /// Characters of a rendezvous cell (chapter 06 §4.4).
    public static let cellPrecision = 6
    /// Distant cells joined by configuration (chapter 06 §4.13).
    public static let extraCells = 8
    /// Look-back of the rendezvous subscription, in seconds (chapter 06 §4.5).
    public static let rendezvousLookBack: Int64 = 900
    /// Signature checks of rendezvous events: bucket size and refill per second (chapter 06 §4.8).
    public static let verifications = 720.0
    public static let verificationsPerSecond = 12.0
    /// Rendezvous events accepted per window, in total and of one public key (chapter 06 §4.8 step 7).
    public static let inboundEvents = 600
    public static let inboundEventsEach = 120
    /// Public keys tracked before idle ones are forgotten. Never above `inboundEvents`, which bounds the busy ones.
    public static let trackedKeys = 512
    /// People across the bridge, and how long one counts after the last event (chapter 06 §4.12).
    public static let participants = 128
    public static let participantAge = Interval.seconds(600)
    /// Maintenance tick and least spacing of presence (chapter 06 §4.7).
    public static let maintenanceInterval = Interval.seconds(240)
    public static let presenceSpacing = Interval.seconds(30)

    // MARK: Display

    /// Bridged rows that a later radio copy may still replace (chapter 06 §4.12).
    public static let replaceableRows = 1_337
    /// Display bucket of one sender and of one content: size and refill per second (chapter 05 §8.3).
    public static let senderBurst = 5.0
    public static let senderPerSecond = 1.0
    public static let contentBurst = 3.0
    public static let contentPerSecond = 0.5
    /// Buckets of each kind, and the idle time after which one is forgotten first (chapter 05 §8.3).
    public static let displayBuckets = 2_000
    public static let displayBucketIdle = Interval.seconds(600)
    /// Leading zero bits of proven work that spare a sender its bucket (chapter 05 §8.3).
    public static let sparingWork = 8
    /// Slices of mining at the full target; an 8-bit target takes one on average (chapter 05 §11.1).
    public static let miningSlices = 16
    /// Nickname characters shown (chapter 05 §2).
    public static let nicknameCharacters = 50
}
