import Basics
import Wire

/// Claimed neighbours and version 2 support of peers (chapter 03 B9.1). Claims come from verified announces only.
public struct TopologyTracker: Sendable {
    private struct Claim {
        var neighbours: [PeerID]
        var at: Instant
    }
    private struct VersionMark {
        var version: UInt8
        var at: Instant
    }

    private var claims: [PeerID: Claim] = [:]
    private var versions: [PeerID: VersionMark] = [:]

    public init() {}

    /// Replaces the neighbours `node` claims; an announce has room for 31. A claim beyond `MeshLimits.topologyNodes` is
    /// not taken in.
    public mutating func claim(_ neighbours: [PeerID], by node: PeerID, at now: Instant) {
        let others = neighbours.contains(node) ? neighbours.filter { $0 != node } : neighbours
        if let position = claims.index(forKey: node) {
            claims.values[position] = Claim(neighbours: others, at: now)
        } else if claims.count < MeshLimits.topologyNodes {
            claims[node] = Claim(neighbours: others, at: now)
        }
    }

    /// Our own claim is never left out.
    public mutating func claimOwn(_ neighbours: [PeerID], by me: PeerID, at now: Instant) {
        claims[me] = Claim(neighbours: neighbours.filter { $0 != me }, at: now)
    }

    /// `node` was seen speaking `version`; only versions above 1 are remembered, the highest one stays.
    public mutating func noteVersion(_ version: UInt8, of node: PeerID, at now: Instant) {
        guard version > 1, versions[node] != nil || versions.count < MeshLimits.topologyNodes else { return }
        versions[node] = VersionMark(version: max(version, versions[node]?.version ?? 0), at: now)
    }

    public mutating func remove(_ node: PeerID) {
        claims[node] = nil
        versions[node] = nil
    }

    public mutating func prune(at now: Instant) {
        claims = claims.filter { now - $0.value.at <= MeshLimits.topologyFreshness }
        versions = versions.filter { now - $0.value.at <= MeshLimits.topologyFreshness }
    }

    /// The intermediate hops of a shortest path, breadth first: empty when both are the same or direct neighbours, nil
    /// when there is none (chapter 03 B9.2).
    /// - Parameters:
    ///   - maxHops: most intermediate hops.
    ///   - version: what every node but `from` must have been seen speaking; nil for any.
    public func route(
        from: PeerID, to: PeerID, maxHops: Int = MeshLimits.routeIntermediateHops, version: UInt8? = 2,
        at now: Instant
    ) -> [PeerID]? {
        if from == to { return [] }
        var previous: [PeerID: PeerID] = [:]
        var frontier = [from]
        for _ in 0...max(0, maxHops) {
            var next: [PeerID] = []
            for node in frontier {
                for neighbour in confirmedNeighbours(of: node, at: now) {
                    guard neighbour != from, previous[neighbour] == nil, speaks(neighbour, version) else { continue }
                    previous[neighbour] = node
                    if neighbour == to { return Self.hops(to: to, from: from, previous) }
                    next.append(neighbour)
                }
            }
            frontier = next
        }
        return nil
    }

    /// Neighbours of a fresh claim whose own fresh claim names `node` back.
    private func confirmedNeighbours(of node: PeerID, at now: Instant) -> [PeerID] {
        guard let claim = fresh(node, at: now) else { return [] }
        return claim.neighbours.filter { fresh($0, at: now)?.neighbours.contains(node) ?? false }
    }

    private func fresh(_ node: PeerID, at now: Instant) -> Claim? {
        guard let claim = claims[node], now - claim.at < MeshLimits.topologyFreshness else { return nil }
        return claim
    }

    private func speaks(_ node: PeerID, _ version: UInt8?) -> Bool {
        guard let version else { return true }
        return (versions[node]?.version ?? 1) >= version
    }

    private static func hops(to: PeerID, from: PeerID, _ previous: [PeerID: PeerID]) -> [PeerID] {
        var hops: [PeerID] = []
        var node = to
        while let before = previous[node], before != from {
            hops.append(before)
            node = before
        }
        return hops.reversed()
    }

    /// Claimed edges for display: either side's claim counts (chapter 03 B16).
    public var edges: [(from: PeerID, to: PeerID)] {
        claims.flatMap { node, claim in claim.neighbours.map { (node, $0) } }.sorted { $0 < $1 }
    }
}
