import Basics
import Nostr

/// A cell in which the bridge meets other islands: six characters of a geohash (chapter 06 §4.4).
public struct RendezvousCell: Hashable, Sendable {
    public let geohash: String

    /// Six characters or more in lower case, cut to six; nil otherwise.
    public init?(_ geohash: String) {
        guard geohash.utf8.count >= GatewayLimits.cellPrecision, Geohash.isCanonical(geohash) else { return nil }
        self.geohash = String(geohash.prefix(GatewayLimits.cellPrecision))
    }

    public init(latitude: Double, longitude: Double) {
        geohash = Geohash.encode(
            latitude: latitude, longitude: longitude, length: GatewayLimits.cellPrecision)
    }

    /// The cell and its neighbours: nine, fewer next to a pole.
    public var ring: [String] { [geohash] + Geohash.neighbours(of: geohash).filter { $0 != geohash } }
}

/// Which rendezvous cells a gateway listens to: the ring around its own, and distant ones joined by configuration.
struct RendezvousCells {
    let own: RendezvousCell
    let extra: [String]
    private let members: Set<String>

    init(own: RendezvousCell, extra: [RendezvousCell] = []) {
        self.own = own
        let ring = own.ring
        var distant: [String] = []
        for cell in extra.map(\.geohash) where !ring.contains(cell) && !distant.contains(cell) { distant.append(cell) }
        self.extra = Array(distant.prefix(GatewayLimits.extraCells))
        members = Set(ring + self.extra)
    }

    func contains(_ cell: String) -> Bool { members.contains(cell) }

    /// One subscription for the ring at the own cell's relays, and one for each distant cell at that cell's: events are
    /// published to the relays of their own cell only (chapter 06 §4.5, §4.13).
    func subscriptions(at wall: WallTime) -> [GatewaySubscription] {
        [subscription(id: RendezvousCells.subscriptionID, cells: own.ring, relaysOf: own.geohash, at: wall)]
            + extra.map {
                subscription(
                    id: "\(RendezvousCells.subscriptionID)-\($0)", cells: [$0], relaysOf: $0, at: wall)
            }
    }

    static let subscriptionID = "bridge-rendezvous"

    private func subscription(id: String, cells: [String], relaysOf: String, at wall: WallTime) -> GatewaySubscription {
        GatewaySubscription(
            id: id,
            filter: NostrFilter(
                kinds: [EventKind.channelMessage, EventKind.presence], tags: ["r": cells],
                since: wall.unixSeconds - GatewayLimits.rendezvousLookBack, limit: GatewayLimits.subscriptionLimit),
            geohash: relaysOf, fallsBackToDefaultRelays: true)
    }
}
