import Panel
import Radio

/// What a machine was found to be like, as far as a gateway on it is concerned. Only observations: what to make of them
/// is `Diagnosis`.
public struct DoctorFacts: Equatable, Sendable {
    public var kernel = KernelRelease(release: "", build: "")
    public var bluetooth = Bluetooth.ready
    public var controllers: [Controller] = []
    /// Everybody else with a Bluetooth socket, and who bears the name of the system's Bluetooth service.
    public var holders: [Holder] = []
    /// Whether the sockets of other users' processes could be seen.
    public var seesAllProcesses = true
    /// The one that answers the configuration's control socket.
    public var daemon: Process?
    public var daemonSockets: Sockets = []
    public var own = Process()
    public var clock = ClockSource.synchronised
    public var configuration = ConfigurationFile.good
    public var radioKind = ""
    /// Those the configuration names; empty: all there are.
    public var adapters: [AdapterChoice] = []
    public var stateDirectory = ""
    public var state = State.good
    public var panel: [PanelLineCheck] = []
    /// Where the kernel may put the running daemon's memory, and it can be read by whoever has the disk.
    public var swap: [String] = []
    /// Where tor takes connections, and whether it does.
    public var torSocket = ""
    public var tor = Tor.unneeded
    /// What of tor's is closed to the daemon's user.
    public var torDenials: [TorDenial] = []

    public init() {}

    /// Whether the configuration gives this controller to bitgated.
    func uses(_ controller: Controller) -> Bool {
        radioKind != "air" && (adapters.isEmpty || adapters.contains { DoctorFacts.choice($0, names: controller) })
    }

    static func choice(_ choice: AdapterChoice, names controller: Controller) -> Bool {
        switch choice {
        case .index(let index): index == controller.index
        case .address(let address): controller.information?.address == address
        }
    }

    /// A line of the panel, as far as it can be seen without taking it.
    public struct PanelLineCheck: Equatable, Sendable {
        /// The setting that names it.
        public var key: String
        public var address: LineAddress
        /// Where it was found, such as `gpiochip0 line 17`.
        public var place: String?
        public var problem: GPIOProblem?
    }

    public enum Bluetooth: String, Equatable, Sendable {
        case ready
        /// The kernel knows no such sockets: its modules are missing or kept out.
        case missing
        /// This process may not open one.
        case forbidden
        /// The management channel does not answer.
        case silent
    }

    public struct Controller: Equatable, Sendable {
        /// N of hciN.
        public var index: UInt16
        /// Nil when the management channel does not list it: somebody has it to themselves, or it is being prepared.
        public var information: ControllerInformation?
        public var instances: AdvertisingFeatures?
        public var links = 0
        public var block = RadioBlock.none
        public var attachment = Attachment.other
        /// With the Wi-Fi that is the uplink.
        public var sharesAntenna = false

        public init(index: UInt16) { self.index = index }
    }

    /// How a controller is joined to the machine.
    public enum Attachment: String, Equatable, Sendable {
        case usb
        /// A serial line: on boards, the chip that does Wi-Fi as well.
        case serial
        case virtual
        case other
    }

    /// Which of the kernel's Bluetooth sockets a process has.
    public struct Sockets: OptionSet, Hashable, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Links, or a place where they come in.
        public static let links = Sockets(rawValue: 1)
        /// The management channel, or a controller itself.
        public static let controllers = Sockets(rawValue: 2)
    }

    public struct Holder: Equatable, Sendable {
        public var name: String
        public var pid: Int32
        public var sockets: Sockets
        /// Clock ticks since the machine started, as /proc tells.
        public var started: UInt64

        public init(name: String, pid: Int32, sockets: Sockets, started: UInt64) {
            self.name = name
            self.pid = pid
            self.sockets = sockets
            self.started = started
        }
    }

    public struct Process: Equatable, Sendable {
        public var pid: Int32 = 0
        public var capabilities = Capabilities()
        /// Bytes it may lock in memory.
        public var lockableMemory: UInt64 = .max
        public var started: UInt64 = 0

        public init() {}
    }

    /// Effective capabilities of a process (capabilities(7)).
    public struct Capabilities: OptionSet, Hashable, Sendable {
        public let rawValue: UInt64
        public init(rawValue: UInt64) { self.rawValue = rawValue }
        public static let networkAdministration = Capabilities(rawValue: 1 << 12)
        public static let rawNetwork = Capabilities(rawValue: 1 << 13)
        public static let memoryLock = Capabilities(rawValue: 1 << 14)
    }

    public enum Tor: Equatable, Sendable {
        /// network.tor is "off".
        case unneeded
        case listens
        /// This user may not connect, which says nothing of the daemon.
        case forbidden
        case closed(String)
    }

    /// Something of tor's that the daemon's user may not use.
    public struct TorDenial: Equatable, Sendable {
        /// The setting that names it, or would.
        public var key: String
        /// Where its way ends: a folder above it, or itself.
        public var path: String
        public var user: String
        public var cure: Cure

        public enum Cure: Equatable, Sendable {
            /// To join this group.
            case joining(group: String)
            /// It has joined since the daemon was started.
            case restart
            /// To be opened to a group by tor's own configuration.
            case opening
        }
    }

    public enum ConfigurationFile: Equatable, Sendable {
        case good
        /// None at the default place: every key has its default.
        case absent
        /// This user may not read it.
        case hidden(String)
        case bad(String)
    }

    public enum State: Equatable, Sendable {
        case good
        /// Not there yet; the first start makes it.
        case absent
        /// The directory it would be made in is not there either.
        case homeless
        case notDirectory
        /// Belongs to another user than the daemon, or than this one when no daemon runs.
        case foreign
        /// Others may look into it.
        case open
        case readOnly
        /// Free bytes of its file system, too few.
        case full(UInt64)
        case unreadable(String)
    }
}

/// A kernel's release, and with Debian the package version its build text holds, which alone tells apart what the same
/// release name stands for over the years.
public struct KernelRelease: Equatable, Sendable {
    /// As `uname -r` prints it.
    public let release: String
    public let series: (major: Int, minor: Int)
    /// Third number of the version.
    public let patch: Int

    /// - Parameters:
    ///   - release: `uname -r`.
    ///   - build: `uname -v`, such as `#1 SMP PREEMPT_DYNAMIC Debian 6.1.187-1 (2026-06-01)`.
    public init(release: String, build: String) {
        self.release = release
        let words = build.split(separator: " ")
        let packaged = words.firstIndex(of: "Debian").map { words[($0 + 1)...].first.map(String.init) ?? "" }
        let numbers = (packaged ?? release).split { !$0.isASCII || !($0.isNumber || $0 == ".") }.first?
            .split(separator: ".").prefix(3).map { Int($0) ?? 0 }
        series = (numbers?.first ?? 0, numbers?.dropFirst().first ?? 0)
        patch = numbers?.dropFirst(2).first ?? 0
    }

    /// The version in numbers, for people.
    public var version: String { "\(series.major).\(series.minor).\(patch)" }

    public static func == (a: KernelRelease, b: KernelRelease) -> Bool {
        a.release == b.release && a.series == b.series && a.patch == b.patch
    }
}
