import Basics
import Crypto
import Mesh
import Wire

/// Mesh nodes in virtual time, joined by links that delay and lose frames. Everything, the nodes' own randomness
/// included, follows from one seed: the same seed replays the same run, byte for byte.
///
/// The nodes are real `MeshNode`s. A step is one frame that arrives, one timer that fires or one scheduled action; all
/// effects of a step are carried out before the next.
public final class SimulatedMesh {
    enum Step {
        /// A frame arrives at the far end of a channel.
        case arrival(channel: LinkID, bytes: [UInt8])
        case wake(Int)
        /// A link is free for what waits.
        case free(LinkID)
        case action((SimulatedMesh) -> Void)
    }

    /// Every run begins here.
    public static let start = Now(
        monotonic: Instant.zero + .hours(1), wall: WallTime(milliseconds: 1_700_000_000_000))

    public let seed: UInt64
    public internal(set) var random: SeededRandom
    public private(set) var now = SimulatedMesh.start
    public private(set) var nodes: [SimulatedNode] = []
    /// Steps made.
    public private(set) var steps: UInt64 = 0
    /// The first promise broken; nothing moves after it.
    public private(set) var violation: Violation?
    /// Stops the run after so many steps.
    public var stepLimit = UInt64.max

    /// Every frame put on a link, as long as `recordsAir` is on.
    public internal(set) var air: [Transmission] = []
    public var recordsAir = true
    public var recordsEvents = true
    /// May replace or drop (nil) a frame before it is delivered.
    public var interference: ((Transmission) -> [UInt8]?)?
    public var observers: [any SimulationObserver] = [] {
        didSet {
            airObservers = observers.filter(\.watchesAir)
            callObservers = observers.filter { $0.callStride > 0 }
        }
    }
    private(set) var airObservers: [any SimulationObserver] = []
    private var callObservers: [any SimulationObserver] = []
    private var calls = 0

    /// The work on each distinct frame is done once, however many nodes it reaches.
    let memory = FrameMemory(capacity: 1 << 13)
    var heap = EventHeap<Step>()
    var latestFrame = LatestFrame()
    var channels: [Channel?] = [nil]
    /// Frames that wait for their link, where there are any.
    var backlogs: [LinkID: Backlog] = [:]
    public internal(set) var linkCount = 0
    var outsiders: [any Outsider] = []
    /// Frames that found a link's queue full.
    public internal(set) var overflows: UInt64 = 0

    public init(seed: UInt64) {
        self.seed = seed
        random = SeededRandom(seed: seed)
    }

    /// Since the start of the run.
    public var elapsed: Interval { now.monotonic - SimulatedMesh.start.monotonic }
    /// Signature checks really made, for all nodes together.
    public var signatureChecks: UInt64 { memory.checks }
    public var isStopped: Bool { violation != nil || steps >= stepLimit }

    // MARK: Nodes

    /// Adds a node and starts it.
    @discardableResult
    public func addNode(
        _ name: String? = nil, capabilities: Capabilities = [], routes: Bool = true, clockSkew: Int64 = 0
    ) -> Int {
        let configuration = MeshConfiguration(
            nickname: name ?? "node-\(nodes.count)", capabilities: capabilities, originatesRoutes: routes)
        return addNode(configuration, clockSkew: clockSkew)
    }

    /// Adds a node and starts it.
    @discardableResult
    public func addNode(_ configuration: MeshConfiguration, clockSkew: Int64 = 0) -> Int {
        let identity = NodeIdentity.generate(using: &random)
        let index = nodes.count
        let mesh = engine(configuration, identity)
        nodes.append(SimulatedNode(index: index, identity: identity, mesh: mesh, clockSkew: clockSkew))
        for observer in observers { observer.added(node: index, to: self) }
        call(index) { $0.start(at: $1) }
        return index
    }

    private func engine(_ configuration: MeshConfiguration, _ identity: NodeIdentity) -> MeshNode {
        MeshNode(
            configuration: configuration, identity: identity, random: SeededRandom(seed: random.next()),
            memory: memory)
    }

    /// Gives a node something that takes its events and acts through it.
    public func attach(_ attachment: any NodeAttachment, to index: Int) {
        nodes[index].attachment = attachment
        settle(nodes[index])
    }

    /// The node restarts with its identity, its pinned identities and its archive, and nothing else. Its links must be
    /// gone.
    public func restart(_ index: Int, _ configuration: MeshConfiguration) {
        let node = nodes[index]
        replaceEngine(of: node, configuration)
        node.isRetired = false
        for observer in observers { observer.added(node: index, to: self) }
        node.mesh.restore(node.pinned.values.sorted { $0.peerID < $1.peerID })
        call(index) { mesh, now in
            mesh.restoreHistory(node.archive.records, at: now)
            mesh.restoreBoard(node.archive.boardRecords, at: now)
            mesh.start(at: now)
        }
    }

    /// The node is out of the mesh, for good or until `restart`: its links end and it costs nothing any more.
    public func retire(_ index: Int) {
        for link in links(of: index) { disconnect(link) }
        let node = nodes[index]
        for observer in observers { observer.retired(node: index, in: self) }
        replaceEngine(of: node, MeshConfiguration(nickname: ""))
        node.attachment = nil
        node.isRetired = true
    }

    private func replaceEngine(of node: SimulatedNode, _ configuration: MeshConfiguration) {
        node.pastDrops = node.drops
        node.pastCounts = node.counts
        node.mesh = engine(configuration, node.identity)
        node.wake = .distantFuture
    }

    /// Says something to everybody, and tells the observers.
    @discardableResult
    public func say(_ text: String, from index: Int) -> PublicMessage? {
        let node = nodes[index]
        guard let message = node.mesh.say(text, at: node.clock(now)) else { return nil }
        for observer in observers { observer.said(message, by: index, in: self) }
        settle(node)
        return message
    }

    // MARK: Time

    /// Runs `action` at a moment from now.
    public func schedule(after delay: Interval, _ action: @escaping (SimulatedMesh) -> Void) {
        heap.add(.action(action), due: now.monotonic + delay)
    }

    /// Does all that is due within `span`, and stops early at a broken promise or at the step limit.
    public func run(for span: Interval) {
        let end = now.monotonic + span
        while !isStopped, let next = heap.nextDue, next <= end, let step = heap.takeFirst() {
            advance(to: next)
            execute(step)
        }
        if !isStopped { advance(to: end) }
    }

    private func advance(to instant: Instant) {
        guard instant > now.monotonic else { return }
        // Wall time moves in whole milliseconds, so it is derived from the start each time, not added up.
        let elapsed = instant - SimulatedMesh.start.monotonic
        now = Now(
            monotonic: instant,
            wall: WallTime(milliseconds: SimulatedMesh.start.wall.milliseconds + UInt64(elapsed.milliseconds)))
    }

    private func execute(_ step: Step) {
        switch step {
        case .arrival(let link, let bytes):
            // Frames under way on a link that ended are lost.
            guard let channel = channels[Int(link.value)] else { return }
            steps += 1
            deliver(bytes, channel)
        case .wake(let index):
            let node = nodes[index]
            guard node.wake == now.monotonic else { return }
            steps += 1
            node.wake = .distantFuture
            wake(node)
        case .free(let link): freed(link)
        case .action(let action):
            steps += 1
            action(self)
        }
    }

    private func wake(_ node: SimulatedNode) {
        let now = node.clock(now)
        if let due = node.mesh.nextDeadline, due <= now.monotonic { node.mesh.timeout(at: now) }
        if let due = node.attachment?.nextDeadline, due <= now.monotonic { node.attachment?.timeout(at: now) }
        settle(node)
    }

    /// Calls a node at the present moment, by its own clock, and carries its effects out.
    @discardableResult
    public func call<R>(_ index: Int, _ action: (MeshNode, Now) -> R) -> R {
        let node = nodes[index]
        let result = action(node.mesh, node.clock(now))
        settle(node)
        return result
    }

    /// Carries out the effects of a call, and sees that the node is woken in time.
    func settle(_ node: SimulatedNode) {
        let engine = node.mesh
        repeat {
            while let effect = engine.nextEffect() { carry(effect, of: node) }
        } while node.attachment != nil && node.attachment?.step(node, at: node.clock(now), in: self) ?? false
        let deadline = node.nextDeadline
        if deadline < node.wake {
            node.wake = max(deadline, now.monotonic)
            heap.add(.wake(node.index), due: node.wake)
        }
        calls += 1
        for observer in callObservers where calls % observer.callStride == 0 {
            observer.settled(node: node.index, in: self)
        }
    }

    private func carry(_ effect: MeshEffect, of node: SimulatedNode) {
        switch effect {
        case .transmit(let frame, let link, let priority): transmit(frame, on: link, priority: priority)
        case .disconnect(let link): disconnect(link)
        case .event(let event):
            if recordsEvents { node.note(event, at: now.monotonic) }
            if case .identityLearned(let record) = event { node.pinned[record.peerID] = record }
            if case .identityForgotten(let record) = event { node.pinned[record.peerID] = nil }
            for observer in observers { observer.happened(event, at: node.index, in: self) }
            node.attachment?.happened(event, at: node.clock(now), in: self)
        case .archive(let batch): node.archive.apply(batch, at: now.monotonic)
        case .boardArchive(let batch): node.archive.apply(batch)
        }
    }

    /// A promise was not kept. The first one counts.
    public func report(_ rule: String, node: Int? = nil, _ detail: String) {
        if violation == nil {
            violation = Violation(rule: rule, step: steps, at: elapsed, node: node, detail: detail)
        }
    }

    /// The run is over: lets the observers draw their conclusions.
    public func end() {
        for observer in observers where !isStopped { observer.ended(self) }
    }
}
