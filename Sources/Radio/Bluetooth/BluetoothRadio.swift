import Basics
import EventLoop
import Wire

public struct BluetoothConfiguration {
    /// What is served and looked for.
    public var service: BluetoothUUID
    /// Of each adapter.
    public var budget: LinkBudget

    public init(service: BluetoothUUID = .meshService, budget: LinkBudget = LinkBudget()) {
        self.service = service
        self.budget = budget
    }
}

/// The kernel's Bluetooth as a radio: peripheral and central at once, on any number of adapters, each with a budget of
/// its own (chapter 03 part A). An adapter may come late, go, and come back; none is ever needed to start.
public final class BluetoothRadio: LinkPort {
    public weak var delegate: (any LinkPortDelegate)?

    let loop: any EventLoop
    let configuration: BluetoothConfiguration
    let linkIDs: LinkIDSource
    let sockets: any AttributeSocketPort
    var random: AnyRandom
    /// Of the addresses behind the neighbour numbers; dies with the process.
    private let addressKey: SipHash128.Key

    /// By the order in which the adapters were given.
    private(set) var seats: [AdapterSeat] = []
    let source: (any AdapterSource)?
    /// An adapter became usable, or no longer is.
    public var onAdapterChange: ((_ index: UInt16, _ isUsable: Bool) -> Void)?
    /// Looks for a process that answers in our place on the ATT channel: one known to do so, or, once somebody has,
    /// any that could. Asked at each start of an adapter, and when a stranger has connected.
    public var findRival: ((_ isProven: Bool) -> ChannelRival?)?
    var links: [LinkID: BluetoothLink] = [:]
    var planner = ConnectionPlanner()
    private var aloneSince: Instant
    private var tickTimer: (any Cancellable)?
    private var connectTimer: (any Cancellable)?
    private var connectDue: Instant?
    private(set) var isRunning = false

    /// What happened since the start of the process.
    public internal(set) var events = Tally<BluetoothEvent>()
    /// Why ATT sides gave their connections up.
    public internal(set) var failures = Tally<BearerFailure>()
    /// Of connections that are over.
    var endedBearerDrops = Tally<BearerDrop>()

    /// - Parameter random: spreads retries, and keys what stands for addresses.
    public convenience init(
        loop: any EventLoop, configuration: BluetoothConfiguration, source: (any AdapterSource)? = nil,
        linkIDs: LinkIDSource = LinkIDSource(), random: any RandomNumberGenerator = SystemRandomNumberGenerator()
    ) {
        self.init(
            loop: loop, configuration: configuration, source: source, sockets: L2CAPSocketPort(loop: loop),
            linkIDs: linkIDs, random: random)
    }

    init(
        loop: any EventLoop, configuration: BluetoothConfiguration, source: (any AdapterSource)? = nil,
        sockets: any AttributeSocketPort, linkIDs: LinkIDSource = LinkIDSource(), random: any RandomNumberGenerator
    ) {
        self.source = source
        self.loop = loop
        self.configuration = configuration
        self.sockets = sockets
        self.linkIDs = linkIDs
        self.random = AnyRandom(random)
        addressKey = SipHash128.Key(using: &self.random)
        aloneSince = loop.now.monotonic
    }

    deinit { stop() }

    var now: Instant { loop.now.monotonic }

    /// Takes an adapter into use, now or at `start`.
    public func add(_ adapter: any AdapterPort) {
        guard seat(adapter.index) == nil else { return }
        seats.append(AdapterSeat(adapter, budget: configuration.budget))
        adapter.delegate = self
        if isRunning { adapter.start() }
    }

    // MARK: LinkPort

    public func start() {
        guard !isRunning else { return }
        isRunning = true
        aloneSince = now
        for seat in seats { seat.port.start() }
        source?.start { [weak self] in self?.add($0) }
        tick()
    }

    public func stop() {
        guard isRunning else { return }
        isRunning = false
        tickTimer?.cancel()
        connectTimer?.cancel()
        (tickTimer, connectTimer, connectDue) = (nil, nil, nil)
        for seat in seats {
            for link in seat.connections.values {
                retain(link)
                link.close()
            }
            seat.connections.removeAll()
            seat.reset()
            seat.port.stop()
        }
        source?.stop()
        links.removeAll()
        planner = ConnectionPlanner()
    }

    public func send(_ frame: [UInt8], on link: LinkID, priority: WritePriority) {
        guard let open = links[link] else { return }
        if let fragments = priority.fragments, fragments > BluetoothLimits.longTrain {
            seat(open.adapter)?.pauseScanning(for: BluetoothLimits.trainPause(fragments), at: now)
        }
        open.send(frame, priority: priority)
    }

    public func close(_ link: LinkID) {
        guard let closing = links[link], let seat = seat(closing.adapter) else { return }
        if closing.role == .outgoing { planner.leaveAlone(closing.address, for: RadioLimits.afterOwnClose, at: now) }
        letGo(closing, of: seat)
        loop.enqueue { [weak self] in
            guard let self, self.isRunning else { return }
            self.noteLinks()
            self.delegate?.linkDown(link)
            self.refresh()
        }
    }

    // MARK: Connections

    func seat(_ index: UInt16) -> AdapterSeat? { seats.first { $0.index == index } }

    /// The same number for the same address, within this process.
    func number(of address: BluetoothAddress) -> UInt64 {
        var bytes: [UInt8] = [address.kind.rawValue]
        bytes.append(bigEndian: address.value)
        return bytes.withUnsafeBytes { SipHash128.hash($0, under: addressKey).first }
    }

    /// Opens a link over a socket that is connected, or being connected.
    @discardableResult
    func open(
        _ socket: any AttributeSocket, role: LinkRole, address: BluetoothAddress, on seat: AdapterSeat
    ) -> BluetoothLink {
        let link = BluetoothLink(
            role: role, address: address, adapter: seat.index, socket: socket, service: configuration.service,
            linkIDs: linkIDs, loop: loop, owner: self)
        seat.connections[address] = link
        link.open()
        return link
    }

    /// Ends a connection from our side, at once and on the air. Its `linkDown`, if it was up, is the caller's.
    func letGo(_ link: BluetoothLink, of seat: AdapterSeat) {
        remove(link, from: seat)
        guard link.isConnected else { return }
        seat.lingering[link.address] = now
        seat.port.disconnect(link.address)
    }

    /// Takes a connection off the tables and closes its socket.
    func remove(_ link: BluetoothLink, from seat: AdapterSeat) {
        if let id = link.id { links[id] = nil }
        if seat.connections[link.address] === link { seat.connections[link.address] = nil }
        retain(link)
        seat.noteSent(link)
        link.close()
    }

    private func retain(_ link: BluetoothLink) { endedBearerDrops = endedBearerDrops.adding(link.bearerDrops) }

    // MARK: Time

    private func tick() {
        tickTimer = loop.schedule(after: BluetoothLimits.tick) { [weak self] in self?.tick() }
        for seat in seats where seat.isUsable {
            seat.lingering = seat.lingering.filter { now - $0.value < BluetoothLimits.lingering }
            if seat.listener == nil { listen(on: seat) }
            supervise(seat)
        }
        planner.retune(
            aloneSince: links.isEmpty ? aloneSince : nil,
            isSaturated: !seats.contains { $0.hasOutgoingSlot(at: now) }, at: now)
        refresh()
    }

    func noteLinks() { if links.isEmpty { aloneSince = now } }

    private var openAdapters: [UInt16: Int] {
        var open: [UInt16: Int] = [:]
        for seat in seats where seat.mayConnect(at: now) { open[seat.index] = seat.held }
        return open
    }

    private var situation: ConnectionPlanner.Situation {
        var linked: Set<BluetoothAddress> = []
        for seat in seats {
            linked.formUnion(seat.busyAddresses)
            // Two adapters of a box hear each other.
            if let own = seat.address { linked.insert(own) }
        }
        return ConnectionPlanner.Situation(open: openAdapters, linked: linked)
    }

    /// After anything that changes who is linked: what the adapters shall do, and whom to call next.
    func refresh() {
        guard isRunning else { return }
        for seat in seats { seat.updateWants(at: now) }
        take(planner.next(in: situation, at: now))
        awaitAdmission()
    }

    /// An adapter that serves others first does not say when it has.
    private func awaitAdmission() {
        if planner.waiting > 0, seats.contains(where: { $0.rests(at: now) }) {
            runQueue(at: now + BluetoothLimits.admissionRetry)
        }
    }

    func heard(_ sighting: Sighting, on index: UInt16) {
        let hesitation = random.interval(.zero, BluetoothLimits.hesitation)
        take(planner.heard(sighting, on: index, in: situation, hesitation: hesitation, at: now))
        awaitAdmission()
    }

    private func take(_ step: ConnectionPlanner.Step) {
        switch step {
        case .nothing: break
        case .wait(let until): runQueue(at: until)
        case .connect(let address, let index):
            guard let seat = seat(index), seat.isUsable else { return }
            // Some controllers fail for good when they connect while they advertise.
            seat.upcoming = address
            seat.port.connectionAttemptBegan()
            seat.updateWants(at: now)
            if planner.waiting > 0 { runQueue(at: now + RadioLimits.attemptGap + RadioLimits.attemptSlack) }
        }
    }

    /// Arms the one timer of the queue, unless it is due earlier anyway.
    private func runQueue(at due: Instant) {
        if let connectDue, connectDue <= due { return }
        connectTimer?.cancel()
        connectDue = due
        connectTimer = loop.schedule(after: due - now) { [weak self] in
            self?.connectDue = nil
            self?.refresh()
        }
    }

    func connect(to address: BluetoothAddress, from own: BluetoothAddress, on seat: AdapterSeat) {
        do {
            let socket = try sockets.connect(from: own, to: address)
            open(socket, role: .outgoing, address: address, on: seat)
        } catch {
            attemptFailed(address, on: seat, errno: error.code)
            // Whoever waits gets a turn later: a controller that refuses all would keep us here.
            loop.enqueue { [weak self] in self?.refresh() }
        }
    }
}
