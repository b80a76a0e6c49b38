import Basics
import Crypto
import Mesh
import Wire

/// Mesh nodes in virtual time, joined by links that delay and lose frames. Everything, the nodes' own randomness
/// included, follows from one seed: the same seed replays the same run, byte for byte.
public final class SimulatedMesh {
    /// How one direction of a link behaves. Order on a link is kept, as on the radio.
    public struct Conditions {
        public var delay: ClosedRange<Int64>
        /// Probability that a frame is lost.
        public var loss: Double
        public var frameLimit: Int

        /// - Parameter delay: milliseconds.
        public init(delay: ClosedRange<Int64> = 2...10, loss: Double = 0, frameLimit: Int = 512) {
            self.delay = delay
            self.loss = loss
            self.frameLimit = frameLimit
        }
    }

    /// A frame as one node put it on a link.
    public struct Transmission {
        public let at: Instant
        public let from: Int
        public let to: Int
        public let link: LinkID
        public let bytes: [UInt8]
    }

    /// One end of a link.
    struct End {
        let node: Int
        let link: LinkID
    }

    struct Channel {
        let to: End
        var conditions: Conditions
        /// When the last frame on it arrives: nothing overtakes.
        var busyUntil: Instant
    }

    private enum Step {
        case deliver(End, [UInt8])
        case call((SimulatedMesh) -> Void)
    }

    /// Every run begins here.
    public static let start = Now(
        monotonic: Instant.zero + .hours(1), wall: WallTime(milliseconds: 1_700_000_000_000))

    public let seed: UInt64
    public internal(set) var random: SeededRandom
    public private(set) var now: Now
    public private(set) var nodes: [SimulatedNode] = []
    /// Every frame put on a link, as long as `recordsAir` is on.
    public private(set) var air: [Transmission] = []
    public var recordsAir = true
    /// May replace or drop (nil) a frame before it is delivered.
    public var interference: ((Transmission) -> [UInt8]?)?

    private var steps = DeadlineQueue<Step>()
    var channels: [LinkID: Channel] = [:]
    private var nextLink: UInt64 = 1

    public init(seed: UInt64) {
        self.seed = seed
        random = SeededRandom(seed: seed)
        now = SimulatedMesh.start
    }

    // MARK: Nodes and links

    /// Adds a node and starts it.
    @discardableResult
    public func addNode(
        _ name: String? = nil, capabilities: Capabilities = [], routes: Bool = true, clockSkew: Int64 = 0
    ) -> Int {
        let index = nodes.count
        let identity = NodeIdentity.generate(using: &random)
        let configuration = MeshConfiguration(
            nickname: name ?? "node-\(index)", capabilities: capabilities, duplicateCapacity: 4_096,
            originatesRoutes: routes)
        let node = MeshNode(configuration: configuration, identity: identity, random: SeededRandom(seed: random.next()))
        nodes.append(SimulatedNode(index: index, identity: identity, mesh: node, clockSkew: clockSkew))
        call(index) { $0.start(at: $1) }
        return index
    }

    /// Joins two nodes: `a` opened the link.
    /// - Returns: the link as each end knows it.
    @discardableResult
    public func connect(_ a: Int, _ b: Int, _ conditions: Conditions = Conditions()) -> (a: LinkID, b: LinkID) {
        let ends = (a: LinkID(value: nextLink), b: LinkID(value: nextLink + 1))
        nextLink += 2
        channels[ends.a] = Channel(
            to: End(node: b, link: ends.b), conditions: conditions, busyUntil: now.monotonic)
        channels[ends.b] = Channel(
            to: End(node: a, link: ends.a), conditions: conditions, busyUntil: now.monotonic)
        call(a) { $0.linkUp(ends.a, role: .outgoing, frameLimit: conditions.frameLimit, at: $1) }
        call(b) { $0.linkUp(ends.b, role: .incoming, frameLimit: conditions.frameLimit, at: $1) }
        return ends
    }

    /// Both nodes found each other: a link each way, as phones have.
    public func connectBothWays(_ a: Int, _ b: Int, _ conditions: Conditions = Conditions()) {
        connect(a, b, conditions)
        connect(b, a, conditions)
    }

    /// Ends a link, named by either end. Frames under way are lost.
    public func disconnect(_ link: LinkID) {
        guard let channel = channels.removeValue(forKey: link), let back = channels.removeValue(forKey: channel.to.link)
        else { return }
        call(channel.to.node) { $0.linkDown(channel.to.link, at: $1) }
        call(back.to.node) { $0.linkDown(link, at: $1) }
    }

    public var linkCount: Int { channels.count / 2 }

    /// Links by their opener's end, in the order they were made.
    public var openLinks: [(link: LinkID, a: Int, b: Int)] {
        channels.filter { $0.key.value % 2 == 1 }.sorted { $0.key < $1.key }.compactMap { link, channel in
            channels[channel.to.link].map { (link, $0.to.node, channel.to.node) }
        }
    }

    /// Hands a frame to a node as if it had come in on a link of its own.
    public func inject(_ bytes: [UInt8], into node: Int, on link: LinkID) {
        call(node) { mesh, now in bytes.withUnsafeBytes { mesh.receive($0, on: link, at: now) } }
    }

    // MARK: Time

    /// Runs `action` at a moment from now.
    public func schedule(after delay: Interval, _ action: @escaping (SimulatedMesh) -> Void) {
        steps.add(.call(action), due: now.monotonic + delay)
    }

    public func run(for span: Interval) {
        let end = now.monotonic + span
        while let next = nextMoment, next <= end {
            advance(to: next)
            runDue()
        }
        advance(to: end)
    }

    private var nextMoment: Instant? {
        var next = steps.nextDeadline
        for node in nodes {
            if let deadline = node.mesh.nextDeadline { next = next.map { min($0, deadline) } ?? deadline }
        }
        return next
    }

    private func advance(to instant: Instant) {
        // Wall time moves in whole milliseconds, so it is derived from the start each time, not added up.
        if instant > now.monotonic {
            let elapsed = instant - SimulatedMesh.start.monotonic
            now = Now(
                monotonic: instant,
                wall: WallTime(milliseconds: SimulatedMesh.start.wall.milliseconds + UInt64(elapsed.milliseconds)))
        }
    }

    private func runDue() {
        while let step = steps.takeDue(at: now.monotonic) {
            switch step {
            case .deliver(let end, let bytes):
                guard channels[end.link] != nil else { continue }
                call(end.node) { mesh, now in bytes.withUnsafeBytes { mesh.receive($0, on: end.link, at: now) } }
            case .call(let action): action(self)
            }
        }
        for node in nodes {
            if let deadline = node.mesh.nextDeadline, deadline <= now.monotonic {
                call(node.index) { $0.timeout(at: $1) }
            }
        }
    }

    /// Calls a node at the present moment, by its own clock, and carries its effects out.
    @discardableResult
    public func call<R>(_ index: Int, _ action: (MeshNode, Now) -> R) -> R {
        let node = nodes[index]
        let result = action(node.mesh, node.clock(now))
        while let effect = node.mesh.nextEffect() {
            switch effect {
            case .transmit(let frame, let link, _): send(frame, from: index, on: link)
            case .disconnect(let link): disconnect(link)
            case .event(let event): nodes[index].note(event, at: now.monotonic)
            }
        }
        return result
    }

    private func send(_ frame: [UInt8], from node: Int, on link: LinkID) {
        guard var channel = channels[link] else { return }
        let transmission = Transmission(
            at: now.monotonic, from: node, to: channel.to.node, link: link, bytes: frame)
        if recordsAir { air.append(transmission) }
        let isLost = channel.conditions.loss > 0 && Double.random(in: 0..<1, using: &random) < channel.conditions.loss
        let bytes = interference.map { $0(transmission) } ?? frame
        let delay = Interval.milliseconds(Int(Int64.random(in: channel.conditions.delay, using: &random)))
        channel.busyUntil = max(channel.busyUntil, now.monotonic + delay)
        channels[link] = channel
        if !isLost, let bytes { steps.add(.deliver(channel.to, bytes), due: channel.busyUntil) }
    }

    public func clearAir() { air.removeAll() }
}
