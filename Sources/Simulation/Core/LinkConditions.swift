import Basics
import Wire

extension SimulatedMesh {
    /// How one direction of a link behaves. Order on a link is kept, as on the radio.
    public struct Conditions: Sendable {
        /// Milliseconds from one end to the other.
        public var delay: ClosedRange<Int64>
        /// Probability that a frame is lost.
        public var loss: Double
        /// min(ATT MTU − 3, 512).
        public var frameLimit: Int
        /// How fast frames leave; nil when they take no time.
        public var bytesPerSecond: Int?

        public init(
            delay: ClosedRange<Int64> = 2...10, loss: Double = 0, frameLimit: Int = 512, bytesPerSecond: Int? = nil
        ) {
            self.delay = delay
            self.loss = loss
            self.frameLimit = frameLimit
            self.bytesPerSecond = bytesPerSecond
        }

        /// Bytes that wait for a link at most, as the radio's queue has it (chapter 03 A10). The newest frame is lost.
        static let backlog = 1_000_000
    }

    /// A frame as it was put on a link.
    public struct Transmission {
        public internal(set) var at: Instant
        /// The sending node; negative for an outsider.
        public let from: Int
        public let to: Int
        /// The sender's name for the link.
        public let link: LinkID
        public let bytes: [UInt8]
        /// Names what the frame carries; see `FrameHash`.
        let hash: UInt64
    }

    /// One direction of a link, found by the sender's name for it. Ends are nodes, or outsiders counted down from −1.
    struct Channel {
        let from: Int
        let to: Int
        /// The receiver's name for the link.
        let far: LinkID
        var conditions: Conditions
        let isOpener: Bool
        /// When the last frame on it has left the sender, and when it arrives: nothing overtakes.
        var free: Instant
        var arrived: Instant
    }

    /// Frames in line for a link: by priority, and in order within one (chapter 03 A10).
    struct Backlog {
        private var frames: [(bytes: [UInt8], priority: WritePriority)] = []
        private var size = 0

        var isEmpty: Bool { frames.isEmpty }

        /// - Returns: how many frames were dropped for it, from the end of the line.
        mutating func insert(_ bytes: [UInt8], _ priority: WritePriority) -> Int {
            var place = frames.count
            while place > 0, frames[place - 1].priority > priority { place -= 1 }
            frames.insert((bytes, priority), at: place)
            size += bytes.count
            var dropped = 0
            while size > Conditions.backlog, let last = frames.popLast() {
                size -= last.bytes.count
                dropped += 1
            }
            return dropped
        }

        mutating func takeFirst() -> [UInt8]? {
            guard !frames.isEmpty else { return nil }
            let first = frames.removeFirst()
            size -= first.bytes.count
            return first.bytes
        }
    }

    /// No frame is lost any more on the links there are.
    func clearWeather() {
        for index in channels.indices { channels[index]?.conditions.loss = 0 }
    }
}
