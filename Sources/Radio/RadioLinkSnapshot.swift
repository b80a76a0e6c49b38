import Basics
import Wire

/// One link as `status` shows it: what was observed, not what was intended.
public struct RadioLinkSnapshot: Equatable, Sendable {
    public let link: LinkID
    public let role: LinkRole
    /// The neighbour's name on the air, which proves nothing about who it is.
    public let remoteName: String
    /// Largest frame the link carries: min(ATT MTU − 3, 512).
    public let frameLimit: Int
    /// When the link came up.
    public let since: Instant
    public let lastReceived: Instant?
    public let lastSent: Instant?
    public let queuedFrames: Int
    public let queuedBytes: Int
}

/// Hands out link IDs. One source serves every radio of a process, so that no ID is used twice (chapter 03 A6).
public final class LinkIDSource {
    private var last: UInt64 = 0

    public init() {}

    public func next() -> LinkID {
        last += 1
        return LinkID(value: last)
    }
}

/// Why the air dropped a value, refused a link or ended one.
public enum AirDrop: String, CaseIterable, Sendable {
    /// A message longer than the link's MTU allows.
    case valueTooLong = "value_too_long"
    /// A message of no bytes.
    case valueEmpty = "value_empty"
    /// A frame of ours that the link cannot carry whole.
    case frameTooLong = "frame_too_long"
    /// Trimmed from a full outbound queue.
    case queueOverflow = "queue_overflow"
    /// Lost by the configured impairment.
    case impairedLoss = "impaired_loss"
    /// A greeting that is none.
    case badHello = "bad_hello"
    case helloTimeout = "hello_timeout"
    /// A neighbour the range file does not let us hear.
    case outOfRange = "out_of_range"
    /// An incoming link when every slot was taken.
    case noFreeLink = "no_free_link"
    /// A connection attempt that failed at once.
    case connectFailed = "connect_failed"
    /// Socket files removed because nobody answered on them.
    case staleSocket = "stale_socket"
    /// Notifications that make no frame: stray bytes, and partial frames given up (chapter 03 A8.2).
    case undecodableStream = "undecodable_stream"
}
