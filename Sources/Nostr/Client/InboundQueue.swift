import Basics

/// Undecoded frames of one relay in arrival order, bounded by number and bytes.
struct InboundQueue {
    private var frames = Queue<[UInt8]>()
    private var bytes = 0
    private(set) var isReadingStopped = false

    var isEmpty: Bool { frames.isEmpty }
    var first: [UInt8]? { frames.first }

    /// Adds a frame; returns how many old ones were shed for it.
    mutating func append(_ frame: [UInt8]) -> Int {
        frames.append(frame)
        bytes += frame.count
        var shed = 0
        while frames.count > NostrLimits.inboundFramesHard || bytes > NostrLimits.inboundBytesHard {
            guard removeFirst() else { break }
            shed += 1
        }
        return shed
    }

    @discardableResult
    mutating func removeFirst() -> Bool {
        guard let frame = frames.popFirst() else { return false }
        bytes -= frame.count
        return true
    }

    /// Whether reading must now be switched; nil when it stays as it is. Off above the limit, on again below half of
    /// it, so that it does not flutter.
    mutating func readingChange() -> Bool? {
        if !isReadingStopped, frames.count > NostrLimits.inboundFrames || bytes > NostrLimits.inboundBytes {
            isReadingStopped = true
            return false
        }
        if isReadingStopped, frames.count <= NostrLimits.inboundFrames / 2, bytes <= NostrLimits.inboundBytes / 2 {
            isReadingStopped = false
            return true
        }
        return nil
    }
}
