import Mesh
import Wire

/// Frames and bytes put on links, by type.
public final class TrafficCount: SimulationObserver {
    private var frames = [UInt64](repeating: 0, count: 256)
    private var bytes = [UInt64](repeating: 0, count: 256)

    public init() {}

    public func transmitted(_ transmission: SimulatedMesh.Transmission, in mesh: SimulatedMesh) {
        guard transmission.bytes.count > 1 else { return }
        let type = Int(transmission.bytes[1])
        frames[type] += 1
        bytes[type] += UInt64(transmission.bytes.count)
    }

    public func frames(of type: MessageType) -> UInt64 { frames[Int(type.rawValue)] }
    public var frameCount: UInt64 { frames.reduce(0, +) }
    public var byteCount: UInt64 { bytes.reduce(0, +) }

    /// Types that occurred, most frames first.
    public var byType: [(type: MessageType, frames: UInt64, bytes: UInt64)] {
        frames.indices.filter { frames[$0] > 0 }
            .map { (MessageType(rawValue: UInt8($0)), frames[$0], bytes[$0]) }
            .sorted { ($1.frames, $0.type.rawValue) < ($0.frames, $1.type.rawValue) }
    }
}
