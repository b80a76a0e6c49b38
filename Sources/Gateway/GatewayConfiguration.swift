import Basics
import Nostr

/// The gateway's services and policies, fixed for its lifetime. To change them, create another gateway.
public struct GatewayConfiguration: Sendable {
    /// The parts of the work (chapter 06 §1.1). A chat console has none of them.
    public struct Jobs: OptionSet, Sendable {
        public let rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Publish geohash-channel messages of mesh-only peers.
        public static let uplink = Jobs(rawValue: 1 << 0)
        /// Broadcast geohash-channel messages of followed channels.
        public static let downlink = Jobs(rawValue: 1 << 1)
        /// Join the island to others through the rendezvous cell, both ways.
        public static let bridge = Jobs(rawValue: 1 << 2)

        public static let all: Jobs = [.uplink, .downlink, .bridge]
    }

    public var jobs: Jobs
    /// Tell the island about each deposit once, since other mesh-only phones cannot have heard it (chapter 06 §3.9).
    public var echoesUplinks: Bool
    /// Channels always followed, lower case; further ones follow the deposits. Invalid and surplus ones are ignored.
    public var channels: [String]
    /// Also follow the channels that deposits show to be in use (chapter 06 §3.5).
    public var followsDemand: Bool
    /// Without it the bridge rests.
    public var cell: RendezvousCell?
    /// Distant cells to join besides the ring of `cell` (chapter 06 §4.13).
    public var extraCells: [RendezvousCell]
    /// Publish bridge presence, which counts this box as a person (chapter 06 §4.7).
    public var publishesPresence: Bool
    /// Publish presence in the coarse location channels around `cell`, which counts this box as a person as well
    /// (chapter 05 §9.2).
    public var publishesChannelPresence: Bool

    public init(
        jobs: Jobs = .all, echoesUplinks: Bool = true, channels: [String] = [], cell: RendezvousCell? = nil,
        extraCells: [RendezvousCell] = [], publishesPresence: Bool = false, followsDemand: Bool = true,
        publishesChannelPresence: Bool = false
    ) {
        self.publishesChannelPresence = publishesChannelPresence
        self.jobs = jobs
        self.echoesUplinks = echoesUplinks
        self.channels = channels
        self.cell = cell
        self.extraCells = extraCells
        self.publishesPresence = publishesPresence
        self.followsDemand = followsDemand
    }

    /// A chat console: listens and speaks, carries nothing for others.
    public static func console(cell: RendezvousCell? = nil) -> GatewayConfiguration {
        GatewayConfiguration(jobs: [], echoesUplinks: false, cell: cell)
    }
}
