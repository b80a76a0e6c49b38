import Basics
import Mesh
import Wire

/// Holds the real mesh against two reference meshes over the same links.
///
/// The *generous* one tells everything at once over every link, however short its life: nobody may hear a message that
/// it has not told. The *strict* one trusts links only after they have been up for a whole round, and passes things on
/// one hop a round: whatever it has told must have been heard when a node leaves or the run ends.
public final class ReferenceCheck: SimulationObserver {
    public let watchesAir = false
    public struct Patience: Sendable {
        /// Long enough for two rounds of gossip (chapter 04 §6.1).
        public var round = Interval.seconds(100)
        /// How far a flooded announce gets for certain: a dense neighbourhood clamps the TTL to 5 (chapter 03 B6).
        public var hops = 5

        public init() {}

        /// Where so many frames are lost that both rounds may fail: whoever did not take a packet then is not served
        /// it again for two minutes (chapter 04 §7.3).
        static var lossy: Patience {
            var patience = Patience()
            patience.round = .seconds(190)
            return patience
        }
    }

    private let patience: Patience
    private let log: DeliveryLog
    /// Whether a node's clock and radio are such that it must be served; the others only may be.
    private let isServed: (Int) -> Bool
    private var generous = ReferenceMesh()
    private var strict = ReferenceMesh()
    /// Links that were up when the round began.
    private var trusted: Set<LinkID> = []
    /// Messages said since the round began: they are passed on from the next one on.
    private var fresh: [(message: Int, author: Int)] = []
    /// Deliveries that were due, over all nodes that left or stayed to the end.
    public private(set) var due = 0

    public init(log: DeliveryLog, patience: Patience = Patience(), isServed: @escaping (Int) -> Bool = { _ in true }) {
        self.log = log
        self.patience = patience
        self.isServed = isServed
    }

    public func begin(in mesh: SimulatedMesh) {
        mesh.observers.append(self)
        mesh.schedule(after: patience.round) { [weak self] in self?.round($0) }
    }

    private func round(_ mesh: SimulatedMesh) {
        let links = strict.links.filter { trusted.contains($0.key) }.values
        strict.exchange(over: Array(links), hops: patience.hops)
        trusted = Set(strict.links.keys)
        for (message, author) in fresh where !mesh.nodes[author].isRetired { strict.hear(message, at: author) }
        fresh.removeAll()
        mesh.schedule(after: patience.round) { [weak self] in self?.round($0) }
    }

    public func added(node: Int, to mesh: SimulatedMesh) {
        generous.join(node)
        strict.join(node)
    }

    public func linkUp(_ link: LinkID, a: Int, b: Int, in mesh: SimulatedMesh) {
        // An outsider may carry what it heard on one link to the other, and keep it for as long as it likes.
        generous.link(link, a, b)
        generous.share(around: a)
        guard a >= 0, b >= 0 else { return }
        if isServed(a), isServed(b) { strict.link(link, a, b) }
    }

    public func linkDown(_ link: LinkID, a: Int, b: Int, in mesh: SimulatedMesh) {
        generous.unlink(link)
        strict.unlink(link)
        trusted.remove(link)
    }

    public func said(_ message: PublicMessage, by node: Int, in mesh: SimulatedMesh) {
        generous.say(by: node)
        generous.share(around: node)
        strict.announce(by: node)
        if let number = log.number(of: message) { fresh.append((number, node)) }
    }

    public func happened(_ event: MeshEvent, at node: Int, in mesh: SimulatedMesh) {
        guard case .publicMessage(let message) = event, let number = log.number(of: message),
            generous.has[node]?.contains(number) != true
        else { return }
        mesh.report("reference mesh", node: node, "heard message \(number), which could not get there")
    }

    public func retired(node: Int, in mesh: SimulatedMesh) {
        settle(node, mesh)
        strict.forget(node)
    }

    public func ended(_ mesh: SimulatedMesh) {
        for node in mesh.nodes.indices where !mesh.nodes[node].isRetired { settle(node, mesh) }
    }

    private func settle(_ node: Int, _ mesh: SimulatedMesh) {
        guard let expected = strict.has[node] else { return }
        due += expected.count
        if let missing = expected.firstMissing(in: log.known(to: node)) {
            let message = log.said[missing]
            let said = ClockText.text(message.at - SimulatedMesh.start.monotonic)
            mesh.report(
                "reference mesh", node: node,
                "never heard message \(missing) of node \(message.author), said at \(said), which must have got there")
        }
    }
}
