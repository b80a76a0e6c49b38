import Basics
import Wire

/// A radio that can be looked at: kernel Bluetooth and virtual air.
public protocol ObservedRadio: LinkPort {
    /// The controllers behind it; none for virtual air.
    var adapters: [AdapterSnapshot] { get }
    /// The name of the controller a link goes over.
    func adapterName(of link: LinkID) -> String?
    /// What was counted since the start of the process, by group.
    var counters: [(group: String, counts: [(name: String, count: UInt64)])] { get }
    /// What proves that it works, for whoever watches over the process.
    var liveness: [RadioLiveness] { get }
    /// Why there is no adapter at all; nil where there is one, or none is needed.
    var obstacle: AdapterStatus.State? { get }
    /// What is wrong with what the operator gave it; nil when nothing is.
    var problem: String? { get }
}

/// One controller as `status` shows it: what was observed. No address: it would name people's phones.
public struct AdapterSnapshot: Sendable {
    /// As the system names it: `hci0`.
    public let name: String
    public let state: AdapterStatus.State
    public let isAdvertising: Bool
    public let isScanning: Bool
    /// Connections of each role, and attempts under way.
    public let outgoing: Int
    public let incoming: Int
    public let connecting: Int
    /// How many connections it may have: as configured, or fewer where it refused more.
    public let limit: Int
    /// When a neighbour was last connected without a socket for us: somebody else answers on the ATT channel.
    public let lastStranger: Instant?
    /// Who that is, or will be, as far as this process can see.
    public let rival: ChannelRival?
    /// Since when it has been open to neighbours that call, without a break; nil while it is not.
    public let openSince: Instant?
    /// When a neighbour that called was last taken.
    public let lastAccepted: Instant?
    /// How often neighbours without a link to us were heard since it opened, or took one that called.
    public let heardUnlinked: Int
    public let lastReceived: Instant?
    public let lastSent: Instant?
    /// When it last heard a neighbour advertise.
    public let lastReport: Instant?
}

/// A process that listens where we do: the kernel gives those who call to whoever began last.
public struct ChannelRival: Equatable, Sendable {
    public let name: String
    public let pid: Int32

    public init(name: String, pid: Int32) {
        self.name = name
        self.pid = pid
    }
}

/// When a radio was last seen to work.
public struct RadioLiveness: Equatable, Sendable {
    public let name: String
    /// Whether it can be expected to work at all. A controller that is absent or switched off is nothing that a restart
    /// would help.
    public let isExpected: Bool
    public let lastProof: Instant?

    public init(name: String, isExpected: Bool, lastProof: Instant?) {
        self.name = name
        self.isExpected = isExpected
        self.lastProof = lastProof
    }
}
