import Basics
import Mesh
import Wire

enum MeshBenchmarks {
    static var all: [Benchmark] { [gateFresh, gateDuplicate] }

    /// A signed, broadcast frame of 200 bytes that does not compress; its timestamp is counted up in place.
    private final class Traffic {
        var frame: [UInt8]
        var gate: PacketGate
        var now: Now
        private var stamp = Samples.wallTime.milliseconds

        init() {
            var random = SeededRandom(seed: 9)
            frame = Samples.signedFrame(.message, payload: random.bytes(114))
            gate = PacketGate(me: PeerID(value: 1), random: &random)
            now = Now(monotonic: .zero, wall: Samples.wallTime)
        }

        /// The same packet one millisecond later: a new one. Arrives 10 ms after the one before, so that tables are
        /// bound by age as well as by count.
        func stampNext() {
            stamp += 1
            now = Now(
                monotonic: now.monotonic + .milliseconds(10), wall: WallTime(milliseconds: stamp))
            for byte in 0..<8 { frame[3 + byte] = UInt8(truncatingIfNeeded: stamp >> UInt64(56 - 8 * byte)) }
        }

        func pass() {
            frame.withUnsafeBytes { bytes in
                guard case .success(let view) = FrameView.parse(bytes),
                    case .fresh(let admission) = gate.examine(view, boundPeer: nil, at: now)
                else { return }
                gate.record(admission, view, .accepted, at: now.monotonic)
                consume(gate.relayDecision(for: view, degree: 4))
            }
        }
    }

    private static var gateFresh: Benchmark {
        Benchmark("mesh-gate", "parse, look for duplicates and decide on relaying a new frame of 200 bytes") {
            let traffic = Traffic()
            return Trial { count in
                for _ in 0..<count {
                    traffic.stampNext()
                    traffic.pass()
                }
            }
        }
    }

    private static var gateDuplicate: Benchmark {
        Benchmark("mesh-duplicate", "recognise a copy of a frame of 200 bytes") {
            let traffic = Traffic()
            traffic.stampNext()
            traffic.pass()
            return Trial { count in
                for _ in 0..<count { traffic.pass() }
            }
        }
    }
}
