import Basics
import EventLoop
import Wire

/// One adapter's part in the radio: its listener, its connections, and how many it may have.
final class AdapterSeat {
    let port: any AdapterPort
    var index: UInt16 { port.index }
    var name: String { "hci\(index)" }
    /// When it last became usable; stays when it goes.
    var upSince: Instant?
    /// The address on the air; nil while the adapter is not usable.
    var address: BluetoothAddress?
    var listener: (any AttributeListener)?
    /// One ATT channel a pair of controllers.
    var connections: [BluetoothAddress: BluetoothLink] = [:]
    /// What we ended, until the controller says that it is over.
    var lingering: [BluetoothAddress: Instant] = [:]
    /// Neighbours that connected, and when, until their sockets come.
    var awaited: [BluetoothAddress: Instant] = [:]
    /// Connected neighbours of which we have no socket: somebody else's.
    var strangers: Set<BluetoothAddress> = []
    var lastStranger: Instant?
    var rival: ChannelRival?
    /// Whom we are about to call, as soon as the adapter has cleared the air for it.
    var upcoming: BluetoothAddress?
    private(set) var openSince: Instant?
    private(set) var lastAccepted: Instant?
    private(set) var heardUnlinked = 0
    var limit: LearnedLimit
    var lastReceived: Instant?
    var lastSent: Instant?
    private var wantsAdvertising: Bool?
    private var wantsScanning: Bool?
    /// The next pause of scanning may begin then.
    private var nextScanPause = Instant.zero

    private let budget: LinkBudget

    init(_ port: any AdapterPort, budget: LinkBudget) {
        self.port = port
        self.budget = budget
        limit = LearnedLimit(configured: budget.total)
    }

    var isUsable: Bool { address != nil }
    private var calls: Int { connections.values.count { !$0.isConnected } }
    var attempts: Int { calls + (upcoming == nil ? 0 : 1) }
    func count(_ role: LinkRole) -> Int { connections.values.count { $0.role == role } }

    /// What the controller holds: our connections, those it has not ended yet, and other people's.
    var held: Int { connections.count - calls + lingering.count + strangers.count }

    func hasFreeSlot(at now: Instant) -> Bool { held < limit.current(at: now) }

    /// Whether it may have one more outgoing link (chapter 03 A5).
    func hasOutgoingSlot(at now: Instant) -> Bool {
        guard isUsable else { return false }
        var budget = budget
        budget.total = limit.current(at: now)
        // The smallest controller still makes one call: two of them would never meet otherwise.
        budget.reservedForIncoming = min(budget.reservedForIncoming, budget.total - 1)
        let outgoing = count(.outgoing)
        return budget.mayConnect(outgoing: outgoing, incoming: held + attempts - outgoing)
    }

    /// Whether one more attempt may begin now.
    func mayConnect(at now: Instant) -> Bool {
        attempts < BluetoothLimits.attemptsAtOnce && hasOutgoingSlot(at: now) && port.admitsAttempt
    }

    /// Whether an attempt may begin as soon as the adapter has served others.
    func rests(at now: Instant) -> Bool {
        attempts < BluetoothLimits.attemptsAtOnce && hasOutgoingSlot(at: now) && !port.admitsAttempt
    }

    /// Everybody who must not be called: linked, being called, or being let go.
    var busyAddresses: Set<BluetoothAddress> {
        var busy = Set(connections.keys).union(lingering.keys).union(strangers).union(awaited.keys)
        if let upcoming { busy.insert(upcoming) }
        return busy
    }

    /// Tells the adapter what is wanted of it, when that has changed.
    func updateWants(at now: Instant) {
        guard isUsable else { return }
        let advertising = hasFreeSlot(at: now)
        if advertising != wantsAdvertising {
            wantsAdvertising = advertising
            openSince = advertising ? now : nil
            heardUnlinked = 0
            port.setAdvertising(advertising)
        }
        let scanning = hasOutgoingSlot(at: now)
        if scanning != wantsScanning {
            wantsScanning = scanning
            port.setScanning(scanning)
        }
    }

    /// Leaves the air to a long train, unless scanning has not yet had as much time as the last one took from it: a
    /// neighbour that has us relay a fragment now and then would keep it off.
    func pauseScanning(for span: Interval, at now: Instant) {
        guard now >= nextScanPause else { return }
        nextScanPause = now + span * 2
        port.pauseScanning(for: span)
    }

    func noteAccepted(at now: Instant) {
        lastAccepted = now
        heardUnlinked = 0
    }

    func noteUnlinked() { heardUnlinked += 1 }

    /// Forgets what belonged to the time before; its connections are the caller's to end.
    func reset() {
        address = nil
        listener?.close()
        listener = nil
        lingering.removeAll()
        awaited.removeAll()
        strangers.removeAll()
        upcoming = nil
        openSince = nil
        wantsAdvertising = nil
        wantsScanning = nil
    }

    func noteSent(_ link: BluetoothLink) {
        if let sent = link.lastSent { lastSent = max(lastSent ?? sent, sent) }
    }
}
