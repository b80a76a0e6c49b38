import Basics
import EventLoop
import Wire

/// Where a virtual air finds its room and how it behaves there.
public struct VirtualAirConfiguration {
    /// The room's directory; made if absent.
    public var room: String
    public var name: AirName
    /// ATT MTU offered in the greeting, 23…517.
    public var mtu: Int
    public var impairment: Impairment
    public var budget: LinkBudget

    public init(
        room: String, name: AirName, mtu: Int = 517, impairment: Impairment = .none,
        budget: LinkBudget = LinkBudget()
    ) {
        self.room = room
        self.name = name
        self.mtu = min(max(mtu, AirHello.mtuRange.lowerBound), AirHello.mtuRange.upperBound)
        self.impairment = impairment
        self.budget = budget
    }
}

/// A radio made of Unix sockets in a shared directory: virtual air, version 1.
public final class VirtualAir: LinkPort {
    public weak var delegate: (any LinkPortDelegate)?

    private let loop: any EventLoop
    private let configuration: VirtualAirConfiguration
    private let linkIDs: LinkIDSource
    private var random: any RandomNumberGenerator
    private let room: AirRoom
    private var links: [LinkID: AirLink] = [:]
    private var listener: SocketListener?
    private var schedule = ConnectionSchedule<AirName>()
    private var scanTimer: (any Cancellable)?
    private var connectTimer: (any Cancellable)?
    private var isRunning = false
    private var lastScan: Instant?

    /// Everything dropped or refused since the start of the process.
    public private(set) var drops = Tally<AirDrop>()

    /// - Parameter random: chooses between equally good neighbours.
    public init(
        loop: any EventLoop, configuration: VirtualAirConfiguration, linkIDs: LinkIDSource = LinkIDSource(),
        random: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) {
        self.loop = loop
        self.configuration = configuration
        self.linkIDs = linkIDs
        self.random = random
        room = AirRoom(path: configuration.room, name: configuration.name)
    }

    deinit { stop() }

    // MARK: LinkPort

    /// - Throws: `SystemError` when the room cannot be used, `VirtualAirError` when the name is taken.
    public func start() throws {
        guard !isRunning else { return }
        try listen()
        isRunning = true
        scan()
    }

    public func stop() {
        guard isRunning else { return }
        isRunning = false
        scanTimer?.cancel()
        connectTimer?.cancel()
        (scanTimer, connectTimer) = (nil, nil)
        listener?.close()
        listener = nil
        room.withdraw()
        for link in links.values { link.close() }
        links.removeAll()
        schedule = ConnectionSchedule()
    }

    public func send(_ frame: [UInt8], on link: LinkID, priority: WritePriority) {
        links[link]?.send(frame, priority: priority)
    }

    public func close(_ link: LinkID) {
        guard let closing = links.removeValue(forKey: link) else { return }
        if closing.role == .outgoing, let remote = closing.remote {
            schedule.closedByUs(remote, at: loop.now.monotonic)
        }
        let wasUp = closing.isUp
        closing.close()
        guard wasUp else { return }
        loop.enqueue { [weak self] in
            guard let self, self.isRunning else { return }
            self.delegate?.linkDown(link)
            self.connectNext()
        }
    }

    // MARK: Status

    /// The links that are up, by ID.
    public var snapshot: [RadioLinkSnapshot] {
        links.values.sorted { $0.id < $1.id }.compactMap { link in
            guard link.isUp, let since = link.since, let remote = link.remote else { return nil }
            return RadioLinkSnapshot(
                link: link.id, role: link.role, remoteName: remote.text, frameLimit: link.frameLimit, since: since,
                lastReceived: link.lastReceived, lastSent: link.lastSent, queuedFrames: link.queue.count,
                queuedBytes: link.queue.bytes)
        }
    }

    // MARK: Accepting

    private func listen() throws {
        listener = SocketListener(loop: loop, socket: try room.publish()) { [weak self] in self?.accepted($0) }
    }

    private func accepted(_ socket: FileDescriptor) {
        guard configuration.budget.mayAccept(outgoing: count(.outgoing), incoming: count(.incoming)) else {
            return drops.count(.noFreeLink)
        }
        open(socket, role: .incoming, remote: nil)
    }

    private func open(_ socket: FileDescriptor, role: LinkRole, remote: AirName?) {
        let link = AirLink(
            id: linkIDs.next(), role: role, remote: remote, socket: socket,
            hello: AirHello(name: configuration.name, mtu: configuration.mtu), impairment: configuration.impairment,
            loop: loop, owner: self)
        links[link.id] = link
        link.open()
    }

    private func count(_ role: LinkRole) -> Int { links.values.reduce(0) { $0 + ($1.role == role ? 1 : 0) } }

    // MARK: Scanning and connecting

    private func scan() {
        lastScan = loop.now.monotonic
        scanTimer = loop.schedule(after: RadioLimits.scanInterval) { [weak self] in self?.scan() }
        if room.refreshRange() { disconnectOutOfRange() }
        if room.isOwnFileMissing { listenAgain() }
        connectNext()
    }

    /// Removing the file takes a node out of the room, but only the node itself decides to leave.
    private func listenAgain() {
        listener?.close()
        // The next scan tries again.
        try? listen()
    }

    private func disconnectOutOfRange() {
        for link in links.values.sorted(by: { $0.id < $1.id }) {
            guard let remote = link.remote, !room.isInRange(remote), links.removeValue(forKey: link.id) != nil else {
                continue
            }
            drops.count(.outOfRange)
            let wasUp = link.isUp
            link.close()
            if wasUp { delegate?.linkDown(link.id) }
        }
    }

    /// Opens at most one link; comes back when the pacing allows the next.
    private func connectNext() {
        connectTimer?.cancel()
        connectTimer = nil
        guard isRunning,
            configuration.budget.mayConnect(outgoing: count(.outgoing), incoming: count(.incoming))
        else { return }
        let linked = Set(links.values.lazy.filter { $0.role == .outgoing }.compactMap(\.remote))
        let candidates = room.neighbours().filter { room.isInRange($0) && !linked.contains($0) }
        switch schedule.next(
            among: Array(candidates.shuffled(using: &random).prefix(RadioLimits.candidates)), at: loop.now.monotonic,
            using: &random)
        {
        case .nothing: return
        case .wait(let until): runConnectNext(at: until)
        case .connect(let neighbour):
            connect(to: neighbour)
            if candidates.count > 1 {
                runConnectNext(at: loop.now.monotonic + RadioLimits.attemptGap + RadioLimits.attemptSlack)
            }
        }
    }

    private func runConnectNext(at instant: Instant) {
        connectTimer = loop.schedule(after: instant - loop.now.monotonic) { [weak self] in self?.connectNext() }
    }

    private func connect(to neighbour: AirName) {
        switch room.connect(to: neighbour) {
        case .success(let socket): open(socket, role: .outgoing, remote: neighbour)
        case .failure(let error):
            drops.count(.connectFailed)
            schedule.disconnected(neighbour, failed: true, at: loop.now.monotonic)
            if room.noteFailure(neighbour, error) { drops.count(.staleSocket) }
        }
    }
}

extension VirtualAir: ObservedRadio {
    public var adapters: [AdapterSnapshot] { [] }
    public func adapterName(of link: LinkID) -> String? { nil }
    public var counters: [(group: String, counts: [(name: String, count: UInt64)])] { [("air_drops", drops.all)] }
    public var liveness: [RadioLiveness] {
        [RadioLiveness(name: "air", isExpected: isRunning, lastProof: lastScan)]
    }
    public var obstacle: AdapterStatus.State? { nil }
    public var problem: String? { room.rangeProblem }
}

extension VirtualAir: AirLinkOwner {
    func link(_ link: AirLink, mayGreet name: AirName) -> Bool {
        if room.isInRange(name) { return true }
        drops.count(.outOfRange)
        return false
    }

    func linkIsUp(_ link: AirLink) {
        if link.role == .outgoing, let remote = link.remote { schedule.connected(remote) }
        delegate?.linkUp(link.id, role: link.role, frameLimit: link.frameLimit, neighbour: nil)
    }

    func link(_ link: AirLink, received frame: UnsafeRawBufferPointer) {
        delegate?.linkReceived(frame, on: link.id)
    }

    func link(_ link: AirLink, dropped drop: AirDrop, count: Int) { drops.count(drop, UInt64(count)) }

    func linkEnded(_ link: AirLink, timedOut: Bool) {
        guard links.removeValue(forKey: link.id) != nil else { return }
        if link.role == .outgoing, let remote = link.remote {
            if timedOut {
                schedule.timedOut(remote, at: loop.now.monotonic)
            } else {
                schedule.disconnected(remote, failed: link.since == nil, at: loop.now.monotonic)
            }
        }
        if link.since != nil { delegate?.linkDown(link.id) }
        connectNext()
    }
}
