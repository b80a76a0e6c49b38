import Basics
import Mesh
import Wire

extension SimulatedMesh {
    // MARK: Joining

    /// Joins two nodes: `a` opened the link.
    /// - Returns: the link as each end knows it.
    @discardableResult
    public func connect(_ a: Int, _ b: Int, _ conditions: Conditions = Conditions()) -> (a: LinkID, b: LinkID) {
        let opened = now.monotonic
        let ends = (a: LinkID(value: UInt64(channels.count)), b: LinkID(value: UInt64(channels.count + 1)))
        channels.append(
            Channel(from: a, to: b, far: ends.b, conditions: conditions, isOpener: true, free: opened, arrived: opened))
        channels.append(
            Channel(from: b, to: a, far: ends.a, conditions: conditions, isOpener: false, free: opened, arrived: opened)
        )
        linkCount += 1
        for observer in observers { observer.linkUp(ends.a, a: a, b: b, in: self) }
        begin(ends.a, at: a, with: b, .outgoing, conditions)
        begin(ends.b, at: b, with: a, .incoming, conditions)
        return ends
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
        if known == nil { outsiders.append(outsider) }
        return connect(-1 - (known ?? outsiders.count - 1), node, conditions).a
    }

    private func outsider(_ end: Int) -> (any Outsider)? { end < 0 ? outsiders[-1 - end] : nil }

    private func begin(_ link: LinkID, at end: Int, with other: Int, _ role: LinkRole, _ conditions: Conditions) {
        if let outsider = outsider(end) {
            outsider.linkUp(link, to: other, in: self)
        } else {
            call(end) { $0.linkUp(link, role: role, frameLimit: conditions.frameLimit, at: $1) }
        }
    }

    /// Ends a link, named by either end. Frames under way are lost.
    public func disconnect(_ link: LinkID) {
        guard let channel = channel(link) else { return }
        channels[Int(link.value)] = nil
        channels[Int(channel.far.value)] = nil
        backlogs[link] = nil
        backlogs[channel.far] = nil
        linkCount -= 1
        let (opener, acceptor) = channel.isOpener ? (channel.from, channel.to) : (channel.to, channel.from)
        let name = channel.isOpener ? link : channel.far
        for observer in observers { observer.linkDown(name, a: opener, b: acceptor, in: self) }
        finish(channel.far, at: channel.to)
        finish(link, at: channel.from)
    }

    private func finish(_ link: LinkID, at end: Int) {
        if let outsider = outsider(end) {
            outsider.linkDown(link, in: self)
        } else {
            call(end) { $0.linkDown(link, at: $1) }
        }
    }

    func channel(_ link: LinkID) -> Channel? {
        link.value < UInt64(channels.count) ? channels[Int(link.value)] : nil
    }

    /// Links by their opener's end, in the order they were made.
    public var openLinks: [(link: LinkID, a: Int, b: Int)] {
        channels.indices.compactMap { index in
            guard let channel = channels[index], channel.isOpener else { return nil }
            return (LinkID(value: UInt64(index)), channel.from, channel.to)
        }
    }

    /// The links of a node, as it knows them, in the order they were made.
    public func links(of node: Int) -> [LinkID] { nodes[node].mesh.links.map(\.id).sorted() }

    /// Who is at the far end of a link; nil when the link is gone.
    public func neighbour(on link: LinkID) -> Int? { channel(link)?.to }

    // MARK: Frames

    /// Puts a frame on a link, or in line for it.
    public func transmit(_ frame: [UInt8], on link: LinkID, priority: WritePriority = .high) {
        guard let channel = channel(link) else { return }
        let transmission = Transmission(
            at: now.monotonic, from: channel.from, to: channel.to, link: link, bytes: frame,
            hash: latestFrame.hash(of: frame))
        if recordsAir { air.append(transmission) }
        for observer in airObservers { observer.transmitted(transmission, in: self) }
        guard let bytes = interference == nil ? frame : interference?(transmission) else { return }
        if priority > .high, channel.free > now.monotonic || backlogs[link] != nil {
            wait(bytes, priority, for: link, channel)
        } else {
            launch(bytes, on: link, channel)
        }
    }

    private func launch(_ bytes: [UInt8], on link: LinkID, _ channel: Channel) {
        var channel = channel
        let conditions = channel.conditions
        let isLost = conditions.loss > 0 && Double.random(in: 0..<1, using: &random) < conditions.loss
        let delay = Interval.milliseconds(Int(Int64.random(in: conditions.delay, using: &random)))
        if let rate = conditions.bytesPerSecond {
            let begin = max(channel.free, now.monotonic)
            let waiting = (begin - now.monotonic).seconds * Double(rate)
            guard waiting <= Double(Conditions.backlog) else {
                overflows += 1
                return
            }
            channel.free = begin + .seconds(Double(bytes.count) / Double(rate))
            channel.arrived = max(channel.arrived, channel.free + delay)
        } else {
            channel.arrived = max(channel.arrived, now.monotonic + delay)
        }
        channels[Int(link.value)] = channel
        if !isLost { heap.add(.arrival(channel: link, bytes: bytes), due: channel.arrived) }
    }

    /// What may go first goes at once, behind what went before. The rest waits until the link is free.
    private func wait(_ bytes: [UInt8], _ priority: WritePriority, for link: LinkID, _ channel: Channel) {
        if backlogs[link] == nil { heap.add(.free(link), due: channel.free) }
        overflows += UInt64(backlogs[link, default: Backlog()].insert(bytes, priority))
    }

    /// The moment has come at which a link was to be free.
    func freed(_ link: LinkID) {
        guard let channel = channel(link), backlogs[link] != nil else { return }
        if channel.free <= now.monotonic, let bytes = backlogs[link]?.takeFirst() {
            launch(bytes, on: link, channel)
            if backlogs[link]?.isEmpty ?? true { backlogs[link] = nil }
        }
        if backlogs[link] != nil { heap.add(.free(link), due: channels[Int(link.value)]?.free ?? now.monotonic) }
    }

    func deliver(_ bytes: [UInt8], _ channel: Channel) {
        if let outsider = outsider(channel.to) {
            outsider.received(bytes, on: channel.far, in: self)
        } else {
            inject(bytes, into: channel.to, on: channel.far)
        }
    }

    /// Hands a frame to a node as if it had come in on a link of its own.
    public func inject(_ bytes: [UInt8], into node: Int, on link: LinkID) {
        let node = nodes[node]
        bytes.withUnsafeBytes { node.mesh.receive($0, on: link, at: node.clock(now)) }
        settle(node)
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
