import Basics

/// One Bluetooth controller as the links see it: the kernel's management channel stands behind it, and a scripted twin
/// in tests. It advertises and scans as told, keeps both going by itself, and recovers from what controllers do
/// (chapter 03 A3, A4, A13.1, A13.6).
public protocol AdapterPort: AnyObject {
    var delegate: (any AdapterPortDelegate)? { get set }
    /// N of hciN.
    var index: UInt16 { get }
    var status: AdapterStatus { get }

    /// Begins to set the controller up, now or when it appears. `adapterUp` follows each time it is ready for use.
    func start()
    /// Takes advertising back, stops scanning and ends every link; no delegate call follows.
    func stop()

    /// Whether to be connectable: wanted while a slot for an incoming link is free.
    func setAdvertising(_ isWanted: Bool)
    /// Whether more links are looked for. The duty cycle is the adapter's business (chapter 03 A4).
    func setScanning(_ isWanted: Bool)
    /// Whether an outgoing attempt may begin now. Between attempts advertising has its turn on the air, so that phones
    /// find us however many attempts fail.
    var admitsAttempt: Bool { get }
    /// Makes room on the air for an outgoing attempt, as some controllers need it (advertising and scanning pause, at
    /// most 20 s). The socket connects when the delegate hears that the air is clear. End each attempt before the next:
    /// the kernel carries out one at a time, and no other command meanwhile.
    func connectionAttemptBegan()
    func connectionAttemptEnded(_ outcome: ConnectionOutcome)
    /// Leaves the air to the links for a while, at most 5 s (chapter 03 A4, long fragment trains).
    func pauseScanning(for span: Interval)
    /// Ends the link-layer connection at once, which closing its socket does only after seconds.
    func disconnect(_ address: BluetoothAddress)
    /// Some valid frame arrived over a link of this adapter: it is alive.
    func noteTraffic()
}

extension AdapterPort {
    public var admitsAttempt: Bool { true }
    public func pauseScanning(for span: Interval) {}
}

/// How an outgoing attempt ended, for the recovery ladder.
public enum ConnectionOutcome: Equatable, Sendable {
    case connected
    /// Given up by us after 8 s (chapter 03 A5).
    case timedOut
    case failed(errno: Int32)
}

/// Calls arrive on the event loop, never from inside a call to the port.
public protocol AdapterPortDelegate: AnyObject {
    /// Powered and set up; sockets bind to this address. Links of an earlier time are gone.
    func adapterUp(_ adapter: any AdapterPort, address: BluetoothAddress)
    /// No longer usable: removed, blocked, switched off or being reset. Its links end by themselves.
    func adapterDown(_ adapter: any AdapterPort)
    /// Advertising and scanning have stopped for the attempt that began, or had two seconds to.
    func adapterClearedAir(_ adapter: any AdapterPort)
    /// A connectable neighbour that offers the mesh service.
    func adapter(_ adapter: any AdapterPort, heard sighting: Sighting)
    func adapter(_ adapter: any AdapterPort, connected address: BluetoothAddress)
    /// - Parameter reason: the kernel's reason: 0 unknown, 1 timed out, 2 ended here, 3 ended by the peer, 4 no key,
    ///   5 suspended.
    func adapter(_ adapter: any AdapterPort, disconnected address: BluetoothAddress, reason: UInt8)
    /// - Parameter status: the management status the kernel made of the controller's error.
    func adapter(_ adapter: any AdapterPort, connectFailed address: BluetoothAddress, status: UInt8)
}

/// One advertising report that concerns the mesh (chapter 03 A4).
public struct Sighting: Equatable, Sendable {
    public let address: BluetoothAddress
    /// dBm; nil when the controller does not know.
    public let rssi: Int8?
    /// The eight bytes of service data Android adds: a hint that proves nothing.
    public let peerHint: UInt64?

    public init(address: BluetoothAddress, rssi: Int8?, peerHint: UInt64? = nil) {
        self.address = address
        self.rssi = rssi
        self.peerHint = peerHint
    }
}

/// An adapter as `status` and `doctor` show it: what was observed, not what was intended.
public struct AdapterStatus: Sendable {
    public enum State: String, Sendable {
        /// No such controller.
        case absent
        /// Switched off by rfkill: by software, or by a hardware switch.
        case softBlocked = "soft-blocked"
        case hardBlocked = "hard-blocked"
        /// There, but it does not come on.
        case poweredOff = "powered-off"
        case settingUp = "setting-up"
        case ready
        /// It no longer answers, or answers nonsense, and resets did not help so far.
        case wedged
        /// This process may not manage controllers: it lacks CAP_NET_ADMIN.
        case forbidden
        /// Cannot do Bluetooth LE in both roles.
        case unsuitable
    }

    public var state: State
    /// Observed on the air since it came up.
    public var isAdvertising: Bool
    public var isScanning: Bool
    public var lastReport: Instant?
    public var lastTraffic: Instant?
    /// When it last did something it was told to do on the air.
    public var lastAnswer: Instant?
    /// What recovery had to do since the start of the process.
    public var counters: Tally<AdapterEvent>

    public init(
        state: State, isAdvertising: Bool = false, isScanning: Bool = false, lastReport: Instant? = nil,
        lastTraffic: Instant? = nil, lastAnswer: Instant? = nil, counters: Tally<AdapterEvent> = Tally()
    ) {
        self.state = state
        self.isAdvertising = isAdvertising
        self.isScanning = isScanning
        self.lastReport = lastReport
        self.lastTraffic = lastTraffic
        self.lastAnswer = lastAnswer
        self.counters = counters
    }
}

/// What a controller did and what was done about it.
public enum AdapterEvent: String, CaseIterable, Sendable {
    case appeared, disappeared, blocked
    /// Set-up was run once more.
    case setUpAgain = "set_up_again"
    case advertisingRearmed = "advertising_rearmed"
    /// The kernel said it advertised, and did not, or the other way round.
    case advertisingLost = "advertising_lost"
    case scanRestarted = "scan_restarted"
    /// No report and no link for 120 s while scanning (chapter 03 A13.6).
    case deadScan = "dead_scan"
    case connectFailed = "connect_failed"
    /// The status of a connect attempt that overlapped with advertising on chips that cannot do both (0x3C).
    case advertisingCollision = "advertising_collision"
    case powerCycled = "power_cycled"
    case commandTimeout = "command_timeout"
    case badMessage = "bad_message"
}
