import Basics
import Crypto
import Mesh
import Wire

enum MeshBenchmarks {
    static var all: [Benchmark] { [relayDecision, duplicate, relay] + [4, 8, 16].map(crowdedRelay) }

    /// A received frame that is a new packet each time: its timestamp moves with the clock.
    private struct Arrivals {
        private let buffer: UnsafeMutableRawBufferPointer
        private(set) var now = Now(monotonic: .zero, wall: Samples.wallTime)
        let spacing: Interval

        init(_ bytes: [UInt8], spacing: Interval) {
            buffer = .allocate(byteCount: bytes.count, alignment: 8)
            buffer.copyBytes(from: bytes)
            self.spacing = spacing
        }

        mutating func next() -> UnsafeRawBufferPointer {
            now = now.advanced(by: spacing)
            // Bytes 3 to 10 are the timestamp; neither step is below its grain of a millisecond.
            buffer.storeBytes(of: now.wall.milliseconds.bigEndian, toByteOffset: 3, as: UInt64.self)
            return same
        }

        var same: UnsafeRawBufferPointer { UnsafeRawBufferPointer(buffer) }
    }

    private static var relayDecision: Benchmark {
        Benchmark("relay-decision", "received bytes to flood decision: decode, duplicate filters, remember, decide") {
            var random = SeededRandom(seed: 10)
            var gate = PacketGate(me: Samples.identity.peerID, random: &random)
            var arrivals = Arrivals(Samples.foreignNoiseMessage, spacing: .milliseconds(1))
            return Trial(countsAllocations: true) { count in decide(count, &gate, &arrivals) }
        }
    }

    private static var duplicate: Benchmark {
        Benchmark("duplicate", "received bytes to the verdict that the packet is a copy of one seen before") {
            var random = SeededRandom(seed: 10)
            var gate = PacketGate(me: Samples.identity.peerID, random: &random)
            var arrivals = Arrivals(Samples.foreignNoiseMessage, spacing: .milliseconds(1))
            decide(1, &gate, &arrivals)
            return Trial { count in
                for _ in 0..<count {
                    guard case .success(let view) = FrameView.parse(arrivals.same) else { return }
                    consume(gate.examine(view, boundPeer: nil, at: arrivals.now))
                }
            }
        }
    }

    private static func decide(_ count: Int, _ gate: inout PacketGate, _ arrivals: inout Arrivals) {
        let neighbour = PeerID(value: 0xaabb)
        for _ in 0..<count {
            guard case .success(let view) = FrameView.parse(arrivals.next()),
                case .fresh(let admission) = gate.examine(view, boundPeer: neighbour, at: arrivals.now)
            else { return }
            gate.record(admission, view, .accepted, at: arrivals.now.monotonic)
            consume(PacketGate.relayDecision(for: view, degree: 4, me: Samples.identity.peerID))
        }
    }

    private static var relay: Benchmark {
        Benchmark("relay", "a whole node: receive a packet, hold it for its jitter, write it to three other links") {
            var arrivals = Arrivals(Samples.foreignNoiseMessage, spacing: .milliseconds(20))
            let node = nodeWithNeighbours(4, at: arrivals.now)
            return Trial(countsAllocations: true) { count in relay(count, through: node, &arrivals) }
        }
    }

    private static func relay(_ count: Int, through node: MeshNode, _ arrivals: inout Arrivals) {
        for _ in 0..<count {
            let frame = arrivals.next()
            node.receive(frame, on: LinkID(value: 1), at: arrivals.now)
            node.timeout(at: arrivals.now)
            while let effect = node.nextEffect() { consume(effect) }
        }
    }

    /// What a relay costs must grow with the links, and not with the people.
    private static func crowdedRelay(_ links: UInt64) -> Benchmark {
        Benchmark("relay-\(links)-links", "the same on \(links) links, in a mesh of 1,000 people") {
            var arrivals = Arrivals(Samples.foreignNoiseMessage, spacing: .milliseconds(20))
            var random = SeededRandom(seed: 12)
            let node = nodeWithNeighbours(links, at: arrivals.now)
            for person in 0..<(1_000 - links) {
                let announce = Samples.announce(of: .generate(using: &random))
                let link = LinkID(value: 1 + person % links)
                announce.withUnsafeBytes { node.receive($0, on: link, at: arrivals.now) }
                while let effect = node.nextEffect() { consume(effect) }
            }
            return Trial(countsAllocations: true) { count in relay(count, through: node, &arrivals) }
        }
    }

    private static func nodeWithNeighbours(_ count: UInt64, at now: Now) -> MeshNode {
        var random = SeededRandom(seed: 11)
        let node = MeshNode(
            configuration: MeshConfiguration(nickname: "bench"), identity: Samples.identity, random: random)
        node.start(at: now)
        for neighbour in 1...count {
            let link = LinkID(value: neighbour)
            node.linkUp(link, role: .incoming, frameLimit: 512, at: now)
            Samples.announce(of: .generate(using: &random)).withUnsafeBytes { node.receive($0, on: link, at: now) }
        }
        return node
    }
}
