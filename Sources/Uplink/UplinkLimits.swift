import Basics

/// Every bound of the outbound network. Those that name no chapter and no RFC are ours: generous for real servers, and
/// small enough that sixty connections fit a board with 512 MB.
public enum UplinkLimits {
    /// Largest message taken from a server, all fragments together (chapter 05 §1.1, §6.10).
    public static let messageBytes = 524_288
    /// Frames of one message.
    static let messageFragments = 1_024
    /// Messages and bytes waiting to be sent; more are refused to the caller.
    public static let sendQueueBytes = 1_048_576
    public static let sendQueueMessages = 512
    /// Control frames (answers to pings, above all) that may wait before reading stops.
    static let queuedControlFrames = 16
    /// Largest response header.
    static let headerBytes = 16_384
    static let headerFields = 100
    /// Answers of class 1xx before the one that counts.
    static let interimHeads = 4
    /// One line between the chunks of a body, and all of them together.
    static let chunkLineBytes = 256
    static let chunkOverhead = 65_536
    static let addressBytes = 2_048
    /// RFC 1035 §2.3.4.
    static let hostBytes = 253
    /// RFC 6455 §5.5.
    static let controlPayloadBytes = 125
    /// One read from the transport.
    static let readChunk = 16_384
    /// Reads handled in one turn of the loop.
    static let readsPerTurn = 4
    /// Messages, pongs and the like delivered in one turn: a read can hold eight thousand empty ones.
    static let eventsPerTurn = 256

    /// Encrypted bytes of one connection worked on in one turn: at worst three thousand records of one byte each.
    static let tlsBytesPerTurn = 65_536
    /// What may wait to be sent before a connection is no longer read from.
    static let tlsUnsentBytes = 65_536
    /// Authorities between a server and a trusted one.
    static let certificateDepth: Int32 = 8
    /// Names of a wrong certificate looked at, and those shown.
    static let certificateNames: Int32 = 100
    static let shownNames = 3

    /// Chapter 05 §15.2: connecting to the proxy; its greeting and authentication; its answer to CONNECT, which takes
    /// longer for an onion service. TLS and upgrade together have 45 s there.
    static let proxyTimeout = Interval.seconds(5)
    static let greetingTimeout = Interval.seconds(10)
    static let proxiedConnectTimeout = Interval.seconds(90)
    static let onionConnectTimeout = Interval.seconds(120)
    /// Direct mode: looking a name up, connecting to one of its addresses, and how many of them are tried.
    static let resolveTimeout = Interval.seconds(15)
    static let directTimeout = Interval.seconds(10)
    static let addresses = 4
    static let tlsTimeout = Interval.seconds(30)
    static let upgradeTimeout = Interval.seconds(15)
    /// All of it up to the upgrade, whatever the parts do.
    static let connectTimeout = Interval.seconds(170)
    /// For the server's part of closing.
    static let closeTimeout = Interval.seconds(5)
}
