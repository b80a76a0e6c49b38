import Basics
import Crypto
import Gateway
import Nostr
import Radio
import Uplink

/// Everything the operator can set. The initial values are the documented defaults: nothing else states them.
public struct Configuration: Equatable, Sendable {
    /// `nil`: `gate-` and 4 hex digits of the peer ID.
    public var nickname: String?
    public var stateDirectory = "/var/lib/bitgate"
    public var controlSocket = "/run/bitgate/control"
    public var storage = Storage.persistent
    public var radio = Radio()
    public var air = Air()
    public var location = Location()
    public var gateway = Gateway()
    public var bridge = Bridge()
    public var courier = Courier()
    public var nostr = Nostr()
    public var network = Network()
    public var panic = Panic()
    public var panel = Panel()
    public var clock = Clock()
    public var log = Log()

    public init() {}

    public struct Radio: Equatable, Sendable {
        public enum Kind: String, CaseIterable, Sendable { case bluetooth, air }
        /// Which builds of the phone application are met: they use services of their own.
        public enum Service: String, CaseIterable, Sendable { case release, debug }
        /// What the controllers are called on the air.
        public enum Address: String, CaseIterable, Sendable { case random, `public` }
        public var kind = Kind.bluetooth
        /// Empty: all there are.
        public var adapters: [AdapterChoice] = []
        public var address = Address.random
        public var service = Service.release
        /// Of each adapter, both roles together.
        public var links = 8
        /// Of each adapter, opened by this box.
        public var outgoingLinks = 6
    }

    /// Virtual air: a room of processes on one machine.
    public struct Air: Equatable, Sendable {
        public var room = "/run/bitgate/air"
        /// `nil`: the nickname's default form.
        public var name: AirName?
        public var mtu = 517
        /// Share of received frames lost, 0…1.
        public var loss = 0.0
        public var delay = Interval.zero...Interval.zero
        public var seed: Int64 = 0
    }

    public struct Location: Equatable, Sendable {
        public var cell: RendezvousCell?
        public var latitude: Double?
        public var longitude: Double?
    }

    public struct Gateway: Equatable, Sendable {
        public var isEnabled = true
        public var echo = true
        /// Geohash channels followed besides those that deposits show to be in use.
        public var channels: [String] = []
        public var demandChannels = true
        public var presence = false
    }

    public struct Bridge: Equatable, Sendable {
        public var isEnabled = true
        public var extraCells: [RendezvousCell] = []
        public var presence = false
    }

    /// Carrying sealed mail for others.
    public struct Courier: Equatable, Sendable {
        public var isEnabled = true
        public var drops = true
        public var trusted: [Fingerprint] = []
    }

    public struct Nostr: Equatable, Sendable {
        public var relays: [NostrRelayURL] = []
        public var useBuiltInRelays = true
        /// Where the list of relays with their places is, from which phones and gateways choose the same five.
        public var directory = "/usr/share/bitgate/relays.csv"
        /// Where a newer list is fetched; empty for nowhere.
        public var directoryURL =
            "https://raw.githubusercontent.com/permissionlesstech/bitchat/refs/heads/main/relays/online_relays_gps.csv"
    }

    public struct Network: Equatable, Sendable {
        public enum Tor: String, CaseIterable, Sendable { case required, off }
        public var tor = Tor.required
        public var socks = LocalEndpoint.torSOCKS
        /// `nil`: readiness is told by connections alone.
        public var control: LocalEndpoint? = .torControl
        /// `nil`: where tor says it is.
        public var controlCookie: String?
    }

    /// Whether what the box remembers outlives its process.
    public enum Storage: String, CaseIterable, Sendable { case persistent, amnesic }

    public struct Panic: Equatable, Sendable {
        public var resume = false
        public var markerDirectory = "/etc/bitgate"
        /// `none`, or where it is asked.
        public var helper = "/run/bitgate-erase"
    }

    public struct Clock: Equatable, Sendable {
        public var trustSystem = false
    }

    public struct Log: Equatable, Sendable {
        public var level = LogLevel.info
    }
}
