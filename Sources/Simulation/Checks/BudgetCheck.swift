import Basics
import Mesh
import Wire

/// What nodes may say and pass on in a given time, seen from outside (chapter 03 B5, B10, B16, C8; chapter 04 §7.1).
public final class BudgetCheck: SimulationObserver {
    private struct Spending {
        var lastAnnounce: Instant?
        /// Answers to pings in the window of the first of them.
        var pongs: [Instant] = []
        /// Packets of senders that do not exist, passed on since the first.
        var strangersSince: Instant?
        var strangers = 0
        var strangersWords = 0
    }

    private var spending: [Int: Spending] = [:]
    private var requests: [LinkID: [Instant]] = [:]
    private var residents: Set<PeerID> = []
    /// Links to outsiders that each node has or had.
    private var outsiderLinks: [Int: Int] = [:]
    private var seen = RecentHashes(span: MeshLimits.duplicateLifetime)

    public init() {}

    public func added(node: Int, to mesh: SimulatedMesh) { residents.insert(mesh.nodes[node].id) }

    public func linkUp(_ link: LinkID, a: Int, b: Int, in mesh: SimulatedMesh) {
        if a < 0 { outsiderLinks[b, default: 0] += 1 }
    }

    public func linkDown(_ link: LinkID, a: Int, b: Int, in mesh: SimulatedMesh) { requests[link] = nil }

    public func transmitted(_ transmission: SimulatedMesh.Transmission, in mesh: SimulatedMesh) {
        let bytes = transmission.bytes
        let node = transmission.from
        guard node >= 0 else { return }
        let sender = FrameHeader.sender(bytes)
        let isOwn = sender == mesh.nodes[node].id
        switch MessageType(rawValue: bytes[1]) {
        case .announce where isOwn && bytes[2] == Packet.originTTL: announced(node, transmission.at, mesh)
        case .pong where isOwn: answered(node, transmission.at, mesh)
        case .requestSync: requested(transmission, isOwn: isOwn, mesh)
        default: break
        }
        if !outsiderLinks.isEmpty, !isOwn, !residents.contains(sender) { relayedStranger(transmission, mesh) }
    }

    private func announced(_ node: Int, _ now: Instant, _ mesh: SimulatedMesh) {
        let last = spending[node]?.lastAnnounce
        spending[node, default: Spending()].lastAnnounce = now
        // One announce goes out on every link at once.
        if let last, last != now, now - last < MeshLimits.forcedAnnounceSpacing {
            mesh.report("budget", node: node, "announced \((now - last).milliseconds) ms after the last announce")
        }
    }

    private func answered(_ node: Int, _ now: Instant, _ mesh: SimulatedMesh) {
        var pongs = spending[node]?.pongs ?? []
        pongs.removeAll { now - $0 > MeshLimits.pingWindow }
        if pongs.last != now { pongs.append(now) }
        spending[node, default: Spending()].pongs = pongs
        if pongs.count > MeshLimits.pingAnswers * max(1, mesh.nodes[node].mesh.links.count) {
            mesh.report("budget", node: node, "answered \(pongs.count) pings")
        }
    }

    /// Requests go to neighbours only, and no faster than neighbours answer.
    private func requested(_ transmission: SimulatedMesh.Transmission, isOwn: Bool, _ mesh: SimulatedMesh) {
        guard isOwn, transmission.bytes[2] == 0 else {
            return mesh.report("budget", node: transmission.from, "passed a sync request on")
        }
        var times = requests[transmission.link, default: []]
        times.removeAll { transmission.at - $0 > BudgetCheck.requestWindow }
        times.append(transmission.at)
        requests[transmission.link] = times
        if times.count > BudgetCheck.requestsPerWindow {
            mesh.report("budget", node: transmission.from, "sent \(times.count) sync requests on one link")
        }
    }

    private func relayedStranger(_ transmission: SimulatedMesh.Transmission, _ mesh: SimulatedMesh) {
        let node = transmission.from
        guard seen.insert(FrameHash.mix(transmission.hash, UInt64(node)), at: transmission.at) else {
            return
        }
        var spent = spending[node] ?? Spending()
        let since = spent.strangersSince ?? transmission.at
        spent.strangersSince = since
        spent.strangers += 1
        if transmission.bytes[1] == MessageType.message.rawValue { spent.strangersWords += 1 }
        spending[node] = spent
        // A stranger's packets may also reach a node through others, each with a budget of its own.
        let links = Double(max(1, outsiderLinks.values.reduce(0, +)))
        let seconds = (transmission.at - since).seconds
        let all = MeshLimits.linkPacketBurst + MeshLimits.linkPacketsPerSecond * seconds
        let unverified = MeshLimits.unverifiedRelayBurst + MeshLimits.unverifiedRelaysPerSecond * seconds
        if Double(spent.strangers) > links * all + 1 || Double(spent.strangersWords) > links * unverified + 1 {
            mesh.report("budget", node: node, "passed on \(spent.strangers) packets of strangers")
        }
    }

    /// What a responder answers (chapter 04 §7.1).
    private static let requestsPerWindow = 8
    private static let requestWindow = Interval.seconds(30)
}
