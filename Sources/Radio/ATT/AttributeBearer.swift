import Basics
import Wire

/// ATT on one connection: our server and, on connections we opened, our client, side by side on one channel (chapter 03
/// A13.4, A13.5). Neither waits for the other.
///
/// The owner of the socket passes in what it receives and what time it is, and after each call takes effects with
/// `nextEffect()` until there are none.
public final class AttributeBearer {
    public let role: LinkRole
    /// What was ignored or refused so far.
    public private(set) var counters = Tally<BearerDrop>()
    /// The newest MTU agreed on in either direction.
    public private(set) var mtu = 23
    /// The largest frame the link carries now: min(MTU − 3, 512).
    public var frameLimit: Int { min(mtu - 3, 512) }
    /// Whether `up` was given out, and no `down` since.
    public private(set) var isUp = false
    /// Whether the peer listens to our notifications now, and whether it ever did.
    public private(set) var isSubscribed = false
    public private(set) var wasSubscribed = false
    /// When the last valid frame came in; nil if none did (chapter 03 A13.6).
    public private(set) var lastFrame: Instant?

    private var effects = Queue<BearerEffect>()

    /// - Parameter service: what we serve and, as central, look for.
    public init(role: LinkRole, service: BluetoothUUID = .meshService, at now: Instant) { self.role = role }

    /// Begins set-up on an outgoing connection, and the time limits of either kind. Once, when connected.
    public func start(at now: Instant) {}

    /// Takes one PDU in, whole, as one read of the socket gave it; longer than the MTU is accepted.
    public func receive(_ pdu: UnsafeRawBufferPointer, at now: Instant) {}

    /// When to call `timeout(at:)`; changes with every call.
    public var nextDeadline: Instant? { nil }
    public func timeout(at now: Instant) {}

    public func nextEffect() -> BearerEffect? { effects.popFirst() }

    /// Whether a frame of this many bytes can leave.
    public func fit(_ length: Int) -> FrameFit { .nobodyListens }

    /// The PDU that carries a frame: a write command, a write request, or a notification. Nil unless it fits now; once
    /// made it must be sent, since a write request is waited for.
    public func pdu(for frame: [UInt8], at now: Instant) -> [UInt8]? { nil }
}
