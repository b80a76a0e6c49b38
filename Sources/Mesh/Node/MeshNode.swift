import Basics
import Crypto
import Wire

/// One mesh node, without I/O: frames and clock readings go in, effects come out (chapter 03 B).
///
/// Not thread-safe; call it from one loop. After every call take effects until `nextEffect()` returns nil, and arm one
/// timer for `nextDeadline`. A wiped identity is a new node: nothing of the old one survives (chapter 03 B20).
///
/// A packet's way: `receive` (MeshNode+Receiving) → `PacketGate` → the feature of its type → source route or flood
/// (MeshNode+Relaying) → `RelaySchedule` → links and fragments (MeshNode+Sending) → effects.
public final class MeshNode {
    public let identity: NodeIdentity
    public var me: PeerID { identity.peerID }

    // Parts, each the one owner of its state. Features reach them through the node.
    let configuration: MeshConfiguration
    let memory: FrameMemory?
    var random: AnyRandom
    /// Set at the beginning of every call.
    var now = Now(monotonic: .zero, wall: WallTime(milliseconds: 0)) { didSet { knownDeadline = nil } }
    /// `nextDeadline` as of the last call, until the next.
    var knownDeadline: Instant?
    private(set) var isRunning = false
    var isClockTrusted: Bool { gate.isClockTrusted }
    var announcedTimes = AnnouncedTimes()
    var gate: PacketGate
    let linkTable = LinkTable()
    let registry = PeerRegistry()
    var departures = Departures()
    let identities = IdentityBook()
    let routes = SourceRoutes()
    var traffic = TrafficMonitor()
    let relays = RelaySchedule<DuplicateKey, Transmission>()
    var spool = DirectedSpool()
    var trains = FragmentTrains()
    var maintenance = MaintenanceClock()

    let announcer: Announcer
    let diagnostics = PingFeature()
    let gossip: GossipFeature
    let board = BoardFeature()
    let noise: NoiseFeature
    let features: [any MeshFeature]
    private let timedFeatures: [any MeshFeature]
    private let listeners: [(kinds: MeshOccurrence.Kinds, feature: any MeshFeature)]
    /// One for each message type; most are opaque.
    private let handlers: [any MeshFeature]

    /// Drained after every call, so bound by what one call can cause: a frame a link, for each relay and fragment due.
    private var effects = Queue<MeshEffect>()
    public internal(set) var drops = Tally<MeshDrop>()
    private var tally = Tally<MeshCount>()

    /// - Parameter memory: shared by the nodes of a simulation, so that they work each frame out once together.
    public init(
        configuration: MeshConfiguration, identity: NodeIdentity, random: any RandomNumberGenerator,
        memory: FrameMemory? = nil
    ) {
        var random = random
        self.configuration = configuration
        self.memory = memory
        self.identity = identity
        gate = PacketGate(
            me: identity.peerID, duplicateCapacity: configuration.duplicateCapacity, random: &random)
        self.random = AnyRandom(random)
        gate.isClockTrusted = configuration.isClockTrusted
        announcer = Announcer(configuration)
        gossip = GossipFeature(configuration.gossip, me: identity.peerID)
        gossip.board = board
        noise = NoiseFeature(identity.noise)
        let requester = SyncRequesterFeature(gossip)
        let sync: [any MeshFeature] = [gossip, SyncResponderFeature(gossip, requester), requester]
        features =
            [
                announcer, AnnounceFeature(), LeaveFeature(), PublicMessageFeature(), FragmentFeature(),
                SignedBroadcastFeature(), CarrierFeature(), diagnostics, GroupMessageFeature(), PrekeyBundleFeature(),
                board, noise,
            ] + (configuration.takesMail ? [MailFeature()] : []) + (configuration.synchronises ? sync : [])
        timedFeatures = features.filter(\.isTimed)
        listeners = features.compactMap { $0.interests.isEmpty ? nil : ($0.interests, $0) }
        var handlers = [any MeshFeature](repeating: OpaqueFeature(), count: 1 << UInt8.bitWidth)
        for feature in features.reversed() {
            for type in feature.types { handlers[Int(type.rawValue)] = feature }
        }
        self.handlers = handlers
    }

    func handler(of type: MessageType) -> any MeshFeature { handlers[Int(type.rawValue)] }

    func tellFeatures(_ occurrence: MeshOccurrence) {
        let kind = occurrence.kind
        for listener in listeners where listener.kinds.contains(kind) {
            listener.feature.observe(occurrence, in: self)
        }
    }

    // MARK: Life

    public func start(at now: Now) {
        self.now = now
        guard !isRunning else { return }
        isRunning = true
        maintenance.start(at: now.monotonic)
        tellFeatures(.started)
    }

    /// Says goodbye on every link, drops all links and stops sending. Close the links `MeshLimits.leaveLinger`
    /// after carrying the effects out (chapter 03 B11.2, B20).
    public func stop(at now: Now) {
        self.now = now
        guard isRunning else { return }
        tellFeatures(.stopping)
        isRunning = false
        for link in linkTable.all { endLink(link.id) }
        relays.removeAll()
        trains.removeAll()
        spool.removeAll()
    }

    /// Identities remembered from an earlier run: their signing keys stay pinned.
    public func restore(_ identities: [IdentityRecord]) {
        for identity in identities { _ = self.identities.learn(identity, at: now.monotonic) }
    }

    /// Pins an identity. Whoever made room for it is not to be remembered over a restart either.
    @discardableResult
    func learn(_ record: IdentityRecord) -> IdentityBook.Lesson {
        let lesson = identities.learn(record, at: now.monotonic)
        if let displaced = identities.displaced { emit(.identityForgotten(displaced)) }
        if lesson == .news { emit(.identityLearned(record)) }
        return lesson
    }

    /// Drops what is pinned about a peer, over a restart too: the operator's way to trust on first use again
    /// (chapter 02 §2.4).
    /// - Returns: whether anything was known of it.
    @discardableResult
    public func forget(_ peer: PeerID, at now: Now) -> Bool {
        self.now = now
        let record = identities.forget(peer)
        let isKnown = record != nil || registry[peer] != nil
        if let record { emit(.identityForgotten(record)) }
        departures.forget(peer)
        linkTable.retireProofs(of: peer)
        noise.forget(peer, in: self)
        registry.remove(peer)
        routes.remove(peer)
        tellFeatures(.removed(peer))
        return isKnown
    }

    // MARK: Time and effects

    /// Does everything that is due.
    public func timeout(at now: Now) {
        self.now = now
        guard isRunning else { return }
        if maintenance.takeTick(at: now.monotonic) { maintain() }
        if maintenance.takeSpoolFlush(at: now.monotonic) { flushSpool() }
        runDueRelays()
        runDueTrains()
        for feature in timedFeatures {
            if let due = feature.nextDeadline, due <= now.monotonic { feature.timeout(in: self) }
        }
    }

    /// When `timeout` must run next; nil while stopped.
    public var nextDeadline: Instant? {
        guard isRunning else { return nil }
        if let knownDeadline { return knownDeadline }
        var next = maintenance.nextDeadline
        if let deadline = relays.nextDeadline { next = min(next, deadline) }
        if let deadline = trains.nextDeadline { next = min(next, deadline) }
        for feature in timedFeatures {
            if let deadline = feature.nextDeadline { next = min(next, deadline) }
        }
        knownDeadline = next
        return next
    }

    public func nextEffect() -> MeshEffect? { effects.popFirst() }

    func emit(_ effect: MeshEffect) { effects.append(effect) }
    func emit(_ event: MeshEvent) { effects.append(.event(event)) }
    func count(_ what: MeshCount) { tally.count(what) }

    // MARK: Observation

    public func peers(at now: Now) -> [PeerSnapshot] {
        registry.all.compactMap { registry.snapshot($0.id, at: now.monotonic) }
    }

    public func peer(_ id: PeerID, at now: Now) -> PeerSnapshot? { registry.snapshot(id, at: now.monotonic) }

    /// Presumed peer at the far end of a link, from announces; not proven.
    public func peer(on link: LinkID) -> PeerID? { linkTable[link]?.peer }

    public var links: [LinkSnapshot] { linkTable.all.map(LinkSnapshot.init) }

    /// Peers flagged connected: the degree of chapter 03 B1.
    public var degree: Int { registry.degree }

    public var counts: Tally<MeshCount> {
        var counts = tally
        counts.count(.duplicatesForgottenEarly, gate.earlyEvictions)
        counts.count(.historyForgottenEarly, gossip.store.earlyEvictions)
        return counts
    }
}
