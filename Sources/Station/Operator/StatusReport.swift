/// What `status` answers. The JSON names in StatusReport+JSON.swift are stable.
///
/// It tells what was observed, not what is intended: a radio is as good as the frames that came through it, a relay as
/// good as its last answer.
public struct StatusReport: Equatable, Sendable {
    public var version: String
    public var uptimeSeconds: Int
    public var peer: String
    public var nickname: String
    /// What keeps the box from doing all it is set to do, each with the remedy.
    public var attention: [Attention]
    public var clock: ClockReport
    public var radio: Radio
    public var mesh: Mesh
    public var gateway: Service
    public var bridge: Service
    public var mail = Mail(
        enabled: false, working: false, usingRelays: false, carried: 0, limit: 0, atRelays: 0, undelivered: 0)
    public var network: Network
    public var storage: Storage
    /// Lamps and button; absent where there are none.
    public var panel: Panel?

    public struct Attention: Equatable, Sendable {
        public var code: String
        public var message: String
        public var remedy: String
    }

    public struct Radio: Equatable, Sendable {
        public var kind: String
        /// The Bluetooth controllers; none with virtual air.
        public var adapters: [Adapter]
        public var links: [Link]
    }

    public struct Adapter: Equatable, Sendable {
        /// As the system calls it, `hci0`: never an address.
        public var name: String
        /// A case of `AdapterStatus.State`, with underscores.
        public var state: String
        public var advertising: Bool
        public var scanning: Bool
        public var outgoing: Int
        public var incoming: Int
        public var connecting: Int
        /// How many links it may have.
        public var limit: Int
        /// Seconds since the last frame of any of its links, since it last heard a neighbour advertise, and since it
        /// last took one that called; absent when there was none.
        public var lastInSeconds: Int?
        public var lastOutSeconds: Int?
        public var lastReportSeconds: Int?
        public var lastAcceptedSeconds: Int?
    }

    public struct Link: Equatable, Sendable {
        /// Counts the links of this process.
        public var number: UInt64
        /// The controller it goes over; absent with virtual air.
        public var adapter: String?
        public var role: String
        public var frameLimit: Int
        public var upSeconds: Int
        public var framesIn: UInt64
        public var framesOut: UInt64
        /// Seconds since the last frame; absent when there was none.
        public var lastInSeconds: Int?
        public var lastOutSeconds: Int?
    }

    public struct Mesh: Equatable, Sendable {
        public var neighbours: Int
        public var reachable: Int
    }

    public struct Service: Equatable, Sendable {
        public var enabled: Bool
        /// Whether phones are told of it right now.
        public var advertised: Bool
        /// The rendezvous cell; only for the bridge.
        public var cell: String?
        /// The location channels brought to the mesh; only for the gateway.
        public var channels: [String]?
        public var queuedDeposits: Int
        public var pendingDownlinks: Int
        public var carriersLastMinute: Int
        public var carriersLimit: Int
    }

    /// Letters carried for others; `mail` tells more.
    public struct Mail: Equatable, Sendable {
        public var enabled: Bool
        public var working: Bool
        public var usingRelays: Bool
        public var carried: Int
        public var limit: Int
        public var atRelays: Int
        public var undelivered: Int
    }

    public struct Storage: Equatable, Sendable {
        /// As configured: `persistent` or `amnesic`.
        public var mode: String
        /// `ok`, or why everything is in memory only.
        public var state: String
        public var records: Int
        /// Sealed.
        public var bytes: Int
        /// Bytes not on the disk yet.
        public var waitingBytes: Int
        /// Bytes written within the last 24 hours, or since the start.
        public var writtenLastDay: Int
    }

    public struct Panel: Equatable, Sendable {
        public var lamps: [PanelLamp]
        /// `none`, `listening`, `stuck` or `missing`.
        public var button: String
    }

    public struct PanelLamp: Equatable, Sendable {
        public var name: String
        /// A sign of `bitgate panel`; absent while its line cannot be had.
        public var shows: String?
    }

    public struct Network: Equatable, Sendable {
        public var tor: String
        public var relays: [Relay]
        public var directory = Directory(source: "none", relays: 0)
        /// Only where Tor is required.
        public var route: Route?
    }

    /// The list of relays and their places.
    public struct Directory: Equatable, Sendable {
        /// `fetched`, `file`, `none`, or `unneeded` where own relays carry everything.
        public var source: String
        public var relays: Int
        /// Since it was fetched; absent for a file.
        public var ageSeconds: Int?
        /// Why the last fetch brought nothing.
        public var problem: String?
    }

    /// A subscription that a relay has ended, and why in the words of NIP-01.
    public struct Refusal: Equatable, Sendable {
        public var subscription: String
        public var reason: String
        /// When it is asked for again.
        public var retrySeconds: Int
    }

    public struct Relay: Equatable, Sendable {
        public var url: String
        public var state: String
        /// Seconds since a verified event came from it, and since it accepted one; absent when that never happened.
        public var lastEventSeconds: Int?
        public var lastAcceptedSeconds: Int?
        public var accepted: UInt64
        public var refused: UInt64
        /// Events waiting to be sent to it.
        public var pending: Int
        /// Subscriptions in force.
        public var subscriptions: Int
        /// Subscriptions the relay has ended.
        public var refusals: [Refusal]
        /// Why the last connection ended; absent while connected.
        public var problem: String?
    }
}

/// One line of `peers`: what a peer announces about itself, shown to the operator and written nowhere.
public struct PeerReport: Equatable, Sendable {
    public var peer: String
    public var nickname: String
    public var neighbour: Bool
    public var reachable: Bool
    public var lastHeardSeconds: Int
    public var gateway: Bool
    public var bridge: Bool
    public var cell: String?
}

/// Counts by group and name.
public typealias CounterReport = [String: [String: UInt64]]
