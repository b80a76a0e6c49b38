import Basics
import Mesh
import Wire

extension SimulatedMesh {
    // MARK: Joining

    /// Joins two nodes: `a` opened the link.
    /// - Returns: the link as each end knows it.
    @discardableResult
    public func connect(_ a: Int, _ b: Int, _ conditions: Conditions = Conditions()) -> (a: LinkID, b: LinkID) {
        join(.node(a), .node(b), conditions)
    }

    /// Both nodes found each other: a link each way, as phones have.
    public func connectBothWays(_ a: Int, _ b: Int, _ conditions: Conditions = Conditions()) {
        connect(a, b, conditions)
        connect(b, a, conditions)
    }

    /// Joins an outsider to a node: the outsider opened the link.
    /// - Returns: the link as the outsider knows it.
    @discardableResult
    public func connect(_ outsider: any Outsider, to node: Int, _ conditions: Conditions = Conditions()) -> LinkID {
        let known = outsiders.firstIndex { $0 === outsider }
        let index = known ?? outsiders.count
        if known == nil { outsiders.append(outsider) }
        return join(.outsider(index), .node(node), conditions).a
    }

    private func join(_ a: Party, _ b: Party, _ conditions: Conditions) -> (a: LinkID, b: LinkID) {
        let ends = (a: LinkID(value: UInt64(channels.count)), b: LinkID(value: UInt64(channels.count + 1)))
        let opened = now.monotonic
        channels.append(
            Channel(from: a, to: b, far: ends.b, conditions: conditions, isOpener: true, free: opened, arrived: opened))
        channels.append(
            Channel(from: b, to: a, far: ends.a, conditions: conditions, isOpener: false, free: opened, arrived: opened)
        )
        linkCount += 1
        for observer in observers { observer.linkUp(ends.a, a: a.node, b: b.node, in: self) }
        begin(ends.a, at: a, with: b, .outgoing, conditions)
        begin(ends.b, at: b, with: a, .incoming, conditions)
        return ends
    }

    private func begin(_ link: LinkID, at party: Party, with other: Party, _ role: LinkRole, _ conditions: Conditions) {
        switch party {
        case .node(let index):
            call(index) { $0.linkUp(link, role: role, frameLimit: conditions.frameLimit, at: $1) }
        case .outsider(let index):
            if let node = other.node { outsiders[index].linkUp(link, to: node, in: self) }
        }
    }

    /// Ends a link, named by either end. Frames under way are lost.
    public func disconnect(_ link: LinkID) {
        guard let channel = channel(link) else { return }
        channels[Int(link.value)] = nil
        channels[Int(channel.far.value)] = nil
        linkCount -= 1
        let (opener, acceptor) =
            channel.isOpener ? (channel.from.node, channel.to.node) : (channel.to.node, channel.from.node)
        let name = channel.isOpener ? link : channel.far
        for observer in observers { observer.linkDown(name, a: opener, b: acceptor, in: self) }
        finish(channel.far, at: channel.to)
        finish(link, at: channel.from)
    }

    private func finish(_ link: LinkID, at party: Party) {
        switch party {
        case .node(let index): call(index) { $0.linkDown(link, at: $1) }
        case .outsider(let index): outsiders[index].linkDown(link, in: self)
        }
    }

    func channel(_ link: LinkID) -> Channel? {
        link.value < UInt64(channels.count) ? channels[Int(link.value)] : nil
    }

    /// Links between nodes by their opener's end, in the order they were made.
    public var openLinks: [(link: LinkID, a: Int, b: Int)] {
        channels.indices.compactMap { index in
            guard let channel = channels[index], channel.isOpener, let a = channel.from.node, let b = channel.to.node
            else { return nil }
            return (LinkID(value: UInt64(index)), a, b)
        }
    }

    /// The links of a node, as it knows them, in the order they were made.
    public func links(of node: Int) -> [LinkID] { nodes[node].mesh.links.map(\.id).sorted() }

    /// Who is at the far end of a link; nil for an outsider, or when the link is gone.
    public func neighbour(on link: LinkID) -> Int? { channel(link)?.to.node }

    // MARK: Frames

    /// Puts a frame on a link.
    public func transmit(_ frame: [UInt8], on link: LinkID) {
        guard var channel = channel(link) else { return }
        let transmission = Transmission(
            at: now.monotonic, from: channel.from.node, to: channel.to.node, link: link, bytes: frame)
        if recordsAir { air.append(transmission) }
        for observer in observers { observer.transmitted(transmission, in: self) }

        let conditions = channel.conditions
        let isLost = conditions.loss > 0 && Double.random(in: 0..<1, using: &random) < conditions.loss
        let bytes = interference == nil ? frame : interference?(transmission)
        let delay = Interval.milliseconds(Int(Int64.random(in: conditions.delay, using: &random)))
        if let rate = conditions.bytesPerSecond {
            let begin = max(channel.free, now.monotonic)
            let waiting = (begin - now.monotonic).seconds * Double(rate)
            guard waiting <= Double(Conditions.backlog) else {
                overflows += 1
                return
            }
            channel.free = begin + .seconds(Double(frame.count) / Double(rate))
            channel.arrived = max(channel.arrived, channel.free + delay)
        } else {
            channel.arrived = max(channel.arrived, now.monotonic + delay)
        }
        channels[Int(link.value)] = channel
        if !isLost, let bytes { heap.add(.arrival(channel: link, bytes: bytes), due: channel.arrived) }
    }

    func deliver(_ bytes: [UInt8], _ channel: Channel) {
        switch channel.to {
        case .node(let index): inject(bytes, into: index, on: channel.far)
        case .outsider(let index): outsiders[index].received(bytes, on: channel.far, in: self)
        }
    }

    /// Hands a frame to a node as if it had come in on a link of its own.
    public func inject(_ bytes: [UInt8], into node: Int, on link: LinkID) {
        call(node) { mesh, now in bytes.withUnsafeBytes { mesh.receive($0, on: link, at: now) } }
    }

    public func clearAir() { air.removeAll() }
}

extension SimulatedMesh {
    /// A line of nodes, each joined to the next by one link, after time enough to have met.
    public static func line(_ count: Int, seed: UInt64 = 1, _ conditions: Conditions = Conditions()) -> SimulatedMesh {
        let mesh = SimulatedMesh(seed: seed)
        for _ in 0..<count { mesh.addNode() }
        for index in 1..<count { mesh.connect(index - 1, index, conditions) }
        mesh.run(for: .seconds(12))
        return mesh
    }

    /// Frames of one type put on the air.
    public func air(_ type: MessageType) -> [Transmission] {
        air.filter { $0.bytes.count > 1 && $0.bytes[1] == type.rawValue }
    }

    public func peer(_ index: Int) -> PeerID { nodes[index].id }
}
