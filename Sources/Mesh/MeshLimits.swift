import Basics
import Wire

/// Every bound of the mesh engine. Values the reference leaves unbounded are capped per chapter 03 C7.
public enum MeshLimits {
    // MARK: Ingress (chapter 03 B2, B3)

    /// B3 rule 5: tolerated difference between a packet's timestamp and the local clock, either way.
    public static let timestampSkewMilliseconds: UInt64 = 120_000
    /// B3 rule 4: how long a sync request keeps the door open for flagged answers.
    public static let syncAnswerWindow = Interval.seconds(30)
    /// C7: peers with an open sync request.
    public static let syncRequestCapacity = 1_024
    /// B22.3: a second copy of a packet within this span is dropped, whatever its link.
    public static let ingressRecordLifetime = Interval.seconds(3)
    /// C7: three seconds of the admitted rate of a full set of links, with room for bursts.
    public static let ingressRecordCapacity = 4_096
    /// C8: packets admitted per link, sustained and burst.
    public static let linkPacketsPerSecond = 60.0
    public static let linkPacketBurst = 240.0
    /// Identities never heard of before, per link, sustained and burst: ours. A link may introduce the whole of a
    /// crowd, but within the minute that the registry keeps it no more than three quarters of `peerCapacity`.
    public static let newIdentitiesPerSecond = 4.0
    public static let newIdentityBurst = 512.0
    /// Bytes inflated per link, sustained and burst; the burst is one payload of the largest size. Recognising a copy
    /// takes the inflated payload, before anything is authenticated, and half a kilobyte may claim half a megabyte.
    public static let linkInflationPerSecond = 131_072.0
    public static let linkInflationBurst = Double(WireLimits.payload)

    // MARK: Duplicates (B4)

    /// B22.3: age at which a seen packet is forgotten.
    public static let duplicateLifetime = Interval.seconds(300)
    /// A gateway is bound by time first: room for 300 s at more than 100 new packets a second.
    public static let duplicateCapacity = 32_768
    /// B4: fragments have a filter of their own.
    public static let fragmentDuplicateLifetime = Interval.seconds(60)
    public static let fragmentDuplicateCapacity = 4_096
    /// B4: frames whose signature failed, and frames whose author's key is unknown.
    public static let suspectFrameCapacity = 1_024

    // MARK: Flood relay (B5, B6)

    public static let highDegreeThreshold = 6
    /// B6: relays waiting for their jitter to pass; the newest is refused beyond it.
    public static let pendingRelayCapacity = 2_048
    /// What one ingress link may have waiting of them: ours, so that eight links (A5) fill the schedule together.
    public static let pendingRelaysPerLink = pendingRelayCapacity / 8
    /// Packets written to one link that relaying and sync share, sustained and burst: ours, the mirror of C8, since a
    /// neighbour that keeps to it drops what is more, and does not ask what.
    public static let linkOutputPerSecond = linkPacketsPerSecond
    public static let linkOutputBurst = linkPacketBurst
    /// Of the burst, what relayed broadcasts leave for directed packets, and what packets beyond the share of their
    /// ingress link, and sync answers, leave for all others: ours, a quarter and half.
    public static let outputKeptFromBroadcasts = linkOutputBurst / 4
    public static let outputKeptFromExcess = linkOutputBurst / 2
    /// What of one ingress link's packets counts as its share, of broadcasts and directed packets each: ours, a quarter
    /// of C8, which is also the rate of one talker of live voice.
    public static let ingressSharePerSecond = linkPacketsPerSecond / 4
    public static let ingressShareBurst = linkPacketBurst / 4
    /// B5: packets of unknown authors relayed per ingress link.
    public static let unverifiedRelaysPerSecond = 5.0
    public static let unverifiedRelayBurst = 60.0

    // MARK: Links (A9, A11, A13.6)

    /// C7: links of both roles together; a radio has far fewer.
    public static let linkCapacity = 1_024
    /// A13.6: a link nobody was ever bound to is closed.
    public static let anonymousLinkLife = Interval.seconds(60)
    public static let rebindCooldown = Interval.seconds(60)
    public static let retirementCooldown = Interval.seconds(60)
    /// C7: peers whose retirement cool-down is remembered.
    public static let retirementRecordCapacity = 1_024
    public static let subscriptionBackoffMin = Interval.seconds(2)
    public static let subscriptionBackoffMax = Interval.seconds(30)
    public static let subscriptionEntryLifetime = Interval.seconds(60)
    public static let subscriptionAttemptsBeforeSilence = 5
    public static let subscriptionEntryCapacity = 1_024
    /// A9: subscription announces over all neighbours together, since an attacker rotates addresses.
    public static let subscriptionAnnouncesPerSecond = 1.0
    public static let subscriptionAnnounceBurst = 16.0

    // MARK: Sending (B8, B13)

    /// A7: largest frame a link carries, whatever its ATT MTU.
    public static let frameLimitCap = 512
    /// A frame shorter than a bare version 1 header cannot exist (chapter 01 §2.1).
    public static let frameLimitFloor = 22
    public static let spoolLifetime = Interval.seconds(60)
    public static let spoolPerRecipient = 32
    public static let spoolTotal = 256
    /// B13.1: smaller slices are not made; a link too small for them gets no long frames.
    public static let smallestFragmentChunk = 64
    public static let activeTransfers = 2
    public static let pendingTransfers = 32
    /// C7: trains under way or waiting, transfers and plain oversize packets together.
    public static let fragmentTrains = 256
    /// C7: bytes of frames held by them.
    public static let fragmentTrainBytes = 8 << 20

    // MARK: Fragment reassembly (B12); the caps themselves are `FragmentAssembler.Limits`

    public static let fragmentResyncIdle = Interval.seconds(5)
    public static let fragmentResyncRetry = Interval.seconds(10)
    public static let fragmentResyncStreams = 60

    // MARK: Source routes (B9)

    public static let topologyFreshness = Interval.seconds(60)
    /// C7: nodes with a claim or a version mark. What they claim is bound by the 255 bytes of an announce's field.
    public static let topologyNodes = 1_024
    public static let routeIntermediateHops = 4
    public static let routeConfirmationWindow = Interval.seconds(10)
    public static let routeSuppression = Interval.seconds(60)
    public static let routeRecordIdle = Interval.seconds(70)
    public static let routeRecordCapacity = 1_024

    // MARK: Presence (B10, B11)

    public static let initialAnnounceDelay = Interval.milliseconds(600)
    public static let ownSubscriptionAnnounceDelay = Interval.milliseconds(50)
    public static let theirSubscriptionAnnounceDelay = Interval.milliseconds(400)
    public static let forcedAnnounceSpacing = Interval.milliseconds(150)
    public static let announceSpacing = Interval.seconds(1)
    public static let isolatedAnnounceInterval = Interval.seconds(4)
    public static let sparseAnnounceInterval = (base: Interval.seconds(15), jitter: Interval.seconds(4))
    public static let denseAnnounceInterval = (base: Interval.seconds(30), jitter: Interval.seconds(8))
    public static let trafficAnnounceInterval = Interval.seconds(10)
    public static let trafficWindow = Interval.seconds(5)
    public static let afterglow = (low: Interval.milliseconds(300), high: Interval.milliseconds(600))
    /// At most one announce-back a peer in this span (the reference keeps the mark in its duplicate store).
    public static let announceBackLifetime = Interval.seconds(300)
    public static let announceBackCapacity = 1_024
    /// C7: answers over all peers together, as for subscriptions (A9).
    public static let announceBacksPerSecond = 1.0
    public static let announceBackBurst = 16.0
    /// Announces refused only for their time whose signature is still checked, over all links together.
    public static let witnessedAnnouncesPerSecond = 2.0
    public static let witnessedAnnounceBurst = 32.0
    /// B10.1: neighbours listed in an announce.
    public static let announcedNeighbours = Announce.maximumNeighbors
    public static let peerCapacity = 1_024
    public static let peerInactivity = Interval.seconds(8)
    public static let reachableFor = Interval.seconds(60)
    /// Chapter 02 §2.5: pinned identities kept.
    public static let identityCapacity = 10_000
    /// Pinned identities forgotten for new ones, sustained and burst: ours. No flood, over whatever links, empties the
    /// book in less than a day.
    public static let identityDisplacementsPerSecond = 0.1
    public static let identityDisplacementBurst = 1_000.0
    /// How long a goodbye outdates what was announced before it: ours. No announce older than that passes the clock (B3
    /// rule 5), and whoever set a clock back meanwhile is not kept out for longer.
    public static let departureLifetime = Interval.seconds(120)
    /// C7: as many as there may be peers.
    public static let departureCapacity = peerCapacity
    /// B11.2: how long links stay up behind a leave.
    public static let leaveLinger = Interval.milliseconds(50)

    // MARK: Messages and diagnostics (B14, B16, chapter 06 §2)

    public static let publicMessageMaxAgeMilliseconds: UInt64 = 6 * 3_600_000
    /// Input limit of a public message in characters.
    public static let publicMessageCharacters = 60_000
    /// Version 1 payload limit in bytes (chapter 01 §9.2).
    public static let publicMessageBytes = WireLimits.shortPayload
    public static let voiceFrameMaxAgeMilliseconds: UInt64 = 30_000
    public static let pingAnswers = 5
    public static let pingWindow = Interval.seconds(10)
    /// C7: ingress peers, and links without one, that have a ping budget.
    public static let pingPeers = 1_024
    public static let pingTimeout = Interval.seconds(10)
    public static let pingProbes = 64

    // MARK: Maintenance (B17)

    public static let maintenanceInterval = Interval.seconds(5)
    public static let trafficSamples = 100
    public static let trafficSampleAge = Interval.seconds(30)
}
