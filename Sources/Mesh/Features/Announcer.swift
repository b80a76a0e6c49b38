import Basics
import Crypto
import Wire

/// Sends our own announces: what they say and when (chapter 03 B10.1–B10.3).
final class Announcer: MeshFeature {
    let types: [MessageType] = []
    let interests: MeshOccurrence.Kinds = [.life, .announced, .tick]

    private var nickname: String
    private var capabilities: Capabilities
    private var bridgeCell: String?
    private var schedule = AnnounceSchedule()
    private var subscriptions = SubscriptionLimiter()
    /// Peers already answered with an announce of ours.
    private var answered = ExpiringTable<PeerID, Void>(
        capacity: MeshLimits.announceBackCapacity, lifetime: MeshLimits.announceBackLifetime)
    /// Identities cost nothing, so a crowd of new ones is answered together.
    private var answers = TokenBucket(
        capacity: MeshLimits.announceBackBurst, perSecond: MeshLimits.announceBacksPerSecond)

    init(_ configuration: MeshConfiguration) {
        nickname = configuration.nickname
        capabilities = configuration.capabilities
        bridgeCell = configuration.bridgeCell
    }

    var nextDeadline: Instant? { schedule.nextDeadline }

    func timeout(in mesh: MeshNode) {
        if schedule.takeDue(at: mesh.now.monotonic) { announce(forced: true, in: mesh) }
    }

    func observe(_ occurrence: MeshOccurrence, in mesh: MeshNode) {
        let now = mesh.now.monotonic
        switch occurrence {
        case .started: schedule.request(due: now + MeshLimits.initialAnnounceDelay)
        case .announced(let announcement): answer(announcement, in: mesh)
        case .tick:
            let hasTraffic = mesh.traffic.hasTraffic(within: MeshLimits.trafficWindow, at: now)
            let isDue = schedule.isDueAtTick(
                degree: mesh.registry.degree, hasTraffic: hasTraffic, at: now, using: &mesh.random)
            if isDue { announce(forced: false, in: mesh) }
        default: break
        }
    }

    /// First contact (chapter 03 A9): the announce is what binds the new link.
    func linkUp(_ role: LinkRole, neighbour: UInt64?, in mesh: MeshNode) {
        let now = mesh.now.monotonic
        switch role {
        case .outgoing:
            // What was announced a moment ago went nowhere near the new link, and is not to throttle what binds it.
            let due = max(now + MeshLimits.ownSubscriptionAnnounceDelay, schedule.earliestForced(at: now))
            schedule.request(due: due)
            mesh.maintenance.requestSpoolFlush(due: now + MeshLimits.ownSubscriptionAnnounceDelay)
        case .incoming:
            let verdict = subscriptions.admit(neighbour: neighbour, at: now)
            if verdict == .announce { schedule.request(due: now + MeshLimits.theirSubscriptionAnnounceDelay) }
            if verdict != .silence {
                mesh.maintenance.requestSpoolFlush(due: now + MeshLimits.theirSubscriptionAnnounceDelay)
            }
        }
    }

    /// What to announce from now on; a change announces at once.
    func advertise(_ capabilities: Capabilities, cell: String?, in mesh: MeshNode) {
        guard capabilities != self.capabilities || cell != bridgeCell else { return }
        self.capabilities = capabilities
        bridgeCell = cell
        announceChange(in: mesh)
    }

    func rename(_ nickname: String, in mesh: MeshNode) {
        guard nickname != self.nickname else { return }
        self.nickname = nickname
        announceChange(in: mesh)
    }

    var name: String { nickname }
    /// Capabilities as announced.
    var advertised: Capabilities { capabilities }

    /// A forced announce as soon as the spacing allows.
    func announceSoon(in mesh: MeshNode) { schedule.request(due: schedule.earliestForced(at: mesh.now.monotonic)) }

    /// At once or, where the announce would be dropped, as soon as the spacing allows: dropped, it would leave what is
    /// no longer so on the air until a tick brings the next.
    private func announceChange(in mesh: MeshNode) {
        guard mesh.isRunning else { return }
        if schedule.earliestForced(at: mesh.now.monotonic) > mesh.now.monotonic {
            announceSoon(in: mesh)
        } else {
            announce(forced: true, in: mesh)
        }
    }

    /// Announce-back, at most once a peer in five minutes, and the afterglow for a new one (chapter 03 B10.5).
    private func answer(_ announcement: Announcement, in mesh: MeshNode) {
        let now = mesh.now.monotonic
        let isUnanswered = answered.insert(announcement.peer, (), at: now)
        guard isUnanswered || announcement.isNew else { return }
        guard answers.take(at: now) else { return mesh.drops.count(.announceThrottled) }
        if isUnanswered { announce(forced: true, in: mesh) }
        if announcement.isNew {
            let (low, high) = MeshLimits.afterglow
            schedule.request(due: now + mesh.random.interval(low, high))
        }
    }

    private func announce(forced: Bool, in mesh: MeshNode) {
        guard mesh.isRunning else { return }
        guard schedule.admit(forced: forced, at: mesh.now.monotonic) else {
            return mesh.drops.count(.announceThrottled)
        }
        guard let packet = packet(in: mesh) else { return mesh.drops.count(.malformedPayload) }
        guard let sent = mesh.originate(packet, signed: true) else { return }
        mesh.count(.announcesSent)
        mesh.tellFeatures(.publishable(sent.frame, heardFrom: nil))
    }

    /// A link is bound by an announce in one piece, so neighbours are left out until it fits every link that it can fit
    /// at all. Only they are: an announce without capabilities or cell takes both back, with everybody.
    private func packet(in mesh: MeshNode) -> Packet? {
        var neighbours = mesh.registry.connected.prefix(MeshLimits.announcedNeighbours)
        // Nearly always they fit all, even uncompressed.
        if let longest = packet(naming: neighbours, in: mesh),
            FrameLayout.smallestShortFrame + longest.payload.count + WireLimits.signature
                <= mesh.linkTable.smallestFrameLimit
        {
            return longest
        }
        guard let shortest = packet(naming: [], in: mesh), let least = Self.size(of: shortest) else { return nil }
        let limit = mesh.linkTable.smallestFrameLimit(from: least) ?? MeshLimits.frameLimitCap
        while !neighbours.isEmpty {
            guard let packet = packet(naming: neighbours, in: mesh), let size = Self.size(of: packet) else {
                return nil
            }
            if size <= limit { return packet }
            neighbours.removeLast()
        }
        return shortest
    }

    private func packet(naming neighbours: ArraySlice<PeerID>, in mesh: MeshNode) -> Packet? {
        let announce = Announce(
            nickname: nickname, noisePublicKey: mesh.identity.noise.publicKey.bytes,
            signingPublicKey: mesh.identity.signing.publicKey.bytes,
            directNeighbors: neighbours.isEmpty ? nil : Array(neighbours), capabilities: capabilities,
            bridgeGeohash: capabilities.contains(.bridge) ? bridgeCell : nil)
        return announce.encoded().map {
            Packet(type: .announce, timestamp: mesh.now.wall, senderID: mesh.me, payload: $0)
        }
    }

    /// Bytes of the signed frame.
    private static func size(of packet: Packet) -> Int? {
        (try? packet.encoded()).map { $0.count + WireLimits.signature }
    }
}
